// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.connection;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.ProtectionDomain;

/** Equal buffers in one registered piece of native memory. The numbers of free ones are kept on a stack. Used inside the monitor. */
final class BufferSlab {

    private static final int ALIGNMENT = 64;

    private final Arena arena = Arena.ofShared();
    private final MemoryRegion region;
    private final MemorySegment[] buffers;
    private final int[] free;
    private final int bufferBytes;
    private int freeCount;

    BufferSlab(ProtectionDomain domain, int count, int bufferBytes, Access access) {
        this.bufferBytes = bufferBytes;
        MemorySegment whole = arena.allocate(Math.multiplyExact((long) count, bufferBytes), ALIGNMENT);
        buffers = new MemorySegment[count];
        free = new int[count];
        for (int i = 0; i < count; i++) {
            buffers[i] = whole.asSlice((long) i * bufferBytes, bufferBytes);
            free[i] = count - 1 - i;
        }
        freeCount = count;
        region = registered(domain, whole, access);
    }

    private MemoryRegion registered(ProtectionDomain domain, MemorySegment whole, Access access) {
        try {
            return domain.register(whole, access);
        } catch (RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    /** A free buffer's number, or -1. */
    int take() {
        return freeCount == 0 ? -1 : free[--freeCount];
    }

    void giveBack(int buffer) {
        free[freeCount++] = buffer;
    }

    int available() {
        return freeCount;
    }

    MemoryRegion region() {
        return region;
    }

    MemorySegment memory(int buffer) {
        return buffers[buffer];
    }

    long offset(int buffer) {
        return (long) buffer * bufferBytes;
    }

    int bufferBytes() {
        return bufferBytes;
    }

    /** After the queue pair is closed: ends the registration and frees the memory. ORDER: memory that stays registered is never freed. */
    void close() {
        region.close();
        arena.close();
    }
}
