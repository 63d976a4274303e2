// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.dcache.oncrpc4j.rpc.RpcTransport;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.client.ReverseCall;
import org.rpcrdma4j.transport.rpc.AcceptStatus;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.server.ReplyPieces;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** A call that the server has made to the client. RFC 8167, Section 5.3: no chunks, so nothing is kept apart. */
record ReverseCallSink(ReverseCall call, RpcTransport forward, AtomicBoolean answered) implements CallSink {

    @Override
    public void reply(ReplyPieces pieces) {
        if (pieces.streamBytes() > call.maxReplyBytes()) {
            // The server is told something, rather than nothing.
            replyError(ReplyHeader.of(call.xid(), AcceptStatus.SYSTEM_ERR));
            throw new IllegalArgumentException(
                    "reply of " + pieces.streamBytes() + " bytes, room is for " + call.maxReplyBytes());
        }
        List<MemorySegment> all = new ArrayList<>();
        for (int i = 0; i < pieces.size(); i++) {
            all.add(pieces.piece(i));
        }
        answer(MessagePieces.join(all));
    }

    private void answer(MemorySegment message) {
        call.reply(message);
        answered.set(true);
    }

    @Override
    public void replyError(ReplyHeader header) {
        XdrWriter out = new XdrWriter();
        header.encode(out);
        answer(MemorySegment.ofArray(out.toByteArray()));
    }

    @Override
    public void refuse() {
        // It has begun with an XID, or it would not have come this far; GARBAGE_ARGS frees the server's credit.
        replyError(ReplyHeader.of(call.xid(), AcceptStatus.GARBAGE_ARGS));
    }

    @Override
    public boolean isAnswered() {
        return answered.get();
    }

    @Override
    public @Nullable MemorySegment allocate(int bytes) {
        return null;
    }

    @Override
    public boolean takesResults() {
        return false;
    }

    @Override
    public boolean isOfCall(MemorySegment bytes) {
        return true;
    }

    @Override
    public InetSocketAddress localAddress() {
        return forward.getLocalSocketAddress();
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return forward.getRemoteSocketAddress();
    }

    @Override
    public RpcTransport peer() {
        return forward;
    }
}
