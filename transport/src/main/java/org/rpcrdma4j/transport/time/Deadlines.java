// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.time;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Entries ordered by their deadlines, the earliest first: a binary heap in which each entry knows its place, so that any of them is
 * taken out in logarithmic time and none costs an allocation.
 *
 * <pre>
 *              [0] earliest            entry at i: parent at (i - 1) / 2,
 *             /            \                       children at 2i + 1 and 2i + 2
 *          [1]              [2]
 *         /   \            /   \
 *      [3]     [4]      [5]     [6]
 * </pre>
 *
 * <p>Deadlines are values of {@link TimeSource#nanoTime}, so they are compared by their difference: all in one heap must lie within
 * 292 years. An entry is in one heap at a time; its deadline does not change while it is in. The owner keeps one timer armed for
 * {@link #earliest}. Not thread-safe: used inside the owner's monitor.
 *
 * @param <T> the entries
 */
public final class Deadlines<T extends Deadlines.Entry> {

    /** What has a deadline. Extended by the object itself, so that there is no second one. */
    public abstract static class Entry {
        private static final int OUT = -1;

        private long deadlineNanos;
        private int place = OUT;

        /** Of no heap. */
        protected Entry() {}

        /** The deadline that it was last added with. */
        public final long deadlineNanos() {
            return deadlineNanos;
        }

        /** Whether it is in a heap. */
        public final boolean isWaiting() {
            return place != OUT;
        }
    }

    private @Nullable Entry[] heap = new Entry[16];
    private int size;

    /** Without entries. */
    public Deadlines() {}

    /** How many entries are in. */
    public int size() {
        return size;
    }

    /** Whether no entry is in. */
    public boolean isEmpty() {
        return size == 0;
    }

    /**
     * Puts an entry in.
     *
     * @throws IllegalStateException if it is in a heap
     */
    public void add(T entry, long deadlineNanos) {
        Entry added = entry;
        if (added.isWaiting()) {
            throw new IllegalStateException("already waits for " + added.deadlineNanos);
        }
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, size * 2);
        }
        added.deadlineNanos = deadlineNanos;
        siftUp(added, size++);
    }

    /** Takes an entry out. Returns false if it was not in. */
    public boolean remove(T entry) {
        Entry removed = entry;
        int place = removed.place;
        if (place == Entry.OUT) {
            return false;
        }
        if (!isAt(removed, place)) {
            throw new IllegalArgumentException("entry waits in another heap");
        }
        removed.place = Entry.OUT;
        Entry last = at(--size);
        heap[size] = null;
        if (place < size) {
            siftDown(last, place);
            if (last.place == place) {
                siftUp(last, place);
            }
        }
        return true;
    }

    /** The entry with the earliest deadline, left in; null if there is none. */
    @SuppressWarnings("unchecked") // only a T is ever put in
    public @Nullable T earliest() {
        return size == 0 ? null : (T) at(0);
    }

    /** Takes out the earliest entry if its deadline is reached; null if there is none such. */
    public @Nullable T pollExpired(long nowNanos) {
        T first = earliest();
        if (first == null || first.deadlineNanos() - nowNanos > 0) {
            return null;
        }
        remove(first);
        return first;
    }

    @SuppressWarnings("ReferenceEquality") // this very object
    private boolean isAt(Entry entry, int place) {
        return place < size && heap[place] == entry;
    }

    private Entry at(int place) {
        Entry entry = heap[place];
        if (entry == null) {
            throw new AssertionError("no entry at " + place + " of " + size);
        }
        return entry;
    }

    private void siftUp(Entry entry, int from) {
        int place = from;
        while (place > 0) {
            int parentPlace = (place - 1) >>> 1;
            Entry parent = at(parentPlace);
            if (!isEarlier(entry, parent)) {
                break;
            }
            put(parent, place);
            place = parentPlace;
        }
        put(entry, place);
    }

    private void siftDown(Entry entry, int from) {
        int place = from;
        int childPlace;
        while ((childPlace = 2 * place + 1) < size) {
            if (childPlace + 1 < size && isEarlier(at(childPlace + 1), at(childPlace))) {
                childPlace++;
            }
            Entry child = at(childPlace);
            if (!isEarlier(child, entry)) {
                break;
            }
            put(child, place);
            place = childPlace;
        }
        put(entry, place);
    }

    private void put(Entry entry, int place) {
        heap[place] = entry;
        entry.place = place;
    }

    private static boolean isEarlier(Entry one, Entry other) {
        return one.deadlineNanos - other.deadlineNanos < 0;
    }
}
