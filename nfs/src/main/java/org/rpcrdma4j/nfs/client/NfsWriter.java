// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * Writes a file with many WRITEs in flight. Data is kept until the server has it on stable storage: if the server restarts and forgets what
 * was not committed, it is written again.
 *
 * <p>Nothing is sure before {@link #flush} or {@link #close} has returned. After a failure every further call fails with the same one.
 *
 * <p>Any thread may call any method; one at a time works, others wait.
 */
public final class NfsWriter implements AutoCloseable {

    NfsWriter() {}

    /** The file, as it was when the writer was made. */
    public NfsFile file() {
        return NotYet.value();
    }

    /**
     * A buffer to be filled and handed to {@link #write(long, NfsBuffer, int)}, so that nothing is copied. Waits while as much is in flight
     * or uncommitted as may be.
     *
     * @throws IOException what failed before
     */
    public NfsBuffer buffer() throws IOException {
        return NotYet.value();
    }

    /**
     * Writes the first bytes of a buffer that {@link #buffer} gave, or a reader; it becomes the writer's.
     *
     * @throws IOException what failed before
     */
    public void write(long offset, NfsBuffer buffer, int length) throws IOException {
        NotYet.value();
    }

    /**
     * Writes a copy of the bytes. Small pieces in order are gathered. Waits while as much is in flight or uncommitted as may be.
     *
     * @throws IOException what failed before
     */
    public void write(long offset, MemorySegment data) throws IOException {
        NotYet.value();
    }

    /** As {@link #write(long, MemorySegment)}, from a buffer's remaining bytes, whose position moves on. */
    public void write(long offset, ByteBuffer data) throws IOException {
        NotYet.value();
    }

    /**
     * Waits until everything that was written is on the server's stable storage.
     *
     * @throws IOException if that is not so
     */
    public void flush() throws IOException {
        NotYet.value();
    }

    /** Gives up: what is not written yet is not written. {@link #close} then does nothing and throws nothing. */
    public void abort() {
        NotYet.value();
    }

    /** {@link #flush}, and gives back all memory, whatever becomes of that. */
    @Override
    public void close() throws IOException {
        NotYet.value();
    }
}
