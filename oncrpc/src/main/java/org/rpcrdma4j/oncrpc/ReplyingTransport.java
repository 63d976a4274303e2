// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.channels.CompletionHandler;
import java.util.concurrent.Executor;
import org.dcache.oncrpc4j.rpc.ReplyQueue;
import org.dcache.oncrpc4j.rpc.RpcAuthError;
import org.dcache.oncrpc4j.rpc.RpcAuthException;
import org.dcache.oncrpc4j.rpc.RpcAuthStat;
import org.dcache.oncrpc4j.rpc.RpcTransport;
import org.dcache.oncrpc4j.xdr.Xdr;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.server.ReplyPieces;

/**
 * The transport of one received call: takes its reply. Programs see it as {@code RpcCall.getTransport()}.
 *
 * <p>{@link #send} never throws and never waits. Its handler is told when the reply's memory is the program's again: at once if nothing of it was
 * lent, else when the reply is on its way.
 */
final class ReplyingTransport implements RpcTransport {

    private final CallSink sink;
    private final Executor executor;
    private final ReplyQueue noCalls;
    private final Counters<ServiceCounter> counters;

    ReplyingTransport(CallSink sink, Executor executor, ReplyQueue noCalls, Counters<ServiceCounter> counters) {
        this.sink = sink;
        this.executor = executor;
        this.noCalls = noCalls;
        this.counters = counters;
    }

    @Override
    public <A> void send(Xdr xdr, A attachment, CompletionHandler<Integer, ? super A> handler) {
        int bytes;
        boolean isLent;
        try {
            ReplyPieces reply;
            if (xdr instanceof RequestXdr own) {
                own.sent();
                reply = own.toReply();
                isLent = own.refersToMemoryOfProgram();
            } else {
                reply = new ReplyPieces();
                for (MemorySegment piece : MessagePieces.of(xdr.asBuffer()).pieces()) {
                    reply.data(piece);
                }
                isLent = false;
            }
            bytes = (int) reply.streamBytes();
            if (isLent) {
                reply.whenReleased(() -> executor.execute(() -> handler.completed(bytes, attachment)));
            }
            answer(reply);
        } catch (RuntimeException | OutOfMemoryError e) {
            handler.failed(e, attachment);
            return;
        }
        if (!isLent) {
            handler.completed(bytes, attachment);
        }
    }

    private void answer(ReplyPieces reply) {
        if (sink.isAnswered()) {
            counters.increment(ServiceCounter.SECOND_REPLIES);
            throw new IllegalStateException("the call was answered already");
        }
        sink.reply(reply);
    }

    /** Calls to the caller go over {@link #getPeerTransport}; so nothing is registered here. */
    @Override
    public ReplyQueue getReplyQueue() {
        return noCalls;
    }

    @Override
    public boolean isOpen() {
        return true;
    }

    @Override
    public InetSocketAddress getLocalSocketAddress() {
        return sink.localAddress();
    }

    @Override
    public InetSocketAddress getRemoteSocketAddress() {
        return sink.remoteAddress();
    }

    @Override
    public RpcTransport getPeerTransport() {
        return sink.peer();
    }

    @Override
    public void startTLS() throws RpcAuthException {
        throw noTls();
    }

    /** The answer to whoever asks for TLS. */
    static RpcAuthException noTls() {
        return new RpcAuthException("TLS is not available over RDMA", new RpcAuthError(RpcAuthStat.AUTH_FAILED));
    }

    @Override
    public boolean isTLS() {
        return false;
    }

    @Override
    public String toString() {
        return getRemoteSocketAddress() + " <=> " + getLocalSocketAddress() + " (RDMA)";
    }
}
