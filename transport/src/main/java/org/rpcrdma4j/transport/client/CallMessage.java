// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An RPC call as it is given to the transport: its bytes in up to three parts, and where its reply may go.
 *
 * <pre>
 *   head                              | item           (pad) | tail
 *   XID ... arguments ... count word  | eligible argument    | further arguments
 * </pre>
 *
 * The parts joined, with zero bytes up to a multiple of 4 after the item, are the RPC message. Only the item may travel by a Read chunk of
 * its own: mark as item nothing but what the program's upper-layer binding names (RFC 8166, Section 6.1).
 *
 * <p><b>Ownership.</b> All memory named here belongs to the transport from {@link RpcRdmaClient#send} until the call ends. The head and
 * tail may be changed as soon as {@code send} has returned if the call is inline and only then, so better leave them. Native memory of item,
 * target and reply buffer must be open to all threads; it is registered as it is. Heap memory is copied to and from native memory.
 *
 * <p>Immutable, but for the bytes: a message whose XID word was changed may be sent again after its call has ended.
 */
public final class CallMessage {

    /** Largest reply that any peer can send without a chunk: 1024 bytes less the smallest header, less a reserve. */
    public static final long DEFAULT_MAX_REPLY_BYTES = 960;

    private static final int SMALLEST_CALL_BYTES = 40;
    private static final ValueLayout.OfInt XDR_INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final MemorySegment head;
    private final List<MemorySegment> item;
    private final MemorySegment tail;
    private final long itemBytes;
    private final long totalBytes;
    private final long maxReplyBytes;
    private final @Nullable List<MemorySegment> target;
    private final long targetBytes;
    private final @Nullable MemorySegment replyBuffer;
    private final long timeoutNanos;

    private CallMessage(Builder builder) {
        head = builder.head;
        item = List.copyOf(builder.item);
        tail = builder.tail;
        itemBytes = sizeOf(item);
        totalBytes = Math.addExact(Math.addExact(head.byteSize(), roundedUp(itemBytes)), tail.byteSize());
        maxReplyBytes = builder.maxReplyBytes;
        List<MemorySegment> pieces = builder.target;
        target = pieces == null ? null : List.copyOf(pieces);
        targetBytes = target == null ? 0 : sizeOf(target);
        replyBuffer = builder.replyBuffer;
        timeoutNanos = builder.timeoutNanos;
        requireAligned();
    }

    private void requireAligned() {
        if (head.byteSize() < SMALLEST_CALL_BYTES) {
            throw new IllegalArgumentException(
                    "head of " + head.byteSize() + " bytes: an RPC call has at least " + SMALLEST_CALL_BYTES);
        }
        // RFC 8166, Section 3.4.5: a Read chunk's position is a multiple of 4; RFC 4506, Section 3: so is every item's.
        if ((head.byteSize() & 3) != 0 || (tail.byteSize() & 3) != 0) {
            throw new IllegalArgumentException("head of " + head.byteSize() + " and tail of " + tail.byteSize()
                    + " bytes: both must be multiples of 4");
        }
        MemorySegment buffer = replyBuffer;
        if (buffer != null && buffer.byteSize() < maxReplyBytes) {
            throw new IllegalArgumentException(
                    "reply buffer of " + buffer.byteSize() + " bytes for replies of up to " + maxReplyBytes);
        }
        if (target != null && targetBytes == 0) {
            throw new IllegalArgumentException("target without a byte");
        }
    }

    private static long sizeOf(List<MemorySegment> pieces) {
        long sum = 0;
        for (MemorySegment piece : pieces) {
            sum = Math.addExact(sum, piece.byteSize());
        }
        return sum;
    }

    /** Begins a message with its head: RPC header, credentials and arguments up to the item, its count word included. */
    public static Builder builder(MemorySegment head) {
        return new Builder(head);
    }

    /** As {@link #builder(MemorySegment)}, from a buffer's remaining bytes. */
    public static Builder builder(ByteBuffer head) {
        return new Builder(MemorySegment.ofBuffer(head));
    }

    /** The XID: the first word of the head. */
    public int xid() {
        return head.get(XDR_INT, 0);
    }

    /** The bytes up to the item, or all. */
    public MemorySegment head() {
        return head;
    }

    /** The pieces of the eligible argument; none if there is none. */
    public List<MemorySegment> item() {
        return item;
    }

    /** Length of the eligible argument without its pad. */
    public long itemBytes() {
        return itemBytes;
    }

    /** The bytes after the item and its pad. */
    public MemorySegment tail() {
        return tail;
    }

    /** Length of the whole RPC message, pad included. */
    public long totalBytes() {
        return totalBytes;
    }

    /** Length of the largest reply, without the result that goes to the target. */
    public long maxReplyBytes() {
        return maxReplyBytes;
    }

    /** Where the eligible result goes; null if the call has none. */
    public @Nullable List<MemorySegment> target() {
        return target;
    }

    /** How much the target takes. */
    public long targetBytes() {
        return targetBytes;
    }

    /** Where the reply message goes; null for memory of the reply's own. */
    public @Nullable MemorySegment replyBuffer() {
        return replyBuffer;
    }

    /** How long the call may take; 0 for the client's default. */
    public long timeoutNanos() {
        return timeoutNanos;
    }

    static long roundedUp(long bytes) {
        return (bytes + 3) & ~3L;
    }

    @Override
    public String toString() {
        return "CallMessage[xid 0x" + Integer.toHexString(xid()) + ", " + totalBytes + " bytes, item " + itemBytes
                + ", target " + targetBytes + ", reply of up to " + maxReplyBytes + "]";
    }

    /** Collects a message's parts. Not safe for use by two threads. */
    public static final class Builder {

        private final MemorySegment head;
        private List<MemorySegment> item = List.of();
        private MemorySegment tail = MemorySegment.NULL;
        private long maxReplyBytes = DEFAULT_MAX_REPLY_BYTES;
        private @Nullable List<MemorySegment> target;
        private @Nullable MemorySegment replyBuffer;
        private long timeoutNanos;

        private Builder(MemorySegment head) {
            this.head = Objects.requireNonNull(head, "head");
        }

        /** The eligible argument, without its pad, in pieces. Empty pieces are left out. */
        public Builder item(MemorySegment... pieces) {
            item = withoutEmpty(pieces);
            return this;
        }

        /** The eligible argument, without its pad, from a buffer's remaining bytes. */
        public Builder item(ByteBuffer bytes) {
            return item(MemorySegment.ofBuffer(bytes));
        }

        /** What follows the item and its pad. */
        public Builder tail(MemorySegment bytes) {
            tail = Objects.requireNonNull(bytes, "bytes");
            return this;
        }

        /** What follows the item and its pad, from a buffer's remaining bytes. */
        public Builder tail(ByteBuffer bytes) {
            return tail(MemorySegment.ofBuffer(bytes));
        }

        /**
         * Length of the largest reply that the server may send, its verifier included and the result that goes to the target left out.
         * RFC 8166, Section 4.3.3: a Reply chunk is offered if this does not fit into a message. {@link
         * CallMessage#DEFAULT_MAX_REPLY_BYTES} if not set.
         */
        public Builder maxReplyBytes(long bytes) {
            if (bytes < 0) {
                throw new IllegalArgumentException("maxReplyBytes " + bytes + " must not be negative");
            }
            maxReplyBytes = bytes;
            return this;
        }

        /**
         * Where the call's eligible result is to be placed, in pieces; large enough for the largest one (RFC 8166, Section 3.4.6), no
         * room for its pad. Without a target the result stays in the reply.
         */
        public Builder target(MemorySegment... pieces) {
            target = withoutEmpty(pieces);
            return this;
        }

        /** Where the call's eligible result is to be placed: a buffer's remaining bytes. */
        public Builder target(ByteBuffer buffer) {
            return target(MemorySegment.ofBuffer(buffer));
        }

        /** Where the reply message is to lie; holds {@link #maxReplyBytes}. Its bytes are the caller's again when the call ends. */
        public Builder replyBuffer(MemorySegment buffer) {
            replyBuffer = Objects.requireNonNull(buffer, "buffer");
            return this;
        }

        /** How long the call may take, from {@code send} on. */
        public Builder timeout(Duration value) {
            if (value.isNegative()) {
                throw new IllegalArgumentException("timeout " + value + " must not be negative");
            }
            timeoutNanos = Math.max(1, ClientOptions.nanos(value));
            return this;
        }

        /**
         * The message.
         *
         * @throws IllegalArgumentException if a length does not fit the others
         */
        public CallMessage build() {
            return new CallMessage(this);
        }

        private static List<MemorySegment> withoutEmpty(MemorySegment... pieces) {
            List<MemorySegment> list = new ArrayList<>(pieces.length);
            for (MemorySegment piece : pieces) {
                if (piece.byteSize() > 0) {
                    list.add(piece);
                }
            }
            return list;
        }
    }
}
