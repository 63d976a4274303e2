// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.GetAttr;
import org.rpcrdma4j.nfs.protocol.NfsException;

/**
 * Reads a file with many READs in flight. Two ways, which can be mixed:
 *
 * <ul>
 *   <li>{@link #next} gives the file's data from its beginning to its end, in order, in buffers that it was placed in; for whole files.
 *   <li>{@link #read} reads from anywhere into the caller's memory; what is large and native is placed there directly, what is small and
 *       in order is read ahead.
 * </ul>
 *
 * <p>What was read ahead is not looked at again for changes: {@link #seek} drops it. Any thread may call any method; one at a time works,
 * others wait.
 */
public final class NfsReader implements AutoCloseable {

    /** The first READ after a jump, so that reading here and there does not ask for much that nobody wants. */
    private static final int FIRST_BYTES = 64 << 10;

    private final NfsClient client;
    private final NfsFile file;
    private final String subject;
    private final int readBytes;
    private final int mostAhead;
    private final ReadAhead stream;
    private final ReentrantLock lock = new ReentrantLock();
    /** What {@link #read} has begun to use up; null if nothing. */
    private @Nullable NfsBuffer current;

    private int window = 1;
    private int askBytes = FIRST_BYTES;
    private boolean closed;

    NfsReader(NfsClient client, NfsFile file, String subject, int readBytes, int mostAhead, BufferPool buffers) {
        this.client = client;
        this.file = file;
        this.subject = subject;
        this.readBytes = readBytes;
        this.mostAhead = mostAhead;
        stream = new ReadAhead(
                client,
                file.handle(),
                subject,
                readBytes,
                buffers,
                file.attributes().size());
    }

    /** The file, as it was when the reader was made. */
    public NfsFile file() {
        return file;
    }

    /** Has {@link #next} go on from here; what was read ahead is dropped. */
    public void seek(long offset) {
        if (offset < 0) {
            throw new IllegalArgumentException("negative offset " + offset);
        }
        lock.lock();
        try {
            jump(offset);
        } finally {
            lock.unlock();
        }
    }

    private void jump(long offset) {
        letGo();
        stream.restart(offset);
        window = 1;
        askBytes = FIRST_BYTES;
    }

    private void letGo() {
        NfsBuffer buffer = current;
        current = null;
        if (buffer != null) {
            buffer.close();
        }
    }

    /**
     * The next data, at most {@link NfsLimits#readBytes} of it; null at the end of the file. The caller closes the buffer, and should have
     * no more than a few of them: each is one READ that is not in flight.
     *
     * @throws FileTruncatedException if the file ends before the size that it had when the reader was made
     * @throws IOException if the server refuses, or is not to be had
     */
    public @Nullable NfsBuffer next() throws IOException {
        lock.lock();
        try {
            requireOpen();
            letGo();
            if (stream.hasEnded()) {
                return null;
            }
            stream.ask(mostAhead, readBytes);
            ReadAhead.Taken taken = stream.take();
            boolean isGood = false;
            try {
                if (taken.filled().endOfFile()
                        && stream.position() < file.attributes().size()) {
                    throw tooShort(taken.filled().attributes());
                }
                isGood = taken.filled().length() > 0;
            } finally {
                if (!isGood) {
                    taken.buffer().close();
                }
            }
            stream.ask(mostAhead, readBytes);
            return isGood ? taken.buffer() : null;
        } finally {
            lock.unlock();
        }
    }

    /** The server says that the file ends here, which is before the size that it had. */
    private IOException tooShort(@Nullable Attributes seen) throws IOException {
        Attributes attributes = seen;
        if (attributes == null) {
            GetAttr.Results results =
                    Waiting.results(client.getAttributes(new GetAttr.Arguments(file.handle())), "read", subject);
            if (!(results instanceof GetAttr.Ok ok)) {
                throw new NfsException(results.status(), "read", subject);
            }
            attributes = ok.attributes();
        }
        long expected = file.attributes().size();
        return attributes.size() < expected
                ? new FileTruncatedException(subject, expected, attributes.size())
                : new CallFailedException(
                        "read",
                        subject,
                        "the server says that it ends at " + stream.position() + ", and that it has "
                                + attributes.size() + " bytes");
    }

    /**
     * Reads from a place into memory, as much as it takes or the file has.
     *
     * @return how much was read; -1 if the file ends at or before the offset. Less than the memory takes only at the end of the file
     * @throws IOException if the server refuses, or is not to be had
     */
    public long read(long offset, MemorySegment into) throws IOException {
        if (offset < 0) {
            throw new IllegalArgumentException("negative offset " + offset);
        }
        lock.lock();
        try {
            requireOpen();
            if (into.byteSize() == 0) {
                return 0;
            }
            long done = into.isNative() && into.byteSize() >= readBytes
                    ? readDirectly(offset, into)
                    : readStream(offset, into);
            return done == 0 ? -1 : done;
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #read(long, MemorySegment)}, into a buffer's remaining bytes, whose position moves on. */
    public int read(long offset, ByteBuffer into) throws IOException {
        int done = (int) read(offset, MemorySegment.ofBuffer(into));
        if (done > 0) {
            into.position(into.position() + done);
        }
        return done;
    }

    /** READs straight into the memory, many at a time. None of them is under way any more when this returns or throws. */
    private long readDirectly(long offset, MemorySegment into) throws IOException {
        Deque<ChunkRead> underWay = new ArrayDeque<>();
        long asked = 0;
        long done = 0;
        boolean isEnd = false;
        try {
            while (!isEnd && done < into.byteSize()) {
                while (asked < into.byteSize()
                        && underWay.size() < mostAhead
                        && (underWay.isEmpty()
                                || offset + asked < file.attributes().size())) {
                    long length = Math.min(readBytes, into.byteSize() - asked);
                    underWay.addLast(
                            new ChunkRead(client, file.handle(), subject, offset + asked, into.asSlice(asked, length))
                                    .start());
                    asked += length;
                }
                ChunkRead first = underWay.getFirst();
                ChunkRead.Filled filled = Waiting.await(first, "read", subject);
                underWay.removeFirst();
                done += filled.length();
                isEnd = filled.endOfFile();
            }
            return done;
        } finally {
            // ORDER: the memory is the caller's; nobody may write to it once this has returned.
            underWay.forEach(read -> read.cancel(false));
            underWay.forEach(NfsReader::settle);
        }
    }

    /** Waits for the end of a read that was given up, whatever it is. */
    private static void settle(ChunkRead read) {
        var _ = read.handle((filled, failure) -> true).join();
    }

    private long readStream(long offset, MemorySegment into) throws IOException {
        long done = 0;
        while (done < into.byteSize()) {
            NfsBuffer buffer = bufferAt(offset + done);
            if (buffer == null) {
                break;
            }
            long from = offset + done - buffer.offset();
            long length = Math.min(into.byteSize() - done, buffer.length() - from);
            MemorySegment.copy(buffer.memory(), from, into, done, length);
            done += length;
        }
        return done;
    }

    /** The buffer that holds the byte at the offset; null if the file ends before it. */
    private @Nullable NfsBuffer bufferAt(long offset) throws IOException {
        NfsBuffer held = current;
        if (held != null && offset >= held.offset() && offset < held.offset() + held.length()) {
            return held;
        }
        if (offset != stream.position() || stream.hasEnded()) {
            jump(offset);
        }
        letGo();
        stream.ask(window, askBytes);
        ReadAhead.Taken taken = stream.take();
        if (taken.filled().length() == 0) {
            taken.buffer().close();
            return null;
        }
        // Whoever reads on in order gets more and more ahead.
        window = Math.min(mostAhead, 2 * window);
        askBytes = Math.min(readBytes, 2 * askBytes);
        stream.ask(window, askBytes);
        current = taken.buffer();
        return current;
    }

    private void requireOpen() throws IOException {
        if (closed) {
            throw new IOException("cannot read " + subject + ": the reader is closed");
        }
    }

    /** Gives up what is in flight, and gives back all memory but the buffers that the caller has. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            letGo();
            stream.drop();
        } finally {
            lock.unlock();
        }
    }
}
