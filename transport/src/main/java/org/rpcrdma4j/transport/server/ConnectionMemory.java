// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.ProtectionDomain;

/**
 * One connection's registered memory for arguments and results: buffers in size classes, kept for the next request, given back when
 * they were not used for a while; and registrations of a program's own memory for single replies.
 *
 * <p>Closing ends all registrations at once, those of buffers in use too; their memory is freed when they come back, since a request that
 * is still being worked on may touch it.
 *
 * <p>Any thread. Inside the connection's monitor only {@link #takeFree}, {@link #giveBack} and {@link #close} may be called; nothing here
 * enters the monitor.
 */
final class ConnectionMemory {

    private static final System.Logger LOG = System.getLogger(ConnectionMemory.class.getName());
    private static final int SMALLEST = 4096;
    private static final int STEPS_PER_DOUBLING = 4;
    private static final int CLASSES = STEPS_PER_DOUBLING * 14;
    private static final int TRIMS_KEPT = 2;

    private final ProtectionDomain domain;
    private final Access access;
    private final long maxBytes;
    private final List<ArrayDeque<PooledBuffer>> free = new ArrayList<>();
    private final ArrayList<PooledBuffer> inUse = new ArrayList<>();
    private final Set<MemoryRegion> foreign = new HashSet<>();
    /** Held for reading while a registration is made or ended, so that {@link #close} sees all. */
    private final ReentrantReadWriteLock gate = new ReentrantReadWriteLock();

    private long bytes;
    private int trims;
    private boolean closed;

    /**
     * An empty pool.
     *
     * @param access the rights on its buffers: those of the sink of an RDMA Read
     * @param maxBytes how much it holds at most, free buffers included, as long as those can make room
     */
    ConnectionMemory(ProtectionDomain domain, Access access, long maxBytes) {
        this.domain = domain;
        this.access = access;
        this.maxBytes = maxBytes;
        for (int i = 0; i < CLASSES; i++) {
            free.add(new ArrayDeque<>());
        }
    }

    private static long classBytes(int sizeClass) {
        long base = (long) SMALLEST << (sizeClass / STEPS_PER_DOUBLING);
        return base + base / STEPS_PER_DOUBLING * (sizeClass % STEPS_PER_DOUBLING);
    }

    /** The smallest class that holds so many bytes. */
    private static int classOf(long bytes) {
        int low = 0;
        int high = CLASSES - 1;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (classBytes(middle) >= bytes) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    /** Most bytes that can be had in one buffer. */
    static long largestBuffer() {
        return classBytes(CLASSES - 1);
    }

    /** A free buffer of at least so many bytes, or null: then {@link #take} may have to make one. */
    @Nullable
    PooledBuffer takeFree(long wanted) {
        synchronized (free) {
            PooledBuffer buffer = closed ? null : free.get(classOf(wanted)).pollFirst();
            if (buffer != null) {
                addInUse(buffer);
            }
            return buffer;
        }
    }

    private void addInUse(PooledBuffer buffer) {
        buffer.place = inUse.size();
        inUse.add(buffer);
    }

    /** The last one moves to its place. */
    private void removeInUse(PooledBuffer buffer) {
        PooledBuffer last = inUse.removeLast();
        if (last != buffer) {
            inUse.set(buffer.place, last);
            last.place = buffer.place;
        }
    }

    /** A buffer of at least so many bytes, made if none is free; null if the device is short of something, or the connection ended. */
    @Nullable
    PooledBuffer take(long wanted) {
        PooledBuffer buffer = wanted > largestBuffer() ? null : takeFree(wanted);
        if (buffer != null || wanted > largestBuffer()) {
            return buffer;
        }
        int sizeClass = classOf(wanted);
        gate.readLock().lock();
        try {
            if (closed) {
                return null;
            }
            destroyAll(makeRoom(classBytes(sizeClass)));
            buffer = create(sizeClass);
            if (buffer != null) {
                synchronized (free) {
                    bytes += classBytes(sizeClass);
                    addInUse(buffer);
                }
            }
            return buffer;
        } finally {
            gate.readLock().unlock();
        }
    }

    private List<PooledBuffer> makeRoom(long wanted) {
        List<PooledBuffer> unused = new ArrayList<>();
        synchronized (free) {
            for (int i = CLASSES - 1; i >= 0 && bytes + wanted > maxBytes; i--) {
                removeFree(i, Integer.MAX_VALUE, unused);
            }
        }
        return unused;
    }

    private @Nullable PooledBuffer create(int sizeClass) {
        long size = classBytes(sizeClass);
        try {
            return new PooledBuffer(sizeClass, size, domain, access);
        } catch (IllegalStateException | OutOfMemoryError e) {
            // Counted where it is missed; a client could have this written as often as it calls.
            LOG.log(Level.DEBUG, "no registered buffer of " + size + " bytes", e);
            return null;
        }
    }

    /** Takes a buffer back; nothing that was posted names it any more. */
    void giveBack(PooledBuffer buffer) {
        synchronized (free) {
            removeInUse(buffer);
            buffer.lastUse = trims;
            if (closed) {
                bytes -= classBytes(buffer.sizeClass);
                buffer.freeMemory();
            } else {
                free.get(buffer.sizeClass).addFirst(buffer);
            }
        }
    }

    /** Registers a program's memory as a source of RDMA Writes; null if that is not possible. */
    @Nullable
    MemoryRegion registerForeign(MemorySegment memory) {
        gate.readLock().lock();
        try {
            if (closed) {
                return null;
            }
            MemoryRegion region = domain.register(memory, Access.LOCAL_READ);
            synchronized (free) {
                foreign.add(region);
            }
            return region;
        } catch (IllegalStateException | IllegalArgumentException e) {
            LOG.log(Level.DEBUG, "memory of a reply cannot be registered, so it is copied", e);
            return null;
        } finally {
            gate.readLock().unlock();
        }
    }

    /** Ends such a registration. May wait for the device, so not inside the monitor. */
    void deregister(MemoryRegion region) {
        gate.readLock().lock();
        try {
            synchronized (free) {
                foreign.remove(region);
            }
            PooledBuffer.closed(region);
        } finally {
            gate.readLock().unlock();
        }
    }

    /** Gives back what was not used since the last call but one. Not inside the monitor. */
    void trim() {
        List<PooledBuffer> unused = new ArrayList<>();
        gate.readLock().lock();
        try {
            synchronized (free) {
                trims++;
                for (int i = 0; i < CLASSES; i++) {
                    removeFree(i, trims - TRIMS_KEPT, unused);
                }
            }
            destroyAll(unused);
        } finally {
            gate.readLock().unlock();
        }
    }

    private void removeFree(int sizeClass, int notUsedSince, List<PooledBuffer> into) {
        ArrayDeque<PooledBuffer> buffers = free.get(sizeClass);
        // The one used longest ago is last.
        while (!buffers.isEmpty() && buffers.getLast().lastUse <= notUsedSince) {
            into.add(buffers.removeLast());
            bytes -= classBytes(sizeClass);
        }
    }

    private static void destroyAll(List<PooledBuffer> buffers) {
        for (PooledBuffer buffer : buffers) {
            // ORDER: the registration ends before the memory does.
            buffer.closeRegion();
            buffer.freeMemory();
        }
    }

    /** Whether there is anything to trim. */
    boolean isEmpty() {
        return bytes() == 0;
    }

    /** Bytes of all buffers, free or not. */
    long bytes() {
        synchronized (free) {
            return bytes;
        }
    }

    /** After the queue pair is closed: ends all registrations. Waits for one that is being made. */
    void close() {
        List<PooledBuffer> unused = new ArrayList<>();
        gate.writeLock().lock();
        try {
            synchronized (free) {
                closed = true;
                for (int i = 0; i < CLASSES; i++) {
                    removeFree(i, Integer.MAX_VALUE, unused);
                }
                inUse.forEach(PooledBuffer::closeRegion);
                foreign.forEach(PooledBuffer::closed);
                foreign.clear();
            }
            destroyAll(unused);
        } finally {
            gate.writeLock().unlock();
        }
    }
}
