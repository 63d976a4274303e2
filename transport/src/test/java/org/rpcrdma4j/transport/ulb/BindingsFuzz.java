// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.rpcrdma4j.transport.fuzz.Pieces;
import org.rpcrdma4j.transport.rpc.AcceptStatus;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;

/**
 * Any bytes as an NFS call and its reply: nothing but {@link XdrException}; every eligible item lies within the message; the same items
 * in one piece, in many, and in the stream that is left when the items are taken out.
 *
 * <p>Input: two bytes with the length of the call, the call, the reply.
 */
public final class BindingsFuzz {
    private static final Bindings NFS = Bindings.nfs(ResultLimits.DEFAULT);
    private static final int CUTS = 0x0730_2105;

    private record Item(long position, long length) {}

    private record Found(List<Item> items, boolean complete) {}

    @FunctionalInterface
    private interface Parser {
        void items(XdrReader in, ItemSink sink) throws XdrException;
    }

    private BindingsFuzz() {}

    /** Called by the fuzzer. */
    public static void fuzzerTestOneInput(byte[] input) {
        if (input.length < 2) {
            return;
        }
        int end = Math.min(2 + (((input[0] & 0xFF) << 8) | (input[1] & 0xFF)), input.length);
        byte[] message = Arrays.copyOfRange(input, 2, end);
        byte[] reply = Arrays.copyOfRange(input, end, input.length);
        if (!(CallHeader.decode(new XdrReader(MemorySegment.ofArray(message))) instanceof CallHeader call)) {
            return;
        }
        UpperLayerBinding binding = NFS.find(call);
        check(message, (in, sink) -> {
            CallHeader.decode(in);
            binding.argumentItems(call, in, sink);
        });
        check(reply, (in, sink) -> {
            if (ReplyHeader.decode(in) instanceof ReplyHeader.Accepted accepted
                    && accepted.status() == AcceptStatus.SUCCESS) {
                binding.resultItems(call, in, sink);
            }
        });
        checkBound(binding, call, message);
    }

    private static void check(byte[] message, Parser parser) {
        Found whole = find(new XdrReader(MemorySegment.ofArray(message)), parser, false);
        long end = 0;
        for (Item item : whole.items) {
            require(item.position % 4 == 0 && item.position >= end && item.length >= 0, whole, message);
            end = item.position + item.length;
        }
        require(!whole.complete || end <= message.length, whole, message);
        require(whole.equals(find(new XdrReader(Pieces.cut(message, CUTS)), parser, false)), whole, message);
        if (whole.complete) {
            MemorySegment reduced = MemorySegment.ofArray(without(message, whole.items));
            Found left = find(new XdrReader(reduced), parser, true);
            // A count is refused that promises more than the bytes left can hold, and without the items there are
            // fewer.
            boolean asFar = !left.complete && left.items.equals(whole.items.subList(0, left.items.size()));
            require(asFar || whole.equals(left), whole, message);
        }
    }

    private static Found find(XdrReader in, Parser parser, boolean reduced) {
        List<Item> items = new ArrayList<>();
        try {
            parser.items(in, (position, length) -> {
                items.add(new Item(position, length));
                return reduced;
            });
            return new Found(items, true);
        } catch (XdrException e) {
            return new Found(items, false);
        }
    }

    private static byte[] without(byte[] message, List<Item> items) {
        ByteArrayOutputStream rest = new ByteArrayOutputStream();
        int at = 0;
        for (Item item : items) {
            rest.write(message, at, (int) item.position - at);
            at = (int) (item.position + XdrReader.padded(item.length));
        }
        rest.write(message, at, message.length - at);
        return rest.toByteArray();
    }

    private static void checkBound(UpperLayerBinding binding, CallHeader call, byte[] message) {
        XdrReader in = new XdrReader(MemorySegment.ofArray(message));
        CallHeader.decode(in);
        try {
            ReplyBound bound = binding.replyBound(call, in);
            if (bound.streamBytes() < 0
                    || bound.items() < 0
                    || bound.firstItemBytes() > bound.largestItemBytes()
                    || bound.largestItemBytes() > bound.allItemBytes()
                    || bound.bytesBesideOneChunk() > bound.unreducedBytes()) {
                throw new AssertionError(bound);
            }
        } catch (XdrException e) {
            // as documented
        }
    }

    private static void require(boolean condition, Found found, byte[] message) {
        if (!condition) {
            throw new AssertionError("found " + found + " in " + message.length + " bytes");
        }
    }
}
