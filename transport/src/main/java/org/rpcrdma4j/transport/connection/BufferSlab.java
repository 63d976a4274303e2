// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.connection;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.ProtectionDomain;

/**
 * Equal buffers in one registered piece of native memory. The numbers of free ones are kept on a stack. Used inside the monitor.
 *
 * <p>The memory itself belongs to the collector: a handler may be reading a message when the connection ends, and must not find its memory
 * gone.
 */
final class BufferSlab {

    private static final int ALIGNMENT = 64;
    private static final Queue<MemorySegment> STILL_REGISTERED = new ConcurrentLinkedQueue<>();

    private final MemoryRegion region;
    private final MemorySegment[] buffers;
    private final int[] free;
    private final int bufferBytes;
    private int freeCount;

    BufferSlab(ProtectionDomain domain, int count, int bufferBytes, Access access) {
        this.bufferBytes = bufferBytes;
        MemorySegment whole = allocated(Math.multiplyExact((long) count, bufferBytes));
        buffers = new MemorySegment[count];
        free = new int[count];
        for (int i = 0; i < count; i++) {
            buffers[i] = whole.asSlice((long) i * bufferBytes, bufferBytes);
            free[i] = count - 1 - i;
        }
        freeCount = count;
        region = domain.register(whole, access);
    }

    /** Want of memory is a connection that does not come about, not the end of the thread that makes it. */
    private static MemorySegment allocated(long bytes) {
        try {
            return Arena.ofAuto().allocate(bytes, ALIGNMENT);
        } catch (OutOfMemoryError e) {
            throw new IllegalStateException("no native memory for " + bytes + " bytes of buffers", e);
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

    /**
     * After the queue pair is closed: ends the registration. The memory is freed when nobody can reach it any more. ORDER: memory that
     * stays registered, because the device fails to end that, is never freed.
     */
    void close() {
        try {
            region.close();
        } catch (RuntimeException e) {
            STILL_REGISTERED.add(buffers[0]);
            throw e;
        }
    }
}
