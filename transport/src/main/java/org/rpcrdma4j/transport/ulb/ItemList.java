// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import java.util.Arrays;

/** The eligible items of one message, in the order of the stream, kept for later. Reused by {@link #clear}; used by one thread at a time. */
public final class ItemList implements ItemSink {

    private long[] positions = new long[4];
    private long[] lengths = new long[4];
    private int size;

    /** An empty list. */
    public ItemList() {}

    /** Keeps the item; the stream is taken for unreduced. */
    @Override
    public boolean item(long position, long length) {
        if (size == positions.length) {
            positions = Arrays.copyOf(positions, 2 * size);
            lengths = Arrays.copyOf(lengths, 2 * size);
        }
        positions[size] = position;
        lengths[size] = length;
        size++;
        return false;
    }

    /** Forgets all. */
    public void clear() {
        size = 0;
    }

    /** Number of items. */
    public int size() {
        return size;
    }

    /** Position of the item's first byte in the unreduced stream. */
    public long position(int index) {
        return positions[checked(index)];
    }

    /** Bytes of the item, without pad. */
    public long length(int index) {
        return lengths[checked(index)];
    }

    /** The item that begins at the position; -1 if none does. RFC 8166, Section 6.1: a chunk anywhere else isn't legal. */
    public int at(long position) {
        int found = Arrays.binarySearch(positions, 0, size, position);
        return found < 0 ? -1 : found;
    }

    private int checked(int index) {
        if (index < 0 || index >= size) {
            throw new IndexOutOfBoundsException("item " + index + " of " + size);
        }
        return index;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("items");
        for (int i = 0; i < size; i++) {
            text.append(' ').append(positions[i]).append('+').append(lengths[i]);
        }
        return text.toString();
    }
}
