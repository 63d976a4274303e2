// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.xdr;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Writes XDR (RFC 4506) into memory that grows, and keeps the eligible items of the message apart.
 *
 * <p>What is written is the unreduced stream. An <em>item</em> is the payload of an opaque or string that the upper-layer binding lets
 * travel in a chunk: its count word is in the stream, its bytes are kept apart and its pad isn't stored. So the message is
 *
 * <pre>   part(0)  item(0) [pad]  part(1)  item(1) [pad] ...  part(items())</pre>
 *
 * where a reduced message is all the parts, and the unreduced one ({@link #pieces}) has items and pads put back. An item's bytes are
 * either the caller's memory, which isn't copied and must stay as it is until the message is sent, or were written between {@link
 * #beginItem} and {@link #endItem}.
 *
 * <p>Slices that were taken become stale when more is written. Reused by {@link #reset}; used by one thread at a time. The memory is never
 * allowed to grow beyond the bound given; writing beyond it is an {@link IllegalStateException}.
 */
public final class XdrWriter {

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong HYPER = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final MemorySegment ZEROS =
            MemorySegment.ofArray(new byte[4]).asReadOnly();
    private static final MemorySegment EMPTY = MemorySegment.ofArray(new byte[0]);
    private static final long DEFAULT_BOUND = 1L << 30;

    private final LongFunction<MemorySegment> allocator;
    private final long bound;
    private MemorySegment memory;
    /** Bytes in {@link #memory}. */
    private long written;
    /** Bytes of the unreduced stream that aren't in {@link #memory}: items of callers, pads of items. */
    private long apart;

    private final ArrayList<Item> items = new ArrayList<>();
    private int itemCount;
    private boolean inItem;
    /** The part that was asked for last, of the memory at hand: replies of one size are asked for again and again. */
    private @Nullable MemorySegment lastPart;

    private long lastPartFrom;

    /** One item; the objects are reused. */
    private static final class Item {
        private long position;
        private long length;
        /** Where in the memory it is, and how many bytes of it are there: none if they are the caller's. */
        private long at;

        private long stored;
        private final ArrayList<MemorySegment> callers = new ArrayList<>(1);
    }

    /** A writer into the heap. */
    public XdrWriter() {
        this(MemorySegment.ofArray(new byte[256]), size -> MemorySegment.ofArray(new byte[(int) size]), DEFAULT_BOUND);
    }

    /**
     * A writer that begins with memory of the caller's.
     *
     * @param allocator gives memory of at least so many bytes when that is full; what was there is copied and let go of
     * @param bound bytes that the stream may have at most, items of callers not counted
     */
    public XdrWriter(MemorySegment initial, LongFunction<MemorySegment> allocator, long bound) {
        this.memory = initial;
        this.allocator = allocator;
        this.bound = bound;
    }

    /** Begins anew, in the memory at hand. */
    public void reset() {
        for (int i = 0; i < itemCount; i++) {
            items.get(i).callers.clear();
        }
        written = 0;
        apart = 0;
        itemCount = 0;
        inItem = false;
    }

    /** Begins anew, in other memory. */
    public void reset(MemorySegment initial) {
        reset();
        memory = initial;
        lastPart = null;
    }

    /** Position in, and so far length of, the unreduced stream. */
    public long position() {
        return written + apart;
    }

    /** Length of the stream without its items and their pads. */
    public long reducedLength() {
        long stored = 0;
        for (int i = 0; i < itemCount; i++) {
            stored += items.get(i).stored;
        }
        return written - stored;
    }

    /** An int, signed or unsigned. */
    public void writeInt(int value) {
        reserve(4);
        memory.set(INT, written, value);
        written += 4;
    }

    /** An unsigned int. */
    public void writeUnsignedInt(long value) {
        if (value >>> 32 != 0) {
            throw new IllegalArgumentException("not an unsigned int: " + value);
        }
        writeInt((int) value);
    }

    /** A hyper, signed or unsigned. */
    public void writeHyper(long value) {
        reserve(8);
        memory.set(HYPER, written, value);
        written += 8;
    }

    /** A bool. */
    public void writeBool(boolean value) {
        writeInt(value ? 1 : 0);
    }

    /** An opaque: count word, bytes, pad. */
    public void writeOpaque(MemorySegment value) {
        writeUnsignedInt(value.byteSize());
        writeFixedOpaque(value);
    }

    /** An opaque: count word, bytes, pad. */
    public void writeOpaque(byte[] value) {
        writeOpaque(MemorySegment.ofArray(value));
    }

    /** RFC 4506, Section 4.9: bytes and pad without a count word. */
    public void writeFixedOpaque(MemorySegment value) {
        writeBytes(value);
        pad(value.byteSize());
    }

    /** A string in UTF-8. */
    public void writeString(String value) {
        writeOpaque(value.getBytes(StandardCharsets.UTF_8));
    }

    /** Bytes as they are, without count and pad. The caller sees to it that what follows is aligned. */
    public void writeBytes(MemorySegment value) {
        long length = value.byteSize();
        reserve(length);
        MemorySegment.copy(value, 0, memory, written, length);
        written += length;
    }

    /** Leaves room for an int that is known later; returns its place for {@link #patchInt}. */
    public long reserveInt() {
        long place = written;
        writeInt(0);
        return place;
    }

    /** Fills in what {@link #reserveInt} left open. */
    public void patchInt(long place, int value) {
        if (place < 0 || place + 4 > written) {
            throw new IndexOutOfBoundsException("nothing was reserved at " + place);
        }
        memory.set(INT, place, value);
    }

    /** An eligible item that is the caller's memory: the count word is written, the bytes are kept apart. */
    public void writeItem(MemorySegment payload) {
        writeUnsignedInt(payload.byteSize());
        Item item = newItem();
        item.callers.add(payload);
        item.length = payload.byteSize();
        setApart(item);
    }

    /** An eligible item that lies in several pieces of the caller's memory. */
    public void writeItem(List<MemorySegment> payload) {
        long length = 0;
        for (int i = 0; i < payload.size(); i++) {
            length += payload.get(i).byteSize();
        }
        writeUnsignedInt(length);
        Item item = newItem();
        item.callers.addAll(payload);
        item.length = length;
        setApart(item);
    }

    /** Begins an eligible item: leaves room for its count word. Until {@link #endItem} its bytes are written with {@link #writeBytes}. */
    public void beginItem() {
        if (inItem) {
            throw new IllegalStateException("an item has begun at " + items.get(itemCount - 1).position);
        }
        reserveInt();
        newItem();
        inItem = true;
    }

    /** Ends the item: fills in the count word. */
    public void endItem() {
        if (!inItem) {
            throw new IllegalStateException("no item has begun");
        }
        inItem = false;
        Item item = items.get(itemCount - 1);
        item.stored = written - item.at;
        item.length = item.stored;
        patchInt(item.at - 4, Math.toIntExact(item.length));
        apart += XdrReader.padded(item.length) - item.length;
    }

    private Item newItem() {
        if (inItem) {
            throw new IllegalStateException("an item within an item");
        }
        if (itemCount == items.size()) {
            items.add(new Item());
        }
        Item item = items.get(itemCount++);
        item.position = position();
        item.at = written;
        item.stored = 0;
        item.length = 0;
        return item;
    }

    private void setApart(Item item) {
        apart += XdrReader.padded(item.length);
    }

    /** Number of items. */
    public int items() {
        return itemCount;
    }

    /** Position of the item's first byte in the unreduced stream. */
    public long itemPosition(int index) {
        return item(index).position;
    }

    /** Bytes of the item, without pad. */
    public long itemLength(int index) {
        return item(index).length;
    }

    /** Adds the item's bytes, without pad, to the list. */
    public void itemPieces(int index, List<MemorySegment> into) {
        Item item = item(index);
        if (item.stored > 0) {
            into.add(memory.asSlice(item.at, item.stored));
        }
        for (int i = 0; i < item.callers.size(); i++) {
            into.add(item.callers.get(i));
        }
    }

    /** The stream between two items, or before the first ({@code 0}), or behind the last ({@code items()}). */
    public MemorySegment part(int index) {
        if (index < 0 || index > itemCount) {
            throw new IndexOutOfBoundsException("part " + index + " of a message with " + itemCount + " items");
        }
        long from = index == 0 ? 0 : item(index - 1).at + item(index - 1).stored;
        long to = index == itemCount ? written : item(index).at;
        if (from == to) {
            return EMPTY;
        }
        MemorySegment part = lastPart;
        if (part == null || lastPartFrom != from || part.byteSize() != to - from) {
            part = memory.asSlice(from, to - from);
            lastPart = part;
            lastPartFrom = from;
        }
        return part;
    }

    /** Adds the whole unreduced stream to the list, pads put in. */
    public void pieces(List<MemorySegment> into) {
        into.add(part(0));
        for (int i = 0; i < itemCount; i++) {
            itemPieces(i, into);
            long length = item(i).length;
            long pad = XdrReader.padded(length) - length;
            if (pad > 0) {
                into.add(ZEROS.asSlice(0, pad));
            }
            MemorySegment part = part(i + 1);
            if (part.byteSize() > 0) {
                into.add(part);
            }
        }
    }

    /** The whole unreduced stream as one array, for small messages and tests. */
    public byte[] toByteArray() {
        List<MemorySegment> all = new ArrayList<>();
        pieces(all);
        byte[] bytes = new byte[Math.toIntExact(position())];
        int at = 0;
        for (MemorySegment piece : all) {
            int length = (int) piece.byteSize();
            MemorySegment.copy(piece, ValueLayout.JAVA_BYTE, 0, bytes, at, length);
            at += length;
        }
        return bytes;
    }

    private Item item(int index) {
        if (index < 0 || index >= itemCount) {
            throw new IndexOutOfBoundsException("item " + index + " of " + itemCount);
        }
        return items.get(index);
    }

    private void pad(long length) {
        long pad = XdrReader.padded(length) - length;
        if (pad > 0) {
            writeBytes(ZEROS.asSlice(0, pad));
        }
    }

    private void reserve(long length) {
        if (memory.byteSize() - written >= length) {
            return;
        }
        long wanted = written + length;
        if (wanted > bound) {
            throw new IllegalStateException("message of " + wanted + " bytes exceeds the bound of " + bound);
        }
        MemorySegment larger = allocator.apply(Math.min(bound, Math.max(wanted, 2 * memory.byteSize())));
        if (larger.byteSize() < wanted) {
            throw new IllegalStateException(larger.byteSize() + " bytes given where " + wanted + " were asked for");
        }
        MemorySegment.copy(memory, 0, larger, 0, written);
        memory = larger;
        lastPart = null;
    }

    @Override
    public String toString() {
        long[] positions = new long[itemCount];
        Arrays.setAll(positions, i -> items.get(i).position);
        return "XDR of " + position() + " bytes, items at " + Arrays.toString(positions);
    }
}
