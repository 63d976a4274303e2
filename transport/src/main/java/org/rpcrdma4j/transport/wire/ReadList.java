// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.wire;

import java.util.Arrays;

/**
 * The Read list: memory that the Responder fetches. Segments with one position are one chunk, joined in the order of the list;
 * position 0 is the chunk that holds a Long Call. Positions are unsigned. Confined to its owner.
 */
public final class ReadList {
    /** Bytes that one segment adds to a header: discriminator, position, segment. */
    public static final int ENTRY_BYTES = 2 * Words.BYTES + Segments.SEGMENT_BYTES;

    private static final int INITIAL_CAPACITY = 4;
    private static final int ALIGNMENT_BITS = 3;

    private final Segments segments = new Segments();
    private int[] positions = new int[INITIAL_CAPACITY];

    /** Makes a list without segments. */
    public ReadList() {}

    /** Number of segments. */
    public int size() {
        return segments.size();
    }

    /** Whether there is no segment. */
    public boolean isEmpty() {
        return size() == 0;
    }

    /** Where in the unreduced XDR stream the segment's chunk belongs; unsigned. */
    public int position(int index) {
        if (index < 0 || index >= size()) {
            throw new IndexOutOfBoundsException("segment %d of %d".formatted(index, size()));
        }
        return positions[index];
    }

    /** The segments, in the order of the list. To append, use {@link #add}. */
    public Segments segments() {
        return segments;
    }

    /** Whether RFC 8166, Section 3.4.5 allows that position: XDR items begin at multiples of four. */
    public static boolean isAligned(int position) {
        return (position & ALIGNMENT_BITS) == 0;
    }

    /** Appends a segment of the chunk at {@code position}, which must be {@linkplain #isAligned aligned}. */
    public void add(int position, int handle, long length, long offset) {
        if (!isAligned(position)) {
            throw new IllegalArgumentException(
                    "a Read chunk's position is a multiple of 4, not " + Integer.toUnsignedString(position));
        }
        int index = size();
        segments.add(handle, length, offset);
        if (index == positions.length) {
            positions = Arrays.copyOf(positions, index * 2);
        }
        positions[index] = position;
    }

    /** Whether a chunk at position 0 is there: then it holds the RPC message, or its frame. */
    public boolean hasPositionZeroChunk() {
        for (int i = 0; i < size(); i++) {
            if (positions[i] == 0) {
                return true;
            }
        }
        return false;
    }

    /**
     * Brings the chunks into the order of their positions; RFC 8166 prescribes none. The segments of one chunk keep their order.
     * Costs nothing but a look when they are in order, as from all known Requesters.
     */
    public void sortByPosition() {
        for (int i = 1; i < size(); i++) {
            int position = positions[i];
            int to = i;
            while (to > 0 && Integer.compareUnsigned(positions[to - 1], position) > 0) {
                to--;
            }
            if (to < i) {
                System.arraycopy(positions, to, positions, to + 1, i - to);
                positions[to] = position;
                segments.moveDown(i, to);
            }
        }
    }

    /** Index behind the last of the segments that follow {@code first} with the same position: in a sorted list, the chunk's end. */
    public int endOfChunk(int first) {
        int position = position(first);
        int end = first + 1;
        while (end < size() && positions[end] == position) {
            end++;
        }
        return end;
    }

    /** Becomes a copy of the other. */
    public void copyFrom(ReadList other) {
        clear();
        for (int i = 0; i < other.size(); i++) {
            add(other.positions[i], other.segments.handle(i), other.segments.length(i), other.segments.offset(i));
        }
    }

    /** Forgets all segments. */
    public void clear() {
        segments.clear();
    }

    /** Each segment as position: handle + length @ offset. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("[");
        for (int i = 0; i < size(); i++) {
            text.append(i > 0 ? " " : "")
                    .append(Integer.toUnsignedString(positions[i]))
                    .append(':');
            segments.append(text, i);
        }
        return text.append(']').toString();
    }
}
