// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.StableHow;

/**
 * Writes a file with many WRITEs in flight. Data is kept until the server has it on stable storage: if the server restarts and forgets what
 * was not committed, it is written again.
 *
 * <p>Nothing is sure before {@link #flush} or {@link #close} has returned. After a failure every further call fails with the same one.
 *
 * <p>Any thread may call any method; one at a time works, others wait.
 */
public final class NfsWriter implements AutoCloseable {

    private final NfsFile file;
    private final String subject;
    private final BufferPool buffers;
    private final WriteBehind behind;
    private final ReentrantLock lock = new ReentrantLock();
    /** The block that small pieces are gathered in; null if there is none. */
    private @Nullable WriteBlock gathering;

    private boolean closed;

    NfsWriter(
            NfsClient client, NfsFile file, String subject, int writeBytes, MountOptions options, BufferPool buffers) {
        this.file = file;
        this.subject = subject;
        this.buffers = buffers;
        behind = new WriteBehind(client, file.handle(), subject, writeBytes, options);
    }

    /** The file, as it was when the writer was made. */
    public NfsFile file() {
        return file;
    }

    /**
     * A buffer to be filled and handed to {@link #write(long, NfsBuffer, int)}, so that nothing is copied. Waits while as much is in flight
     * or uncommitted as may be.
     *
     * @throws IOException what failed before
     */
    public NfsBuffer buffer() throws IOException {
        behind.awaitRoom();
        return buffers.take();
    }

    /**
     * Writes the first bytes of a buffer that {@link #buffer} gave, or a reader; it becomes the writer's, also if this fails.
     *
     * @throws IOException what failed before
     */
    public void write(long offset, NfsBuffer buffer, int length) throws IOException {
        boolean isTaken = false;
        try {
            requireRange(offset, length);
            if (length > buffer.memory().byteSize()) {
                throw new IllegalArgumentException(length + " bytes of " + buffer);
            }
            if (length == 0) {
                return;
            }
            lock.lock();
            try {
                requireOpen();
                pushGathering(false);
                behind.awaitRoom();
                separate(offset, length);
                isTaken = true;
                behind.submit(new WriteBlock(offset, buffer, length));
            } finally {
                lock.unlock();
            }
        } finally {
            if (!isTaken) {
                buffer.close();
            }
        }
    }

    /**
     * Writes a copy of the bytes. Small pieces in order are gathered. Waits while as much is in flight or uncommitted as may be.
     *
     * @throws IOException what failed before
     */
    public void write(long offset, MemorySegment data) throws IOException {
        requireRange(offset, data.byteSize());
        lock.lock();
        try {
            requireOpen();
            long done = 0;
            while (done < data.byteSize()) {
                WriteBlock block = blockFor(offset + done, data.byteSize() - done);
                done += block.append(data, done);
                if (block.isFull(buffers.bufferBytes())) {
                    pushGathering(false);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #write(long, MemorySegment)}, from a buffer's remaining bytes, whose position moves on. */
    public void write(long offset, ByteBuffer data) throws IOException {
        write(offset, MemorySegment.ofBuffer(data));
        data.position(data.limit());
    }

    /** The block that goes on at the offset, or a new one. */
    private WriteBlock blockFor(long offset, long length) throws IOException {
        WriteBlock block = gathering;
        if (block != null && block.end() == offset && !behind.overlaps(offset, length)) {
            return block;
        }
        pushGathering(false);
        behind.awaitRoom();
        separate(offset, length);
        block = new WriteBlock(offset, buffers.take(), 0);
        gathering = block;
        return block;
    }

    /** WRITEs overtake each other, so two of the same bytes are never under way. */
    private void separate(long offset, long length) throws IOException {
        if (behind.overlaps(offset, length)) {
            behind.drain();
        }
    }

    private void pushGathering(boolean isLast) throws IOException {
        WriteBlock block = gathering;
        gathering = null;
        if (block == null) {
            return;
        }
        // One WRITE that is stable at once is less than a WRITE and a COMMIT.
        if (isLast && behind.isEmpty()) {
            block.how = StableHow.FILE_SYNC;
        }
        behind.submit(block);
    }

    /**
     * Waits until everything that was written is on the server's stable storage.
     *
     * @throws IOException if that is not so
     */
    public void flush() throws IOException {
        lock.lock();
        try {
            requireOpen();
            pushGathering(true);
            behind.drain();
        } finally {
            lock.unlock();
        }
    }

    /** Gives up: what is not written yet is not written. {@link #close} then does nothing and throws nothing. */
    public void abort() {
        // ORDER: whoever has the lock and waits is woken by this first.
        behind.abort(new IOException("cannot write " + subject + ": given up"));
        lock.lock();
        try {
            end();
        } finally {
            lock.unlock();
        }
    }

    /** {@link #flush}, and gives back all memory, whatever becomes of that. */
    @Override
    public void close() throws IOException {
        lock.lock();
        try {
            if (!closed) {
                try {
                    flush();
                } finally {
                    end();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private void end() {
        closed = true;
        WriteBlock block = gathering;
        gathering = null;
        if (block != null) {
            block.release();
        }
        behind.abort(new IOException("cannot write " + subject + ": the writer is closed"));
    }

    private void requireOpen() throws IOException {
        if (closed) {
            throw new IOException("cannot write " + subject + ": the writer is closed");
        }
    }

    private static void requireRange(long offset, long length) {
        if (offset < 0 || length < 0 || offset > Long.MAX_VALUE - length) {
            throw new IllegalArgumentException("cannot write " + length + " bytes at " + offset);
        }
    }
}
