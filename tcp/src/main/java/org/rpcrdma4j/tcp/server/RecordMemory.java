// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.server;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Native memory for the records, or for the results, of one server: at most so many bytes are out at a time, and buffers that came back are used
 * again, those not needed for a while let go of.
 *
 * <pre>
 *   classes:  4 KiB, 5, 6, 7, 8, 10, 12, 14, 16, 20 ...: four for each power of two, so that at most a fifth is wasted
 * </pre>
 *
 * <p>A buffer belongs to who took it until it is given back. Any thread may call any method.
 */
final class RecordMemory {

    private static final int SMALLEST_SHIFT = 12;
    private static final int STEPS_SHIFT = 2;
    private static final int CLASSES = (31 - SMALLEST_SHIFT) << STEPS_SHIFT;
    private static final int UNIT_SHIFT = 10;

    private final Semaphore units;
    private final List<Idle> idle = new ArrayList<>();

    /** Buffers of one class that came back. */
    private static final class Idle {
        private final ArrayDeque<MemorySegment> buffers = new ArrayDeque<>();
        /** The fewest that lay here since the last trim: so many were not needed. */
        private int fewest;
    }

    RecordMemory(long limitBytes) {
        units = new Semaphore((int) Math.min(Integer.MAX_VALUE, limitBytes >>> UNIT_SHIFT), true);
        for (int i = 0; i < CLASSES; i++) {
            idle.add(new Idle());
        }
    }

    /** Which class holds so many bytes. */
    private static int classOf(long bytes) {
        long least = Math.max(bytes, 1L << SMALLEST_SHIFT);
        int shift = 63 - Long.numberOfLeadingZeros(least);
        long step = 1L << (shift - STEPS_SHIFT);
        long steps = (least - (1L << shift) + step - 1) / step;
        return (int) (((shift - SMALLEST_SHIFT) << STEPS_SHIFT) + steps);
    }

    private static long bytesOf(int sizeClass) {
        int shift = (sizeClass >>> STEPS_SHIFT) + SMALLEST_SHIFT;
        int steps = sizeClass & ((1 << STEPS_SHIFT) - 1);
        return (1L << shift) + ((long) steps << (shift - STEPS_SHIFT));
    }

    private static int unitsOf(int sizeClass) {
        return (int) (bytesOf(sizeClass) >>> UNIT_SHIFT);
    }

    /** Memory that a buffer for so many bytes really has. */
    static long roundedBytes(long bytes) {
        return bytesOf(classOf(bytes));
    }

    /** A buffer of at least so many bytes; waits, in turn, until there is one. */
    MemorySegment take(long bytes) throws InterruptedException {
        int sizeClass = classOf(bytes);
        units.acquire(unitsOf(sizeClass));
        return buffer(sizeClass);
    }

    /** The same, but waits only so long; null if there is none then. With 0 nanoseconds nobody who waits is passed over. */
    @Nullable
    MemorySegment take(long bytes, long nanos) throws InterruptedException {
        int sizeClass = classOf(bytes);
        return units.tryAcquire(unitsOf(sizeClass), nanos, TimeUnit.NANOSECONDS) ? buffer(sizeClass) : null;
    }

    private MemorySegment buffer(int sizeClass) {
        Idle pile = idle.get(sizeClass);
        MemorySegment buffer;
        synchronized (idle) {
            buffer = pile.buffers.pollLast();
            pile.fewest = Math.min(pile.fewest, pile.buffers.size());
        }
        if (buffer != null) {
            return buffer;
        }
        boolean made = false;
        try {
            // The collector gives it back to the system: no owner is left to do it when a server ends beside its
            // handlers.
            buffer = Arena.ofAuto().allocate(bytesOf(sizeClass), 1L << SMALLEST_SHIFT);
            made = true;
            return buffer;
        } finally {
            if (!made) {
                units.release(unitsOf(sizeClass));
            }
        }
    }

    /** Takes a buffer back, whole as it was given out. */
    void giveBack(MemorySegment buffer) {
        int sizeClass = classOf(buffer.byteSize());
        synchronized (idle) {
            idle.get(sizeClass).buffers.addLast(buffer);
        }
        units.release(unitsOf(sizeClass));
    }

    /** Lets go of buffers that were not needed since the last time. */
    void trim() {
        synchronized (idle) {
            for (Idle pile : idle) {
                for (int i = 0; i < pile.fewest; i++) {
                    pile.buffers.pollFirst();
                }
                pile.fewest = pile.buffers.size();
            }
        }
    }

    /** Bytes that can be taken. */
    long availableBytes() {
        return (long) units.availablePermits() << UNIT_SHIFT;
    }
}
