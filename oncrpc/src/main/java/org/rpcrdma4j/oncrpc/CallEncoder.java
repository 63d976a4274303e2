// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.dcache.oncrpc4j.xdr.Xdr;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.ulb.ItemList;
import org.rpcrdma4j.transport.ulb.ReplyBound;
import org.rpcrdma4j.transport.ulb.UpperLayerBinding;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;

/**
 * Makes a call of the transport's out of an encoded oncrpc4j call: which argument may go by a chunk of its own, how long the reply can be, where
 * the result is placed. Without state; any thread.
 *
 * @param bindings what may be placed directly
 * @param maxPayloadBytes longest reply that the client takes
 * @param memory for results of calls that name no memory of their own
 */
record CallEncoder(Bindings bindings, long maxPayloadBytes, ReplyMemory memory) {

    private static final int COUNT_WORD = 4;

    /**
     * A call that is ready to be sent.
     *
     * @param message for the transport
     * @param header its decoded header
     * @param target where the eligible result goes; null if nowhere
     * @param pooled the pool's buffer under the target, to be given back; null if the target is the caller's or there is none
     */
    record Encoded(
            CallMessage message,
            CallHeader header,
            @Nullable MemorySegment target,
            @Nullable MemorySegment pooled) {}

    /**
     * Takes the message from its position to its limit; nothing is copied that need not be.
     *
     * @throws IllegalArgumentException if it is no call, or its result is to be placed and no binding names it
     */
    Encoded encode(Xdr xdr, @Nullable PlacedArguments placed, long timeoutNanos) {
        MessagePieces pieces = MessagePieces.of(xdr.asBuffer());
        XdrReader reader = new XdrReader(pieces.pieces());
        if (!(CallHeader.decode(reader) instanceof CallHeader header)) {
            throw new IllegalArgumentException(pieces.bytes() + " bytes that are no RPC call");
        }
        UpperLayerBinding binding = bindings.find(header);
        CallMessage.Builder builder = split(pieces, argument(pieces, header, binding, reader));
        reader.reset(pieces.pieces());
        CallHeader.decode(reader);
        ReplyBound bound = boundOf(binding, header, reader);
        MemorySegment named = placed == null ? null : placed.target();
        MemorySegment pooled = null;
        if (bound.items() == 0 && (named != null || (placed != null && placed.lease() != null))) {
            throw new IllegalArgumentException("no binding names a result to be placed of " + header);
        }
        if (bound.firstItemBytes() > 0 && named == null) {
            pooled = memory.take(bound.firstItemBytes());
        }
        MemorySegment target = pooled == null ? named : pooled.asSlice(0, bound.firstItemBytes());
        try {
            if (target != null) {
                builder.target(target);
            }
            long wanted = placed == null ? -1 : placed.maxReplyBytes();
            builder.maxReplyBytes(wanted >= 0 ? wanted : replyBytes(bound, target != null));
            if (timeoutNanos > 0) {
                builder.timeout(Duration.ofNanos(timeoutNanos));
            }
            return new Encoded(builder.build(), header, target, pooled);
        } catch (RuntimeException e) {
            if (pooled != null) {
                memory.giveBack(pooled);
            }
            throw e;
        }
    }

    private static ReplyBound boundOf(UpperLayerBinding binding, CallHeader header, XdrReader arguments) {
        try {
            return binding.replyBound(header, arguments);
        } catch (XdrException e) {
            throw new IllegalArgumentException("arguments do not fit the binding of " + header, e);
        }
    }

    private long replyBytes(ReplyBound bound, boolean isPlaced) {
        long bytes = isPlaced ? bound.bytesBesideOneChunk() : bound.unreducedBytes();
        // What the protocol leaves open is bounded by what can be carried; what it promises is not cut.
        return bound.exact() ? bytes : Math.min(bytes, maxPayloadBytes);
    }

    /** A range of the message; empty if there is none. */
    private record Item(long position, long length) {
        static final Item NONE = new Item(0, 0);
    }

    /** The eligible argument that goes apart: what the program set apart itself, else the longest. */
    private static Item argument(
            MessagePieces pieces, CallHeader header, UpperLayerBinding binding, XdrReader arguments) {
        ItemList items = new ItemList();
        try {
            binding.argumentItems(header, arguments, items);
        } catch (XdrException e) {
            // Items that were found before stand; the server will find what is wrong with the rest.
            assert items.size() >= 0;
        }
        Item best = Item.NONE;
        for (int i = 0; i < items.size(); i++) {
            Item item = new Item(items.position(i), items.length(i));
            if (item.length() > 0 && pieces.isPayload(item.position())) {
                return item;
            }
            best = item.length() > best.length() ? item : best;
        }
        return best;
    }

    private static CallMessage.Builder split(MessagePieces pieces, Item item) {
        if (item.length() < COUNT_WORD) {
            return CallMessage.builder(pieces.joined(0, pieces.bytes()));
        }
        long end = item.position() + item.length();
        return CallMessage.builder(pieces.joined(0, item.position()))
                .item(pieces.range(item.position(), end).toArray(MemorySegment[]::new))
                .tail(pieces.joined(item.position() + XdrReader.padded(item.length()), pieces.bytes()));
    }
}
