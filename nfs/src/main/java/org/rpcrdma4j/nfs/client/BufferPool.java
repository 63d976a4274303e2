// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Native memory for readers and writers, of one size, used again and again. How much is lent is bounded by those who borrow: each reader
 * and writer has limits of its own; the pool keeps a bounded number that nobody has. Used by any number of threads.
 */
final class BufferPool implements AutoCloseable {

    private static final long ALIGNMENT = 4096;

    private final int bufferBytes;
    private final int mostIdle;
    private final Deque<MemorySegment> idle = new ArrayDeque<>();
    private int lent;
    private boolean closed;

    BufferPool(int bufferBytes, int mostIdle) {
        this.bufferBytes = bufferBytes;
        this.mostIdle = mostIdle;
    }

    int bufferBytes() {
        return bufferBytes;
    }

    /** A buffer; its contents are whatever was there. */
    NfsBuffer take() {
        MemorySegment memory;
        synchronized (this) {
            memory = idle.pollFirst();
            lent++;
        }
        return new NfsBuffer(memory == null ? Arena.ofAuto().allocate(bufferBytes, ALIGNMENT) : memory, this);
    }

    synchronized void giveBack(MemorySegment memory) {
        lent--;
        if (!closed && idle.size() < mostIdle) {
            idle.addFirst(memory);
        }
    }

    /** Buffers that somebody has. */
    synchronized int lent() {
        return lent;
    }

    /** Lets go of what nobody has, and of what is lent when it comes back. */
    @Override
    public synchronized void close() {
        closed = true;
        idle.clear();
    }
}
