// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Native memory for results of calls that named none of their own. Buffers have sizes of powers of two and are kept for the next call, up to a
 * bound; what is beyond it, or is not given back, goes with the garbage. Any thread may call any method.
 */
final class ReplyMemory {

    private static final int SMALLEST_SHIFT = 12;
    private static final int SIZES = 20;
    private static final long PAGE = 4096;

    private final long mostKept;
    private final ArrayDeque<MemorySegment>[] kept;
    private long keptBytes;
    private final AtomicLong takenBuffers = new AtomicLong();

    ReplyMemory(long mostKeptBytes) {
        mostKept = mostKeptBytes;
        @SuppressWarnings({"unchecked", "rawtypes"}) // arrays of generic types cannot be made otherwise
        ArrayDeque<MemorySegment>[] queues = new ArrayDeque[SIZES];
        for (int i = 0; i < SIZES; i++) {
            queues[i] = new ArrayDeque<>();
        }
        kept = queues;
    }

    private static int sizeClass(long bytes) {
        int shift = bytes <= 1 ? 0 : Long.SIZE - Long.numberOfLeadingZeros(bytes - 1);
        return Math.max(0, shift - SMALLEST_SHIFT);
    }

    /** Memory of at least so many bytes; not zeroed. */
    MemorySegment take(long bytes) {
        int size = sizeClass(bytes);
        if (size >= SIZES) {
            throw new IllegalArgumentException(bytes + " bytes for one result");
        }
        takenBuffers.incrementAndGet();
        synchronized (kept) {
            MemorySegment buffer = kept[size].poll();
            if (buffer != null) {
                keptBytes -= buffer.byteSize();
                return buffer;
            }
        }
        return Arena.ofAuto().allocate(1L << (SMALLEST_SHIFT + size), PAGE);
    }

    /** Takes back what {@link #take} gave; nobody uses it any more. */
    void giveBack(MemorySegment buffer) {
        takenBuffers.decrementAndGet();
        synchronized (kept) {
            if (keptBytes + buffer.byteSize() <= mostKept) {
                keptBytes += buffer.byteSize();
                kept[sizeClass(buffer.byteSize())].push(buffer);
            }
        }
    }

    /** Leaves it to whoever still refers to it. */
    void letGo() {
        takenBuffers.decrementAndGet();
    }

    /** Buffers that are with calls and leases. */
    long taken() {
        return takenBuffers.get();
    }
}
