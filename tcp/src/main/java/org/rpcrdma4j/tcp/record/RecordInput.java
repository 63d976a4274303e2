// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.record;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;

/**
 * Reads records from a blocking channel, where they are wanted (RFC 5531, Section 11): a record is fragments, each with a mark before it.
 *
 * <pre>
 *   | mark: 0, length | bytes | mark: 0, length | bytes | ... | mark: 1 (last), length | bytes |
 * </pre>
 *
 * <p>What is short is read ahead into a buffer; large pieces go from the socket into the memory that they are for. Used by one thread; only
 * {@link #receivedBytes} is for others too.
 */
public final class RecordInput {

    private static final int LAST = 0x8000_0000;
    private static final int BUFFER_BYTES = 16 << 10;

    /** RFC 5531 sets no bound for fragments without a byte; no sender needs any. */
    private static final int MOST_EMPTY_FRAGMENTS = 16;

    private final ReadableByteChannel channel;
    private final long maxRecordBytes;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private final MemorySegment buffered = MemorySegment.ofBuffer(buffer);
    private long fragmentLeft;
    private long recordBytes;
    private int emptyFragments;
    private boolean inLastFragment = true;
    private volatile long receivedBytes;

    /** Records of at most so many bytes, all fragments together, without their marks. */
    public RecordInput(ReadableByteChannel channel, long maxRecordBytes) {
        this.channel = channel;
        this.maxRecordBytes = maxRecordBytes;
        buffer.limit(0);
    }

    /** Bytes that came from the channel so far. Any thread may ask; it grows as long as there is progress. */
    public long receivedBytes() {
        return receivedBytes;
    }

    /**
     * Waits for the next record and stands at its first byte.
     *
     * @return false if the stream ends here, between two records
     * @throws EOFException if it ends elsewhere
     * @throws RecordException if the record is too long
     * @throws IllegalStateException if the record before was not read to its end
     */
    public boolean next() throws IOException {
        if (!inLastFragment || fragmentLeft > 0) {
            throw new IllegalStateException(fragmentLeft + " bytes of a fragment are left");
        }
        if (!buffer.hasRemaining() && !fill()) {
            return false;
        }
        recordBytes = 0;
        emptyFragments = 0;
        readMark();
        return true;
    }

    private void readMark() throws IOException {
        while (buffer.remaining() < Integer.BYTES) {
            if (!fill()) {
                throw new EOFException("the stream ends within a mark");
            }
        }
        int mark = buffer.getInt();
        inLastFragment = (mark & LAST) != 0;
        fragmentLeft = mark & ~LAST;
        recordBytes += fragmentLeft;
        if (recordBytes > maxRecordBytes) {
            throw new RecordException("a record of at least " + recordBytes + " bytes exceeds " + maxRecordBytes);
        }
        if (fragmentLeft == 0 && !inLastFragment && ++emptyFragments > MOST_EMPTY_FRAGMENTS) {
            throw new RecordException("a record with more than " + MOST_EMPTY_FRAGMENTS + " empty fragments");
        }
    }

    /** Bytes left of the fragment at hand; begins the next fragment if there are none. 0 only at the end of the record. */
    public long left() throws IOException {
        while (fragmentLeft == 0 && !inLastFragment) {
            readMark();
        }
        return fragmentLeft;
    }

    /** Whether {@link #left} is all that is left of the record. */
    public boolean isLastFragment() {
        return inLastFragment;
    }

    /**
     * Reads some bytes, at least one.
     *
     * @return how many; 0 only at the end of the record, or if none are wanted
     */
    public long readSome(MemorySegment into) throws IOException {
        long wanted = Math.min(left(), into.byteSize());
        if (wanted == 0) {
            return 0;
        }
        long got;
        if (!buffer.hasRemaining() && into.isNative() && wanted >= BUFFER_BYTES) {
            got = readInPlace(into, Math.min(wanted, Integer.MAX_VALUE));
        } else {
            got = readBuffered(into, wanted);
        }
        fragmentLeft -= got;
        return got;
    }

    private long readInPlace(MemorySegment into, long wanted) throws IOException {
        int got = channel.read(into.asSlice(0, wanted).asByteBuffer());
        if (got <= 0) {
            throw new EOFException("the stream ends within a record");
        }
        received(got);
        return got;
    }

    private long readBuffered(MemorySegment into, long wanted) throws IOException {
        if (!buffer.hasRemaining() && !fill()) {
            throw new EOFException("the stream ends within a record");
        }
        int got = (int) Math.min(wanted, buffer.remaining());
        MemorySegment.copy(buffered, buffer.position(), into, 0, got);
        buffer.position(buffer.position() + got);
        return got;
    }

    /**
     * Fills the memory.
     *
     * @return how many bytes; fewer than it holds only if the record ends
     */
    public long read(MemorySegment into) throws IOException {
        long done = 0;
        while (done < into.byteSize()) {
            long got = readSome(into.asSlice(done));
            if (got == 0) {
                break;
            }
            done += got;
        }
        return done;
    }

    /** Passes over what is left of the record. */
    public void skipRest() throws IOException {
        while (left() > 0) {
            if (!buffer.hasRemaining() && !fill()) {
                throw new EOFException("the stream ends within a record");
            }
            int passed = (int) Math.min(fragmentLeft, buffer.remaining());
            buffer.position(buffer.position() + passed);
            fragmentLeft -= passed;
        }
    }

    /** Reads what there is behind the bytes that are left; false at the end of the stream. */
    private boolean fill() throws IOException {
        buffer.compact();
        int got;
        try {
            got = channel.read(buffer);
        } finally {
            buffer.flip();
        }
        if (got > 0) {
            received(got);
        }
        return got > 0;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // by the reading thread only
    private void received(int bytes) {
        receivedBytes += bytes;
    }

    /** For messages: the first bytes that are at hand. */
    @Override
    public String toString() {
        int shown = Math.min(4, buffer.remaining());
        StringBuilder text = new StringBuilder("record of ").append(recordBytes).append(" bytes, next ");
        for (int i = 0; i < shown; i++) {
            text.append(String.format("%02x", buffered.get(ValueLayout.JAVA_BYTE, buffer.position() + i)));
        }
        return text.toString();
    }
}
