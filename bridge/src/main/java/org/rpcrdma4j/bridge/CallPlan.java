// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.bridge;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.rpc.AcceptStatus;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.DecodedCall;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.ulb.ReplyBound;
import org.rpcrdma4j.transport.ulb.UpperLayerBinding;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;

/**
 * How a call is to be sent on: which of its bytes are the eligible argument, and how large its reply can be. The bytes themselves, the XID
 * and the credential among them, stay as they are.
 */
sealed interface CallPlan {

    /** It is answered here. */
    record Answered(ReplyHeader header) implements CallPlan {}

    /** It is no call, and can't be answered. */
    record NoCall(String what) implements CallPlan {}

    /**
     * It is sent on.
     *
     * @param itemAt where the eligible argument begins; the message's length if it has none
     * @param itemBytes its length without pad; 0 if there is none
     * @param bound of the reply; null if the arguments can't be decoded: then the server refuses them, and says so in few words
     */
    record Sent(
            CallHeader header,
            List<MemorySegment> message,
            long itemAt,
            long itemBytes,
            @Nullable ReplyBound bound) implements CallPlan {

        /** The bytes up to the argument. */
        MemorySegment head() throws XdrException {
            return joined(0, itemAt);
        }

        /** The argument. */
        MemorySegment[] item() throws XdrException {
            return pieces(itemAt, itemBytes).toArray(MemorySegment[]::new);
        }

        /** What follows the argument and its pad. */
        MemorySegment tail() throws XdrException {
            long from = itemAt + XdrReader.padded(itemBytes);
            return joined(from, bytesOf(message) - from);
        }

        private List<MemorySegment> pieces(long from, long length) throws XdrException {
            XdrReader reader = new XdrReader(message);
            reader.skip(from);
            List<MemorySegment> found = new ArrayList<>();
            reader.readPieces(length, found);
            return found;
        }

        private MemorySegment joined(long from, long length) throws XdrException {
            List<MemorySegment> found = pieces(from, length);
            if (found.size() == 1) {
                return found.getFirst();
            }
            MemorySegment joined = MemorySegment.ofArray(new byte[Math.toIntExact(length)]);
            long at = 0;
            for (MemorySegment piece : found) {
                MemorySegment.copy(piece, 0, joined, at, piece.byteSize());
                at += piece.byteSize();
            }
            return joined;
        }
    }

    /** Looks at a message. */
    static CallPlan of(List<MemorySegment> message, Bindings bindings) {
        XdrReader reader = new XdrReader(message);
        return switch (CallHeader.decode(reader)) {
            case CallHeader header -> plan(header, message, reader, bindings);
            case DecodedCall.Refused refused -> new Answered(refused.reply());
            case DecodedCall.NotACall other -> new NoCall("a message of direction " + other);
            case DecodedCall.TooShort cut -> new NoCall("a message of " + bytesOf(message) + " bytes");
        };
    }

    private static CallPlan plan(CallHeader header, List<MemorySegment> message, XdrReader reader, Bindings bindings) {
        long total = bytesOf(message);
        if ((total & 3) != 0) {
            // RFC 4506, Section 3: every item is a multiple of four bytes.
            return new Answered(ReplyHeader.of(header.xid(), AcceptStatus.GARBAGE_ARGS));
        }
        UpperLayerBinding binding = bindings.find(header);
        long[] item = {total, 0};
        try {
            binding.argumentItems(header, reader, (position, length) -> {
                boolean isThere = position + XdrReader.padded(length) <= total;
                if (item[1] == 0 && length > 0 && isThere) {
                    item[0] = position;
                    item[1] = length;
                }
                return false;
            });
        } catch (XdrException e) {
            // The server will say so; what was found before stands.
        }
        return new Sent(header, message, item[0], item[1], boundOf(binding, message));
    }

    private static @Nullable ReplyBound boundOf(UpperLayerBinding binding, List<MemorySegment> message) {
        XdrReader reader = new XdrReader(message);
        try {
            return CallHeader.decode(reader) instanceof CallHeader header ? binding.replyBound(header, reader) : null;
        } catch (XdrException e) {
            return null;
        }
    }

    private static long bytesOf(List<MemorySegment> message) {
        long bytes = 0;
        for (MemorySegment piece : message) {
            bytes += piece.byteSize();
        }
        return bytes;
    }
}
