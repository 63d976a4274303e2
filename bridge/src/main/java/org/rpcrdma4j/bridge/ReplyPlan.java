// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.bridge;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.ReplyReader;
import org.rpcrdma4j.transport.rpc.RpcException;
import org.rpcrdma4j.transport.server.ReplyPieces;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.ulb.ItemSink;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;

/**
 * Puts a reply together again for its way on: the message's bytes as data, the eligible results as items, one of which may lie in the target
 * of the call. One for each reply.
 */
final class ReplyPlan implements ItemSink {

    private final MemorySegment message;
    private final long placedBytes;
    private final @Nullable MemorySegment target;
    private final ReplyPieces pieces = new ReplyPieces();
    /** How far the message is in the pieces. */
    private long done;
    /** How many bytes of the stream the message lacks before what is being looked at. */
    private long absent;

    private boolean isPlacedFound;

    private ReplyPlan(Reply reply, @Nullable MemorySegment target) {
        message = reply.message();
        placedBytes = reply.placedBytes();
        this.target = target;
    }

    /**
     * The pieces of a reply.
     *
     * @param target where the call had its result placed
     * @return null if the reply does not fit what was placed, or is no whole message
     */
    static @Nullable ReplyPieces of(CallHeader call, Reply reply, @Nullable MemorySegment target, Bindings bindings) {
        ReplyPlan plan = new ReplyPlan(reply, target);
        try {
            XdrReader reader = new XdrReader(plan.message);
            ReplyReader.readHeader(reader, call.xid());
            bindings.find(call).resultItems(call, reader, plan);
        } catch (RpcException | XdrException e) {
            // An error, or results that the binding can't read: passed on as they are.
        }
        return plan.end();
    }

    private @Nullable ReplyPieces end() {
        boolean isWhole = (message.byteSize() & 3) == 0 && isPlacedFound == (placedBytes > 0);
        pieces.data(message.asSlice(done));
        return isWhole ? pieces : null;
    }

    @Override
    public boolean item(long position, long length) {
        long at = position - absent;
        MemorySegment placedIn = target;
        if (length > 0 && length == placedBytes && !isPlacedFound && placedIn != null) {
            isPlacedFound = true;
            pieces.data(message.asSlice(done, at - done)).item(placedIn.asSlice(0, length));
            done = at;
            absent += XdrReader.padded(length);
            return true;
        }
        if (at + XdrReader.padded(length) <= message.byteSize()) {
            pieces.data(message.asSlice(done, at - done)).item(message.asSlice(at, length));
            done = at + XdrReader.padded(length);
        }
        return false;
    }

    /** The whole stream of a reply as a list, pads put in. */
    static void stream(ReplyPieces reply, List<MemorySegment> into) {
        int next;
        for (int i = 0; i < reply.size(); i = next) {
            next = reply.end(i);
            for (int part = i; part < next; part++) {
                into.add(reply.piece(part));
            }
            long length = reply.bytes(i, next);
            int pad = reply.isItem(i) ? (int) (XdrReader.padded(length) - length) : 0;
            if (pad > 0) {
                into.add(MemorySegment.ofArray(new byte[pad]));
            }
        }
    }
}
