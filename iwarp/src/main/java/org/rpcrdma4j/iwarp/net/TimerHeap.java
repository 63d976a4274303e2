// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Pending timers, the earliest first; of equal deadlines the one that was added first. Loop thread only, save for {@link
 * #noteCancelled}: a timer cancelled elsewhere stays until it is due or until such timers are the greater part.
 */
final class TimerHeap {
    private static final int PURGE_AT = 64;

    private final AtomicInteger cancelledInside = new AtomicInteger();
    private @Nullable LoopTimer[] heap = new LoopTimer[16];
    private int size;
    private long added;

    int size() {
        return size;
    }

    void noteCancelled() {
        cancelledInside.incrementAndGet();
    }

    /** The earliest timer; null if there is none. */
    @Nullable
    LoopTimer first() {
        return heap[0];
    }

    void add(LoopTimer timer) {
        int cancelled = cancelledInside.get();
        if (cancelled > PURGE_AT && cancelled > size / 2) {
            purge();
        }
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, 2 * size);
        }
        timer.sequence = added++;
        place(timer, size++);
        siftUp(timer);
    }

    void remove(LoopTimer timer) {
        int hole = timer.index;
        if (hole < 0) {
            return;
        }
        timer.index = -1;
        LoopTimer last = at(--size);
        heap[size] = null;
        if (last != timer) {
            place(last, hole);
            siftUp(last);
            siftDown(last);
        }
    }

    void clear() {
        while (size > 0) {
            LoopTimer timer = at(size - 1);
            remove(timer);
            timer.cancel();
        }
    }

    private void purge() {
        cancelledInside.set(0);
        for (int i = size - 1; i >= 0; i--) {
            LoopTimer timer = at(i);
            if (!timer.isPending()) {
                timer.index = -1;
                heap[i] = heap[--size];
                heap[size] = null;
            }
        }
        for (int i = 0; i < size; i++) {
            LoopTimer timer = at(i);
            timer.index = i;
        }
        for (int i = size / 2 - 1; i >= 0; i--) {
            siftDown(at(i));
        }
    }

    private void siftUp(LoopTimer timer) {
        int i = timer.index;
        while (i > 0) {
            int parent = (i - 1) >>> 1;
            LoopTimer above = at(parent);
            if (!isBefore(timer, above)) {
                break;
            }
            place(above, i);
            i = parent;
        }
        place(timer, i);
    }

    private void siftDown(LoopTimer timer) {
        int i = timer.index;
        while (2 * i + 1 < size) {
            int child = 2 * i + 1;
            if (child + 1 < size && isBefore(at(child + 1), at(child))) {
                child++;
            }
            LoopTimer below = at(child);
            if (!isBefore(below, timer)) {
                break;
            }
            place(below, i);
            i = child;
        }
        place(timer, i);
    }

    private void place(LoopTimer timer, int i) {
        heap[i] = timer;
        timer.index = i;
    }

    private LoopTimer at(int i) {
        LoopTimer timer = heap[i];
        if (timer == null) {
            throw new AssertionError("no timer at " + i + " of " + size);
        }
        return timer;
    }

    private static boolean isBefore(LoopTimer a, LoopTimer b) {
        long difference = a.deadlineNanos - b.deadlineNanos;
        return difference < 0 || (difference == 0 && a.sequence < b.sequence);
    }
}
