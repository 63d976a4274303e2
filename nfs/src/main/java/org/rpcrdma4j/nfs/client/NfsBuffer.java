// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Native memory of a volume's, on loan. Whoever has it uses it alone, by one thread at a time, until it is closed or handed on to a {@link
 * NfsWriter}; then it must not be touched any more.
 */
public final class NfsBuffer implements AutoCloseable {

    private final MemorySegment memory;
    private final BufferPool pool;
    private final AtomicBoolean lent = new AtomicBoolean(true);
    private long offset;
    private int length;

    NfsBuffer(MemorySegment memory, BufferPool pool) {
        this.memory = memory;
        this.pool = pool;
    }

    /** All of its memory. */
    public MemorySegment memory() {
        return memory;
    }

    /** Where in the file its data comes from; set by {@link NfsReader#next}. */
    public long offset() {
        return offset;
    }

    /** Bytes of data from its start on; set by {@link NfsReader#next}. */
    public int length() {
        return length;
    }

    /** The data. */
    public MemorySegment data() {
        return memory.asSlice(0, length);
    }

    NfsBuffer filled(long newOffset, int newLength) {
        offset = newOffset;
        length = newLength;
        return this;
    }

    /** Gives it back; a second time does nothing. */
    @Override
    public void close() {
        if (lent.compareAndSet(true, false)) {
            pool.giveBack(memory);
        }
    }

    @Override
    public String toString() {
        return "NfsBuffer[" + length + " of " + memory.byteSize() + " bytes at " + offset + "]";
    }
}
