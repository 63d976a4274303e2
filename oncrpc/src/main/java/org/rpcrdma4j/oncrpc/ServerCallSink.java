// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.Executor;
import org.dcache.oncrpc4j.rpc.RpcTransport;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.server.ReplyPieces;
import org.rpcrdma4j.transport.server.ServerRequest;

/** A call that came to the server. */
record ServerCallSink(
        ServerRequest request, List<MemorySegment> message, InetSocketAddress localAddress, Executor callbacks)
        implements CallSink {

    @Override
    public void reply(ReplyPieces pieces) {
        request.reply(pieces);
    }

    @Override
    public void replyError(ReplyHeader header) {
        request.replyError(header);
    }

    @Override
    public void refuse() {
        request.refuse();
    }

    @Override
    public boolean isAnswered() {
        return request.isAnswered();
    }

    @Override
    public @Nullable MemorySegment allocate(int bytes) {
        try {
            return request.allocate(bytes);
        } catch (IllegalStateException | IllegalArgumentException e) {
            // Used up, too large, or the call is answered or its connection gone: the result stays in the stream.
            return null;
        }
    }

    @Override
    public boolean takesResults() {
        return !request.isAnswered() && request.writeChunkBytes() > 0;
    }

    @Override
    public boolean isOfCall(MemorySegment bytes) {
        long begin = bytes.address();
        long end = begin + bytes.byteSize();
        for (MemorySegment piece : message) {
            if (piece.isNative() && begin < piece.address() + piece.byteSize() && piece.address() < end) {
                return true;
            }
        }
        return false;
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return request.remoteAddress();
    }

    @Override
    public RpcTransport peer() {
        return new PeerTransport(request.reverse(), localAddress, request.remoteAddress(), callbacks);
    }
}
