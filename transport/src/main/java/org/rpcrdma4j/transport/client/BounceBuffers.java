// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.event.Counters;

/**
 * Native memory that stands in for memory that cannot be registered: pieces of power-of-two sizes, kept for the next call. What was
 * taken is given back exactly once, when no region covers it any more. May be used by any thread.
 *
 * <p>What is above a bound is not kept. Memory is freed by the collector, so that a late user can never meet freed memory.
 */
final class BounceBuffers {

    private static final int SMALLEST_BITS = 12;
    private static final int PAGE_BYTES = 4096;
    private static final int SIZES = 20;
    private static final long MOST_KEPT_BYTES = 64L << 20;

    private final List<ArrayDeque<MemorySegment>> free = new ArrayList<>(SIZES);
    private long takenBytes;
    private long keptBytes;
    private final Counters<ClientCounter> counters;

    BounceBuffers(Counters<ClientCounter> counters) {
        this.counters = counters;
        for (int i = 0; i < SIZES; i++) {
            free.add(new ArrayDeque<>());
        }
    }

    /** Memory of at least so many bytes, with whatever was in it before. */
    synchronized MemorySegment take(long bytes) {
        int size = sizeIndex(bytes);
        MemorySegment buffer = free.get(size).poll();
        long capacity = 1L << (size + SMALLEST_BITS);
        if (buffer != null) {
            keptBytes -= capacity;
        } else {
            buffer = Arena.ofAuto().allocate(capacity, PAGE_BYTES);
            counters.add(ClientCounter.HARDWAY_BYTES, capacity);
        }
        takenBytes += capacity;
        return buffer;
    }

    /** Gives back what {@link #take} gave, the whole of it. */
    synchronized void giveBack(MemorySegment buffer) {
        takenBytes -= buffer.byteSize();
        if (keptBytes + buffer.byteSize() <= MOST_KEPT_BYTES) {
            keptBytes += buffer.byteSize();
            free.get(sizeIndex(buffer.byteSize())).push(buffer);
        }
    }

    /** Bytes that are out. */
    synchronized long takenBytes() {
        return takenBytes;
    }

    private static int sizeIndex(long bytes) {
        int bits = Long.SIZE - Long.numberOfLeadingZeros(Math.max(1, bytes) - 1);
        return Math.max(0, bits - SMALLEST_BITS);
    }
}
