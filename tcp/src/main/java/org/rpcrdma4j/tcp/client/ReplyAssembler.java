// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.client;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.tcp.record.RecordInput;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.MessageType;
import org.rpcrdma4j.transport.rpc.ReplyReader;
import org.rpcrdma4j.transport.rpc.RpcException;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.ulb.ItemSink;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;

/**
 * Takes one reply from the stream to where its parts are wanted: the first eligible result that has a byte to the call's target, all else to
 * the message.
 *
 * <pre>
 *   record:   RPC header, results ... count word | item | pad | further results
 *   goes to:  message                            | target     | message
 * </pre>
 *
 * <p>The start of the record is read and looked at, more of it if the item does not begin there; what of the item was read with it is copied,
 * the rest goes from the socket into the target. Used by the thread that reads the connection.
 */
final class ReplyAssembler {

    private static final ValueLayout.OfInt WORD = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int START_BYTES = 8;
    private static final int FIRST_LOOK = 192;
    /** What is taken at a time, so that a call that was given up is noticed. */
    private static final long STEP_BYTES = 256 << 10;

    private final RecordInput input;
    private final @Nullable Bindings bindings;
    private byte[] bytes = new byte[0];
    private int count;
    private long placed;
    private @Nullable String fault;

    ReplyAssembler(RecordInput input, @Nullable Bindings bindings) {
        this.input = input;
        this.bindings = bindings;
    }

    /** Reads XID and direction; false if the record has not so many bytes. */
    boolean readStart() throws IOException {
        bytes = new byte[FIRST_LOOK];
        count = 0;
        placed = 0;
        fault = null;
        readUpTo(START_BYTES);
        return count == START_BYTES;
    }

    /** The XID; after {@link #readStart}. */
    int xid() {
        return MemorySegment.ofArray(bytes).get(WORD, 0);
    }

    /** Whether it is a reply and not a call; after {@link #readStart}. */
    boolean isReply() {
        return MemorySegment.ofArray(bytes).get(WORD, Integer.BYTES) == MessageType.REPLY.value();
    }

    /**
     * Reads the rest of the record.
     *
     * @param isGivenUp whether the target must not be written to any more
     * @return what is wrong with the reply; null if it is in {@link #message}
     */
    @Nullable
    String read(CallMessage call, BooleanSupplier isGivenUp) throws IOException {
        Bindings known = bindings;
        if (known != null && call.target() != null) {
            readWithTarget(known, call, isGivenUp);
        }
        readAll();
        return fault;
    }

    private void readWithTarget(Bindings known, CallMessage call, BooleanSupplier isGivenUp) throws IOException {
        int look = FIRST_LOOK;
        boolean more = true;
        while (more) {
            readUpTo(look);
            FirstItem item = find(known, call);
            if (item.length > 0) {
                place(item, call, isGivenUp);
            }
            // The item may begin behind what was looked at.
            more = item.length == 0 && item.isCut && count == look && fault == null;
            look = (int) Math.min(2L * look, Integer.MAX_VALUE - 8);
        }
    }

    private FirstItem find(Bindings known, CallMessage call) {
        FirstItem item = new FirstItem();
        XdrReader results = new XdrReader();
        results.reset(MemorySegment.ofArray(bytes), count);
        try {
            if (CallHeader.decode(new XdrReader(call.head())) instanceof CallHeader header) {
                ReplyReader.readHeader(results, header.xid());
                known.find(header).resultItems(header, results, item);
            }
        } catch (RpcException e) {
            // No results. A header is never longer than the second look.
            item.isCut = count <= 2 * FIRST_LOOK && e instanceof RpcException.BadReply;
        } catch (XdrException e) {
            item.isCut = true;
        } catch (RuntimeException | Error e) {
            // The binding is the program's own; a reply that it cannot bear ends that call alone.
            fault = "the reply cannot be looked at: " + e;
        }
        return item;
    }

    /** The first result that has a byte. */
    private static final class FirstItem implements ItemSink {
        private long position;
        private long length;
        private boolean isCut;

        @Override
        public boolean item(long itemPosition, long itemLength) {
            boolean isFirst = length == 0 && itemLength > 0;
            if (isFirst) {
                position = itemPosition;
                length = itemLength;
            }
            // Not absent, but perhaps not read yet: what follows is not of interest.
            return isFirst;
        }
    }

    private void place(FirstItem item, CallMessage call, BooleanSupplier isGivenUp) throws IOException {
        if (item.length > call.targetBytes()) {
            fault = "a result of " + item.length + " bytes for a target of " + call.targetBytes();
            return;
        }
        int at = (int) item.position;
        int behind = (int) Math.min(count, at + item.length);
        MemorySegment head = MemorySegment.ofArray(bytes).asSlice(at, behind - at);
        List<MemorySegment> target = call.target();
        long done = 0;
        for (MemorySegment piece : target == null ? List.<MemorySegment>of() : target) {
            long wanted = Math.min(piece.byteSize(), item.length - done);
            long copied = Math.clamp(head.byteSize() - done, 0L, wanted);
            if (copied > 0) {
                MemorySegment.copy(head, done, piece, 0, copied);
            }
            long got = copied + fill(piece.asSlice(copied, wanted - copied), isGivenUp);
            done += got;
            if (got < wanted) {
                fault = "the reply ends within a result of " + item.length + " bytes, after " + done;
                return;
            }
        }
        placed = done;
        cutOut(at, behind, XdrReader.padded(item.length) - item.length);
    }

    private long fill(MemorySegment piece, BooleanSupplier isGivenUp) throws IOException {
        long done = 0;
        while (done < piece.byteSize()) {
            long got = isGivenUp.getAsBoolean()
                    ? 0
                    : input.readSome(piece.asSlice(done, Math.min(STEP_BYTES, piece.byteSize() - done)));
            if (got == 0) {
                break;
            }
            done += got;
        }
        return done;
    }

    /** RFC 8166, Section 3.4.4: the message is left without the item and its pad. */
    private void cutOut(int from, int to, long pad) throws IOException {
        readUpTo((int) (to + pad));
        int behindPad = (int) Math.min(count, to + pad);
        System.arraycopy(bytes, behindPad, bytes, from, count - behindPad);
        count = from + count - behindPad;
    }

    /** Has at least so many bytes of the record, or all, not many more. */
    private void readUpTo(int wanted) throws IOException {
        while (count < wanted && input.left() > 0) {
            grow((int) Math.min(wanted, count + input.left()));
            count += (int) input.readSome(MemorySegment.ofArray(bytes).asSlice(count, wanted(wanted)));
        }
    }

    private int wanted(int wanted) {
        return Math.min(wanted, bytes.length) - count;
    }

    private void readAll() throws IOException {
        if (fault != null) {
            input.skipRest();
            return;
        }
        while (input.left() > 0) {
            readUpTo((int) (count + input.left()));
        }
    }

    private void grow(int length) {
        if (bytes.length < length) {
            boolean isLast = input.isLastFragment();
            bytes = Arrays.copyOf(bytes, isLast ? length : Math.max(length, 2 * bytes.length));
        }
    }

    /** The reply message; where the caller wants it, if it fits. */
    MemorySegment message(CallMessage call) {
        MemorySegment message = MemorySegment.ofArray(bytes).asSlice(0, count);
        MemorySegment wanted = call.replyBuffer();
        return wanted != null && count <= wanted.byteSize()
                ? wanted.asSlice(0, count).copyFrom(message)
                : message;
    }

    /** Bytes in the call's target. */
    long placedBytes() {
        return placed;
    }
}
