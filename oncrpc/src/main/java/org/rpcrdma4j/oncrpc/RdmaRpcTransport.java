// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.channels.CompletionHandler;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.dcache.oncrpc4j.rpc.ReplyQueue;
import org.dcache.oncrpc4j.rpc.RpcAuthException;
import org.dcache.oncrpc4j.rpc.RpcTransport;
import org.dcache.oncrpc4j.xdr.Xdr;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.client.PendingReply;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.client.RpcRdmaClient;
import org.rpcrdma4j.transport.ulb.Bindings;

/**
 * oncrpc4j's transport over one RDMA connection, at the client. Made by {@link RdmaOncRpcClient#connect()}.
 *
 * <p>States: OPEN, then, when the connection ends for whatever reason, ENDED for good: calls without reply fail with {@code EOFException} and so
 * do new ones. A transport that {@linkplain RdmaOncRpcClient.Builder#reconnect reconnects} stays OPEN until it is closed.
 *
 * <p><b>Ownership.</b> The memory of a call, and a target named by {@link PlacedArguments}, is the transport's until the caller is told of the
 * call's end; by then it is shut to the server. That holds for calls that are given up too: {@code get} with a limit, {@code cancel(true)}
 * and an interrupt return when the memory is shut. {@code cancel} of a call that was made with a timeout tells nobody (oncrpc4j), so such
 * a call keeps its memory until its reply or its timeout.
 *
 * <p>Any thread may call any method. Callbacks are told, and so results decoded, on the client's executor, never on a thread of the device.
 */
public final class RdmaRpcTransport implements RpcTransport {

    private final RpcRdmaClient client;
    private final Bindings bindings;
    private final CallEncoder encoder;
    private final ReplyMemory memory;
    private final RdmaReplyQueue queue;
    private final Executor executor;
    private final InetSocketAddress localAddress;
    private final long callTimeoutNanos;
    private volatile @Nullable String ended;

    RdmaRpcTransport(
            RpcRdmaClient client,
            Bindings bindings,
            ReplyMemory memory,
            RdmaReplyQueue queue,
            Executor executor,
            InetSocketAddress localAddress) {
        this.client = client;
        this.bindings = bindings;
        this.memory = memory;
        this.queue = queue;
        this.executor = executor;
        this.localAddress = localAddress;
        callTimeoutNanos = TimeUnit.NANOSECONDS.convert(client.options().callTimeout());
        encoder = new CallEncoder(bindings, client.options().maxPayloadBytes(), memory);
    }

    /**
     * Sends a call: never throws, and never waits. The handler is told, on the calling thread, that the call is on its way, or why it is not.
     */
    @Override
    public <A> void send(Xdr xdr, A attachment, CompletionHandler<Integer, ? super A> handler) {
        PendingCall call = null;
        int bytes;
        try {
            PlacedArguments placed = PlacedArguments.takeOf(xdr);
            call = queue.find(xdr.asBuffer().getInt(xdr.asBuffer().position()));
            bytes = transmit(xdr, placed, call);
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
            if (call != null) {
                queue.ended(call);
            }
            handler.failed(e, attachment);
            return;
        }
        handler.completed(bytes, attachment);
    }

    private int transmit(Xdr xdr, @Nullable PlacedArguments placed, @Nullable PendingCall call) throws IOException {
        String end = ended;
        if (end != null) {
            throw new EOFException("the connection has ended: " + end);
        }
        long timeout = call == null ? 0 : call.timeoutNanos();
        CallEncoder.Encoded encoded = encoder.encode(xdr, placed, timeout > callTimeoutNanos ? timeout : 0);
        PendingReply pending;
        try {
            pending = client.send(encoded.message());
        } catch (RuntimeException e) {
            giveBack(encoded);
            throw e;
        }
        if (call != null) {
            call.sent(pending);
        }
        if (timeout > 0) {
            // A caller that does not wait any more gives up its call. Of the connection that says nothing, unless it
            // is silent for as long as calls without a timeout are given: that is the client's own deadline.
            var _ = pending.orTimeout(timeout, TimeUnit.NANOSECONDS);
        }
        var _ = pending.whenComplete((reply, failure) -> onEnd(encoded, placed, call, reply, failure));
        return Math.toIntExact(encoded.message().totalBytes());
    }

    private void giveBack(CallEncoder.Encoded encoded) {
        MemorySegment pooled = encoded.pooled();
        if (pooled != null) {
            memory.giveBack(pooled);
        }
    }

    /** On a thread of the client: the call's memory is shut. */
    private void onEnd(
            CallEncoder.Encoded encoded,
            @Nullable PlacedArguments placed,
            @Nullable PendingCall call,
            @Nullable Reply reply,
            @Nullable Throwable failure) {
        if (call == null || !queue.take(call)) {
            // Nobody waits for it.
            giveBack(encoded);
            if (call != null) {
                queue.ended(call);
            }
            return;
        }
        queue.ended(call);
        Runnable end = reply == null
                ? () -> {
                    giveBack(encoded);
                    Throwable cause = failure == null ? new IllegalStateException("no reply") : failure;
                    call.failed(ReplyDelivery.failureOf(cause, call), this);
                }
                : () -> deliver(encoded, placed, call, reply);
        try {
            executor.execute(end);
        } catch (RejectedExecutionException e) {
            // The client is closed meanwhile, and its caller still has to be told.
            Thread.startVirtualThread(end);
        }
    }

    private void deliver(CallEncoder.Encoded encoded, @Nullable PlacedArguments placed, PendingCall call, Reply reply) {
        MemorySegment pooled = encoded.pooled();
        ReplyLease lease = placed == null ? null : placed.lease();
        ReceivedXdr message;
        try {
            boolean isBorrowed = pooled != null && lease == null;
            message = ReplyDelivery.unreduced(reply, encoded.header(), encoded.target(), bindings, isBorrowed);
        } catch (IOException | RuntimeException e) {
            giveBack(encoded);
            call.failed(e, this);
            return;
        }
        if (placed != null) {
            placed.placed(reply.placedBytes());
        }
        if (pooled == null || reply.placedBytes() == 0) {
            giveBack(encoded);
            ReplyDelivery.deliver(message, call, this);
        } else if (lease != null) {
            lease.hold(() -> memory.giveBack(pooled));
            ReplyDelivery.deliver(message, call, this);
        } else {
            ReplyDelivery.deliver(message, call, this);
            if (message.isBorrowedDecoded()) {
                memory.giveBack(pooled);
            } else {
                // The callback may have kept the reply, to decode it later: then the memory is its.
                memory.letGo();
            }
        }
    }

    /** The connection has ended, or the client was closed; no memory of a call is open any more. */
    void end(String detail) {
        if (ended == null) {
            ended = detail;
        }
        queue.handleDisconnect(localAddress);
        queue.shutdown();
    }

    @Override
    public ReplyQueue getReplyQueue() {
        return queue;
    }

    @Override
    public boolean isOpen() {
        return ended == null;
    }

    @Override
    public InetSocketAddress getLocalSocketAddress() {
        return localAddress;
    }

    @Override
    public InetSocketAddress getRemoteSocketAddress() {
        return client.remoteAddress();
    }

    /** Not for sending: what the server asks of this client goes to the programs that the client was given. */
    @Override
    public RpcTransport getPeerTransport() {
        return new PeerTransport(null, localAddress, client.remoteAddress(), executor);
    }

    @Override
    public void startTLS() throws RpcAuthException {
        throw ReplyingTransport.noTls();
    }

    @Override
    public boolean isTLS() {
        return false;
    }

    /** The client under it, with its counters and gauges. */
    public RpcRdmaClient client() {
        return client;
    }

    /** Calls whose memory may be open to the server, or that are being sent. */
    public int openCalls() {
        return queue.openCalls();
    }

    @Override
    public String toString() {
        String end = ended;
        return getRemoteSocketAddress() + " <=> " + localAddress + " (RDMA"
                + (end == null ? ")" : ", ended: " + end + ")");
    }
}
