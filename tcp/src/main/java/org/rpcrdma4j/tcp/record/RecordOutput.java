// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.record;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Writes records to a blocking channel, each as one fragment (RFC 5531, Section 11), with gathering writes from where their pieces lie.
 *
 * <p>Records wait in a queue, whose length whoever submits must bound, and are written in its order: by the thread that runs {@link #run},
 * or by a caller of {@link #submitAndWrite} that finds nobody writing. Those that wait together are written together.
 *
 * <p>Any thread may call any method, except {@link #run}: one thread, from the beginning to the end.
 */
public final class RecordOutput implements Runnable {

    private static final int LAST = 0x8000_0000;
    private static final int BATCH_RECORDS = 16;
    private static final long BATCH_BYTES = 256 << 10;
    private static final long LONGEST_PIECE = 1 << 30;

    private final GatheringByteChannel channel;
    private final Runnable onBroken;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition work = lock.newCondition();
    private final ArrayDeque<OutboundRecord> queue = new ArrayDeque<>();
    private boolean writing;
    private boolean closed;
    private volatile long sentBytes;

    // Used by who writes.
    private final ByteBuffer marks = ByteBuffer.allocateDirect(BATCH_RECORDS * Integer.BYTES);
    private final List<OutboundRecord> batch = new ArrayList<>();
    private final List<ByteBuffer> buffers = new ArrayList<>();

    /** Writes to the channel. {@code onBroken} is run once or more when it can't be written to any more; it has the connection closed. */
    public RecordOutput(GatheringByteChannel channel, Runnable onBroken) {
        this.channel = channel;
        this.onBroken = onBroken;
    }

    /** Bytes given to the channel so far: it grows as long as there is progress. */
    public long sentBytes() {
        return sentBytes;
    }

    /** Whether a record is being written or waits. */
    public boolean isBusy() {
        lock.lock();
        try {
            return writing || !queue.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** Has a record written by the thread that runs this. Doesn't block. Returns false if closed; then nothing of the record is called. */
    public boolean submit(OutboundRecord record) {
        lock.lock();
        try {
            if (closed) {
                return false;
            }
            queue.add(record);
            if (!writing) {
                work.signal();
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #submit}, but writes on the caller's thread, which may block, if nobody writes. */
    public boolean submitAndWrite(OutboundRecord record) {
        lock.lock();
        try {
            if (closed) {
                return false;
            }
            queue.add(record);
            if (writing) {
                return true;
            }
            writing = true;
        } finally {
            lock.unlock();
        }
        drain();
        return true;
    }

    /** Writes until {@link #close}. */
    @Override
    public void run() {
        while (awaitTurn()) {
            drain();
        }
    }

    private boolean awaitTurn() {
        lock.lock();
        try {
            while (!closed && (writing || queue.isEmpty())) {
                work.awaitUninterruptibly();
            }
            writing = !closed;
            return writing;
        } finally {
            lock.unlock();
        }
    }

    /** Takes no more records, and fails those that wait. One that is being written fails when its channel is closed. */
    public void close() {
        List<OutboundRecord> left;
        lock.lock();
        try {
            closed = true;
            left = new ArrayList<>(queue);
            queue.clear();
            work.signalAll();
        } finally {
            lock.unlock();
        }
        left.forEach(OutboundRecord::onFailed);
    }

    private void drain() {
        boolean more = true;
        while (more) {
            boolean whole = false;
            try {
                more = takeBatch();
                if (more) {
                    write();
                }
                whole = true;
            } catch (IOException | RuntimeException e) {
                // Memory that its owner closed is a RuntimeException; the stream may be cut in a record then too.
                close();
            } finally {
                end(whole);
            }
        }
    }

    private void end(boolean whole) {
        buffers.clear();
        // ORDER: told after the last buffer was let go of: the memory is the owner's from here on.
        for (OutboundRecord record : batch) {
            if (whole) {
                record.onWritten();
            } else {
                record.onFailed();
            }
        }
        batch.clear();
        if (!whole) {
            onBroken.run();
        }
    }

    /** Fills the batch; false if there is nothing to write: then nobody writes any more. */
    private boolean takeBatch() {
        long bytes = 0;
        marks.clear();
        while (batch.size() < BATCH_RECORDS && bytes < BATCH_BYTES) {
            OutboundRecord record = poll(batch.isEmpty());
            if (record == null) {
                break;
            }
            if (record.begin()) {
                batch.add(record);
                bytes += add(record.pieces());
            }
        }
        return !batch.isEmpty();
    }

    private @Nullable OutboundRecord poll(boolean endsIfNone) {
        lock.lock();
        try {
            OutboundRecord record = queue.poll();
            if (record == null && endsIfNone) {
                writing = false;
            }
            return record;
        } finally {
            lock.unlock();
        }
    }

    private long add(List<MemorySegment> pieces) {
        long bytes = 0;
        for (MemorySegment piece : pieces) {
            bytes += piece.byteSize();
        }
        // RFC 5531, Section 11: the highest bit marks the last fragment, the other 31 are its length.
        int at = marks.position();
        marks.putInt(LAST | Math.toIntExact(bytes));
        buffers.add(marks.slice(at, Integer.BYTES));
        for (MemorySegment piece : pieces) {
            for (long from = 0; from < piece.byteSize(); from += LONGEST_PIECE) {
                buffers.add(bufferOf(piece.asSlice(from, Math.min(LONGEST_PIECE, piece.byteSize() - from))));
            }
        }
        return bytes;
    }

    private static ByteBuffer bufferOf(MemorySegment piece) {
        boolean isBuffer = piece.isNative()
                || piece.heapBase().filter(byte[].class::isInstance).isPresent();
        // An array of another type has no buffer; a read-only one does not show its array, and is short.
        return isBuffer ? piece.asByteBuffer() : ByteBuffer.wrap(piece.toArray(ValueLayout.JAVA_BYTE));
    }

    private void write() throws IOException {
        ByteBuffer[] all = buffers.toArray(ByteBuffer[]::new);
        int first = 0;
        while (first < all.length) {
            long sent = channel.write(all, first, all.length - first);
            sent(sent);
            while (first < all.length && !all[first].hasRemaining()) {
                first++;
            }
        }
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // by the one who writes
    private void sent(long bytes) {
        sentBytes += bytes;
    }
}
