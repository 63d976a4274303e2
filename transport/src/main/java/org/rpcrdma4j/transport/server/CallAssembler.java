// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import org.rpcrdma4j.transport.wire.Procedure;
import org.rpcrdma4j.transport.wire.ReadList;
import org.rpcrdma4j.transport.wire.Segments;
import org.rpcrdma4j.transport.wire.TransportHeader;
import org.rpcrdma4j.transport.xdr.XdrReader;

/**
 * Puts a call's unreduced XDR stream together from what came inline and what its Read chunks hold, without copying.
 *
 * <p>Two steps: {@link #plan} checks the Read list against the stream and lays the chunks out in one pull buffer of {@link
 * #pullBytes}, before anything is pulled; {@link #pieces} names the pieces of the stream once the data is there.
 *
 * <pre>
 *   stream      | base ...      | chunk at p, n bytes | pad | base ... | chunk | base ...
 *   base        inline bytes of an RDMA_MSG, or the Position-Zero chunk of an RDMA_NOMSG
 * </pre>
 *
 * RFC 8166, Section 3.4.4.4: behind a chunk of n bytes at position p the base goes on at stream offset roundup4(p + n), whether the chunk
 * holds its pad or not; a missing pad is supplied.
 *
 * <p>A carrier of its request slot; pure, and used by one thread at a time.
 */
final class CallAssembler {

    /** Chunks are laid out so that each begins on a boundary of so many bytes. */
    private static final int ALIGNMENT = 64;

    /** RFC 5531, Section 9: no item of the arguments begins before the end of the shortest call header. */
    private static final int MIN_POSITION = 40;

    /** What a call may have beside its payload: RPC header, other arguments, alignment. */
    private static final int OVERHEAD = 64 * 1024;

    private final long maxChunkBytes;
    private final long maxPullBytes;

    // One entry for each Read segment that has bytes.
    private int[] readSegment = new int[4];
    private long[] readOffset = new long[4];
    private int reads;

    // One entry for each piece of the stream.
    private boolean[] pieceIsPulled = new boolean[4];
    private long[] pieceOffset = new long[4];
    private long[] pieceLength = new long[4];
    private int pieceCount;

    // One entry for each reduced item: chunks at a position above 0.
    private long[] itemPosition = new long[2];
    private long[] itemLength = new long[2];
    private int items;

    private long pullBytes;
    private long baseConsumed;
    private long streamBytes;
    private boolean baseIsPulled;
    private long baseLength;

    CallAssembler(long maxPayloadBytes) {
        maxChunkBytes = XdrReader.padded(maxPayloadBytes);
        maxPullBytes = maxChunkBytes + OVERHEAD;
    }

    /** Most bytes that {@link #pullBytes} can be. */
    static long mostPullBytes(long maxPayloadBytes) {
        return XdrReader.padded(maxPayloadBytes) + OVERHEAD + ALIGNMENT;
    }

    /**
     * Plans a call.
     *
     * @param header decoded; its Read list is brought into the order of the positions
     * @param inlineBytes bytes behind the header
     * @return false if the chunks do not fit the stream, or are beyond the limits: ERR_CHUNK (RFC 8267, Section 6.4.2)
     */
    boolean plan(TransportHeader header, long inlineBytes) {
        clear();
        ReadList list = header.readList();
        boolean noMessage = header.procedure() == Procedure.RDMA_NOMSG;
        list.sortByPosition();
        boolean hasPositionZero = !list.isEmpty() && list.position(0) == 0;
        // RFC 8166, Section 4.2.4: an RDMA_NOMSG call has its payload in the Position-Zero chunk. Section 3.5.3: only
        // that form has one.
        if (noMessage != hasPositionZero) {
            return false;
        }
        int next = 0;
        if (noMessage) {
            next = list.endOfChunk(0);
            baseIsPulled = true;
            baseLength = layOut(list, 0, next);
            if (baseLength < 0) {
                return false;
            }
        } else {
            baseLength = inlineBytes;
        }
        while (next < list.size()) {
            int end = list.endOfChunk(next);
            if (!place(list, next, end)) {
                return false;
            }
            next = end;
        }
        addBase(baseLength - baseConsumed);
        return true;
    }

    private boolean place(ReadList list, int first, int end) {
        long position = Integer.toUnsignedLong(list.position(first));
        long gap = position - streamBytes;
        // Negative: it begins inside the chunk before it. Too large: beyond the base.
        if (position < MIN_POSITION || gap < 0 || gap > baseLength - baseConsumed) {
            return false;
        }
        addBase(gap);
        long offset = pullBytes;
        long length = layOut(list, first, end);
        if (length < 0 || length > maxChunkBytes) {
            return false;
        }
        addItem(position, length);
        if (length > 0) {
            addPiece(true, offset, XdrReader.padded(length));
        }
        return true;
    }

    /** Gives the chunk's segments their places in the pull buffer; returns the chunk's length, or -1 if that is too much. */
    private long layOut(ReadList list, int first, int end) {
        Segments segments = list.segments();
        long length = segments.totalLength(first, end - first);
        // At most 2^32 for each segment, so this sum of longs does not overflow.
        if (length > maxPullBytes - pullBytes) {
            return -1;
        }
        long at = pullBytes;
        for (int i = first; i < end; i++) {
            if (segments.length(i) > 0) {
                addRead(i, at);
                at += segments.length(i);
            }
        }
        // Room for the pad is there: the next multiple of 64 is a multiple of 4.
        pullBytes = (at + ALIGNMENT - 1) & -ALIGNMENT;
        return length;
    }

    private void addBase(long length) {
        if (length > 0) {
            addPiece(baseIsPulled, baseConsumed, length);
            baseConsumed += length;
        }
    }

    private void addPiece(boolean pulled, long offset, long length) {
        if (pieceCount == pieceLength.length) {
            int capacity = 2 * pieceCount;
            pieceIsPulled = Arrays.copyOf(pieceIsPulled, capacity);
            pieceOffset = Arrays.copyOf(pieceOffset, capacity);
            pieceLength = Arrays.copyOf(pieceLength, capacity);
        }
        pieceIsPulled[pieceCount] = pulled;
        pieceOffset[pieceCount] = offset;
        pieceLength[pieceCount++] = length;
        streamBytes += length;
    }

    private void addRead(int segment, long offset) {
        if (reads == readSegment.length) {
            readSegment = Arrays.copyOf(readSegment, 2 * reads);
            readOffset = Arrays.copyOf(readOffset, 2 * reads);
        }
        readSegment[reads] = segment;
        readOffset[reads++] = offset;
    }

    private void addItem(long position, long length) {
        if (items == itemLength.length) {
            itemPosition = Arrays.copyOf(itemPosition, 2 * items);
            itemLength = Arrays.copyOf(itemLength, 2 * items);
        }
        itemPosition[items] = position;
        itemLength[items++] = length;
    }

    /** Bytes that the pull buffer needs; 0 if nothing is to be pulled. */
    long pullBytes() {
        return pullBytes;
    }

    /** How many Read segments have bytes to pull. */
    int reads() {
        return reads;
    }

    /** Index in the Read list of the {@code i}-th segment to pull. */
    int readSegment(int i) {
        return readSegment[i];
    }

    /** Where in the pull buffer it goes. */
    long readOffset(int i) {
        return readOffset[i];
    }

    /** Bytes of the unreduced call. */
    long streamBytes() {
        return streamBytes;
    }

    /** How many chunks hold an item: those at a position above 0. */
    int items() {
        return items;
    }

    /** Position in the unreduced stream of an item's first byte. Ascending. */
    long itemPosition(int i) {
        return itemPosition[i];
    }

    /** Bytes of the chunk: the item's, with or without its pad. */
    long itemLength(int i) {
        return itemLength[i];
    }

    /**
     * Names the pieces of the stream, and writes the pads that no chunk holds.
     *
     * @param inline the bytes behind the header
     * @param pulled the pull buffer, all its Reads complete
     */
    void pieces(MemorySegment inline, MemorySegment pulled, List<MemorySegment> into) {
        int item = 0;
        for (int i = 0; i < pieceCount; i++) {
            long offset = pieceOffset[i];
            long length = pieceLength[i];
            if (pieceIsPulled[i] && (!baseIsPulled || offset >= baseLength)) {
                while (itemLength[item] == 0) {
                    item++;
                }
                long unpadded = itemLength[item++];
                for (long pad = offset + unpadded; pad < offset + length; pad++) {
                    pulled.set(ValueLayout.JAVA_BYTE, pad, (byte) 0);
                }
            }
            MemorySegment whole = pieceIsPulled[i] ? pulled : inline;
            into.add(length == whole.byteSize() ? whole : whole.asSlice(offset, length));
        }
    }

    void clear() {
        reads = 0;
        pieceCount = 0;
        items = 0;
        pullBytes = 0;
        baseConsumed = 0;
        streamBytes = 0;
        baseIsPulled = false;
        baseLength = 0;
    }
}
