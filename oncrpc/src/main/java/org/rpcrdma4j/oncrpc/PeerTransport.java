// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.channels.CompletionHandler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import org.dcache.oncrpc4j.rpc.ReplyQueue;
import org.dcache.oncrpc4j.rpc.RpcAuthException;
import org.dcache.oncrpc4j.rpc.RpcTransport;
import org.dcache.oncrpc4j.xdr.Xdr;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.server.ReverseCallException;
import org.rpcrdma4j.transport.server.ReverseClient;

/**
 * The opposite direction of a connection: at a server, calls to the client (RFC 8167); at a client there is nothing to send, and it says so.
 *
 * <p>A program that asks for it knows that its client takes calls: that is what RFC 8167, Section 6 leaves to the program. Calls and replies have
 * to fit inline.
 */
final class PeerTransport implements RpcTransport {

    private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(60);

    private final @Nullable ReverseClient reverse;
    private final InetSocketAddress localAddress;
    private final InetSocketAddress remoteAddress;
    private final Executor executor;
    private final RdmaReplyQueue queue;
    private volatile boolean isConnectionGone;

    PeerTransport(
            @Nullable ReverseClient reverse,
            InetSocketAddress localAddress,
            InetSocketAddress remoteAddress,
            Executor executor) {
        this.reverse = reverse;
        this.localAddress = localAddress;
        this.remoteAddress = remoteAddress;
        this.executor = executor;
        queue = new RdmaReplyQueue(executor, DEFAULT_TIMEOUT.toNanos());
    }

    @Override
    public <A> void send(Xdr xdr, A attachment, CompletionHandler<Integer, ? super A> handler) {
        ReverseClient to = reverse;
        if (to == null) {
            handler.failed(
                    new IOException("a client cannot call over the peer transport: the server calls, and the programs"
                            + " given to the client answer"),
                    attachment);
            return;
        }
        PendingCall call = null;
        int bytes;
        try {
            MessagePieces pieces = MessagePieces.of(xdr.asBuffer());
            bytes = (int) pieces.bytes();
            call = queue.find(xdr.asBuffer().getInt(xdr.asBuffer().position()));
            transmit(to, pieces.joined(0, bytes), call);
        } catch (RuntimeException e) {
            if (call != null) {
                queue.ended(call);
            }
            handler.failed(e, attachment);
            return;
        }
        handler.completed(bytes, attachment);
    }

    private void transmit(ReverseClient to, MemorySegment message, @Nullable PendingCall call) {
        to.enable();
        long nanos = call == null ? 0 : call.timeoutNanos();
        CompletableFuture<MemorySegment> pending =
                to.call(message, nanos == 0 ? DEFAULT_TIMEOUT : Duration.ofNanos(nanos));
        if (call == null) {
            return;
        }
        call.sent(pending);
        var _ = pending.whenCompleteAsync((reply, failure) -> onEnd(call, reply, failure), executor);
    }

    private void onEnd(PendingCall call, @Nullable MemorySegment reply, @Nullable Throwable failure) {
        boolean isWaitedFor = queue.take(call);
        queue.ended(call);
        if (!isWaitedFor) {
            return;
        }
        if (reply == null) {
            call.failed(failureOf(failure == null ? new IOException("no reply") : failure, call), this);
        } else {
            ReplyDelivery.deliver(new ReceivedXdr(List.of(reply)), call, this);
        }
    }

    private Throwable failureOf(Throwable failure, PendingCall call) {
        if (!(failure instanceof ReverseCallException end)) {
            return ReplyDelivery.failureOf(failure, call);
        }
        if (end.kind() == ReverseCallException.Kind.TIMED_OUT && call.timeoutNanos() > 0) {
            TimeoutException timedOut = call.timedOut();
            timedOut.addSuppressed(end);
            return timedOut;
        }
        isConnectionGone |= end.kind() == ReverseCallException.Kind.CONNECTION_LOST;
        return end;
    }

    @Override
    public ReplyQueue getReplyQueue() {
        return queue;
    }

    @Override
    public boolean isOpen() {
        return reverse != null && !isConnectionGone;
    }

    @Override
    public InetSocketAddress getLocalSocketAddress() {
        return localAddress;
    }

    @Override
    public InetSocketAddress getRemoteSocketAddress() {
        return remoteAddress;
    }

    @Override
    public RpcTransport getPeerTransport() {
        return this;
    }

    @Override
    public void startTLS() throws RpcAuthException {
        throw ReplyingTransport.noTls();
    }

    @Override
    public boolean isTLS() {
        return false;
    }

    @Override
    public String toString() {
        return remoteAddress + " <=> " + localAddress + " (RDMA, reverse)";
    }
}
