// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Reads a file with many READs in flight. Two ways, which can be mixed:
 *
 * <ul>
 *   <li>{@link #next} gives the file's data from its beginning to its end, in order, in buffers that it was placed in; for whole files.
 *   <li>{@link #read} reads from anywhere into the caller's memory; what is large and native is placed there directly, what is small and
 *       in order is read ahead.
 * </ul>
 *
 * <p>Any thread may call any method; one at a time works, others wait.
 */
public final class NfsReader implements AutoCloseable {

    NfsReader() {}

    /** The file, as it was when the reader was made. */
    public NfsFile file() {
        return NotYet.value();
    }

    /** Has {@link #next} go on from here; what was read ahead is dropped. */
    public void seek(long offset) {
        NotYet.value();
    }

    /**
     * The next data, at most {@link NfsLimits#readBytes} of it; null at the end of the file. The caller closes the buffer, and should have
     * no more than a few of them: each is one READ that is not in flight.
     *
     * @throws FileTruncatedException if the file ends before the size that it had when the reader was made
     * @throws IOException if the server refuses, or is not to be had
     */
    public @Nullable NfsBuffer next() throws IOException {
        return NotYet.value();
    }

    /**
     * Reads from a place into memory, as much as it takes or the file has.
     *
     * @return how much was read; -1 if the file ends at or before the offset. Less than the memory takes only at the end of the file
     * @throws IOException if the server refuses, or is not to be had
     */
    public long read(long offset, MemorySegment into) throws IOException {
        return NotYet.value();
    }

    /** As {@link #read(long, MemorySegment)}, into a buffer's remaining bytes, whose position moves on. */
    public int read(long offset, ByteBuffer into) throws IOException {
        return NotYet.value();
    }

    /** Gives up what is in flight, and gives back all memory but the buffers that the caller has. */
    @Override
    public void close() {}
}
