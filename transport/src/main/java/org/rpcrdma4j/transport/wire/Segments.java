// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.wire;

import java.util.Arrays;

/**
 * Pieces of the Requester's memory, in the order of the list that names them: a column for each field. Grows and is reused, so
 * adding allocates only until the largest header was seen. Confined to its owner.
 */
public final class Segments {
    /** Bytes of a segment in a header: handle, length, offset. */
    public static final int SEGMENT_BYTES = 16;

    /** The longest segment. */
    public static final long MAX_LENGTH = 0xFFFF_FFFFL;

    private static final int INITIAL_CAPACITY = 4;

    private int[] handles = new int[INITIAL_CAPACITY];
    private int[] lengths = new int[INITIAL_CAPACITY];
    private long[] offsets = new long[INITIAL_CAPACITY];
    private int size;

    /** Makes a list without segments. */
    public Segments() {}

    /** Number of segments. */
    public int size() {
        return size;
    }

    /** Names the registered memory that the segment lies in. */
    public int handle(int index) {
        return handles[checked(index)];
    }

    /** Bytes of the segment, at most {@link #MAX_LENGTH}. In a reply: the bytes that were written into it. */
    public long length(int index) {
        return Integer.toUnsignedLong(lengths[checked(index)]);
    }

    /** Where in the registered memory it begins. */
    public long offset(int index) {
        return offsets[checked(index)];
    }

    /** Appends a segment. */
    public void add(int handle, long length, long offset) {
        int word = lengthWord(length);
        if (size == handles.length) {
            int capacity = size * 2;
            handles = Arrays.copyOf(handles, capacity);
            lengths = Arrays.copyOf(lengths, capacity);
            offsets = Arrays.copyOf(offsets, capacity);
        }
        handles[size] = handle;
        lengths[size] = word;
        offsets[size] = offset;
        size++;
    }

    /** Replaces the length: a Responder tells so how much it wrote. */
    public void setLength(int index, long length) {
        lengths[checked(index)] = lengthWord(length);
    }

    /** Sum of all lengths. */
    public long totalLength() {
        return totalLength(0, size);
    }

    /** Sum of the lengths of {@code count} segments from {@code first} on. */
    public long totalLength(int first, int count) {
        checkRange(first, count);
        long total = 0;
        for (int i = first; i < first + count; i++) {
            total += Integer.toUnsignedLong(lengths[i]);
        }
        return total;
    }

    /**
     * Sets the lengths to what is in use after writing {@code bytes} bytes: RFC 8166, Section 3.4.6: segments are filled in their
     * order and without gaps, those left over have length 0.
     *
     * @return bytes that had no room; the lengths then show all segments full
     */
    public long fill(int first, int count, long bytes) {
        checkRange(first, count);
        long left = bytes;
        for (int i = first; i < first + count; i++) {
            long here = Math.min(left, length(i));
            lengths[i] = (int) here;
            left -= here;
        }
        return left;
    }

    /** Whether {@code returned} is these segments after a Responder filled them; see {@link #isReturnOf(int, Segments, int, int)}. */
    public boolean isReturnOf(Segments offered) {
        return size == offered.size && isReturnOf(0, offered, 0, size);
    }

    /**
     * Whether {@code count} segments from {@code first} on are those of {@code offered} as a Responder may give them back: RFC 8166,
     * Section 3.4.6: handles and offsets untouched, no length above the one offered, and none in use behind one that is not full.
     */
    public boolean isReturnOf(int first, Segments offered, int firstOffered, int count) {
        checkRange(first, count);
        offered.checkRange(firstOffered, count);
        boolean full = true;
        for (int i = 0; i < count; i++) {
            long used = length(first + i);
            long room = offered.length(firstOffered + i);
            if (handles[first + i] != offered.handles[firstOffered + i]
                    || offsets[first + i] != offered.offsets[firstOffered + i]
                    || used > room
                    || (used > 0 && !full)) {
                return false;
            }
            full &= used == room;
        }
        return true;
    }

    /** Becomes a copy of the other. */
    public void copyFrom(Segments other) {
        clear();
        for (int i = 0; i < other.size; i++) {
            add(other.handles[i], other.length(i), other.offsets[i]);
        }
    }

    /** Forgets all segments. */
    public void clear() {
        size = 0;
    }

    /** Moves segment {@code from} down to {@code to}; those between move up by one. */
    void moveDown(int from, int to) {
        int handle = handles[from];
        int length = lengths[from];
        long offset = offsets[from];
        System.arraycopy(handles, to, handles, to + 1, from - to);
        System.arraycopy(lengths, to, lengths, to + 1, from - to);
        System.arraycopy(offsets, to, offsets, to + 1, from - to);
        handles[to] = handle;
        lengths[to] = length;
        offsets[to] = offset;
    }

    private static int lengthWord(long length) {
        if (length < 0 || length > MAX_LENGTH) {
            throw new IllegalArgumentException("a segment has 0 to %d bytes, not %d".formatted(MAX_LENGTH, length));
        }
        return (int) length;
    }

    private int checked(int index) {
        if (index < 0 || index >= size) {
            throw new IndexOutOfBoundsException("segment %d of %d".formatted(index, size));
        }
        return index;
    }

    private void checkRange(int first, int count) {
        if (first < 0 || count < 0 || count > size - first) {
            throw new IndexOutOfBoundsException("segments %d + %d of %d".formatted(first, count, size));
        }
    }

    void append(StringBuilder text, int index) {
        text.append("%08x+%d@%016x".formatted(handle(index), length(index), offset(index)));
    }

    void append(StringBuilder text, int first, int count) {
        text.append('[');
        for (int i = first; i < first + count; i++) {
            if (i > first) {
                text.append(' ');
            }
            append(text, i);
        }
        text.append(']');
    }

    /** Each segment as handle + length @ offset. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        append(text, 0, size);
        return text.toString();
    }
}
