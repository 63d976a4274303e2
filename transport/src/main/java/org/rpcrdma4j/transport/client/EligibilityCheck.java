// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.ReplyReader;
import org.rpcrdma4j.transport.rpc.RpcException;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.ulb.ItemSink;
import org.rpcrdma4j.transport.ulb.UpperLayerBinding;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;

/**
 * Holds what a caller marks, and what a server places, against the program's upper-layer binding. Without state of its own; used outside the
 * monitor.
 */
final class EligibilityCheck {

    private static final int PAD_MASK = 3;

    private final Bindings bindings;

    EligibilityCheck(Bindings bindings) {
        this.bindings = bindings;
    }

    /**
     * RFC 8166, Section 6.1: a Requester reduces nothing that is not eligible.
     *
     * @throws IllegalArgumentException if the item, or the target, is for something that is not
     */
    void requireEligible(CallMessage message) {
        if (message.itemBytes() == 0 && message.target() == null) {
            return;
        }
        List<MemorySegment> pieces = new ArrayList<>();
        pieces.add(message.head());
        pieces.addAll(message.item());
        pieces.add(MemorySegment.ofArray(new byte[(int) (-message.itemBytes() & PAD_MASK)]));
        pieces.add(message.tail());
        XdrReader reader = new XdrReader(pieces);
        if (!(CallHeader.decode(reader) instanceof CallHeader call)) {
            throw new IllegalArgumentException(message + " is no RPC call");
        }
        UpperLayerBinding binding = bindings.find(call);
        if (message.itemBytes() > 0 && !hasItem(binding, call, reader, message)) {
            throw new IllegalArgumentException(message + ": what is marked as item is not eligible in " + call);
        }
        if (message.target() != null && !hasEligibleResult(binding, call, pieces)) {
            throw new IllegalArgumentException(message + ": no result is eligible for the target in " + call);
        }
    }

    private static boolean hasItem(
            UpperLayerBinding binding, CallHeader call, XdrReader arguments, CallMessage message) {
        boolean[] found = new boolean[1];
        ItemSink sink = (position, length) -> {
            found[0] |= position == message.head().byteSize() && length == message.itemBytes();
            return false;
        };
        try {
            binding.argumentItems(call, arguments, sink);
        } catch (XdrException e) {
            // What was found before stands.
            return found[0];
        }
        return found[0];
    }

    private static boolean hasEligibleResult(UpperLayerBinding binding, CallHeader call, List<MemorySegment> pieces) {
        XdrReader reader = new XdrReader(pieces);
        CallHeader.decode(reader);
        try {
            return binding.replyBound(call, reader).items() > 0;
        } catch (XdrException e) {
            return false;
        }
    }

    /**
     * Looks at the reply to a call with a target.
     *
     * @return what is wrong with it; null if nothing is
     */
    @Nullable
    String faultOf(CallMessage message, Reply reply) {
        XdrReader reader = new XdrReader(message.head());
        XdrReader results = new XdrReader(reply.message());
        if (!(CallHeader.decode(reader) instanceof CallHeader call)) {
            return null;
        }
        long placed = reply.placedBytes();
        FirstItem first = new FirstItem(placed);
        try {
            ReplyReader.readHeader(results, reply.xid());
            bindings.find(call).resultItems(call, results, first);
        } catch (RpcException e) {
            // An error of the RPC layer has no results, so nothing may have been placed.
            return placed == 0 ? null : placed + " bytes placed, but the call has no results: " + e.getMessage();
        } catch (XdrException e) {
            return "results that cannot be decoded: " + e.getMessage();
        }
        if (placed == 0 && first.length > 0) {
            // RFC 8166, Section 6.1: with a Write chunk there, an eligible result that stays in the message is a
            // permanent error.
            return "an eligible result of " + first.length + " bytes in the message, though a target was offered";
        }
        // RFC 8166, Section 3.4.6.2: the returned length is that of the item.
        return placed == first.length ? null : placed + " bytes placed for a result of " + first.length;
    }

    /** The first result that has a byte, which is the one that goes to the target. */
    private static final class FirstItem implements ItemSink {

        private final long placed;
        private long length;

        FirstItem(long placed) {
            this.placed = placed;
        }

        @Override
        public boolean item(long position, long itemLength) {
            boolean isFirst = length == 0 && itemLength > 0;
            if (isFirst) {
                length = itemLength;
            }
            return isFirst && placed > 0;
        }
    }
}
