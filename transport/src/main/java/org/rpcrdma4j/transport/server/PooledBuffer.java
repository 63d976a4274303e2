// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.ProtectionDomain;

/**
 * A piece of registered native memory of a {@link ConnectionMemory}. Owned by the pool while it is free, by a request between taking and
 * giving back.
 */
final class PooledBuffer {

    private static final System.Logger LOG = System.getLogger(PooledBuffer.class.getName());
    private static final int ALIGNMENT = 64;

    final int sizeClass;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;
    private MemorySegment lastPart;
    private final MemoryRegion region;
    private boolean isKept;
    /** When it was used last, by the pool's count of trims. */
    int lastUse;
    /** Where it stands in the pool's list of those in use. */
    int place;

    /**
     * Allocates and registers.
     *
     * @throws IllegalStateException if the domain is closed or the device is short of regions
     */
    PooledBuffer(int sizeClass, long bytes, ProtectionDomain domain, Access access) {
        this.sizeClass = sizeClass;
        try {
            memory = arena.allocate(bytes, ALIGNMENT);
            region = domain.register(memory, access);
        } catch (IllegalStateException | OutOfMemoryError e) {
            arena.close();
            throw e;
        }
        lastPart = memory;
    }

    MemorySegment memory() {
        return memory;
    }

    /** So many bytes of it. Requests of one size come again and again, so the last answer is kept. */
    MemorySegment memory(long bytes) {
        MemorySegment part = lastPart;
        if (part.byteSize() != bytes) {
            part = memory.asSlice(0, bytes);
            lastPart = part;
        }
        return part;
    }

    MemoryRegion region() {
        return region;
    }

    /** Whether the memory lies in this buffer. */
    boolean holds(MemorySegment piece) {
        long offset = piece.address() - memory.address();
        return piece.isNative() && offset >= 0 && offset + piece.byteSize() <= memory.byteSize();
    }

    /** Where it lies, if {@link #holds}. */
    long offsetOf(MemorySegment piece) {
        return piece.address() - memory.address();
    }

    /** After this no device and no peer uses it; whoever took it still may. */
    void closeRegion() {
        isKept = !closed(region);
    }

    /**
     * Ends a registration. Returns false if the device fails to: then it keeps the region and may still touch the memory, which must not
     * be freed.
     */
    static boolean closed(MemoryRegion region) {
        try {
            region.close();
            return true;
        } catch (IllegalStateException e) {
            LOG.log(Level.WARNING, "a region could not be deregistered and is lost with its memory", e);
            return false;
        }
    }

    /** After {@link #closeRegion}. */
    void freeMemory() {
        if (!isKept) {
            arena.close();
        }
    }
}
