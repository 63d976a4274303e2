// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.wire;

import java.lang.foreign.MemorySegment;

/** Writes headers. The caller sees to it that the memory has {@link #length} bytes left. */
public final class HeaderEncoder {
    /** For {@link #length(int, int, int, int)}: no Reply chunk. */
    public static final int NO_REPLY_CHUNK = -1;

    private static final int PRESENT = 1;
    private static final int ABSENT = 0;

    private HeaderEncoder() {}

    /**
     * Writes a header and notes its length in it.
     *
     * <p>RFC 8166, Section 4.6: RDMA_MSGP and RDMA_DONE are never sent, nor is an unknown procedure: that is refused with an
     * {@link IllegalArgumentException}. Section 4.2.2: the version word is 1, but in an RDMA_ERROR it is the failing message's.
     *
     * @return bytes written
     */
    public static int encode(TransportHeader header, MemorySegment to, long offset) {
        int length = switch (header.procedure()) {
            case RDMA_MSG, RDMA_NOMSG -> encodeLists(header, to, offset);
            case RDMA_ERROR -> encodeError(header, to, offset);
            case RDMA_MSGP, RDMA_DONE, UNKNOWN ->
                throw new IllegalArgumentException(header.procedure() + " is never sent");
        };
        header.length(length);
        return length;
    }

    /** Bytes that {@link #encode} will write. */
    public static int length(TransportHeader header) {
        return switch (header.procedure()) {
            case RDMA_MSG, RDMA_NOMSG ->
                length(
                        header.readList().size(),
                        header.writeList().chunks(),
                        header.writeList().segments().size(),
                        header.hasReplyChunk() ? header.replyChunk().size() : NO_REPLY_CHUNK);
            case RDMA_ERROR ->
                header.errorCode() == ErrorCode.ERR_VERS
                        ? TransportHeader.ERROR_VERSION_BYTES
                        : TransportHeader.ERROR_CHUNK_BYTES;
            case RDMA_MSGP, RDMA_DONE, UNKNOWN ->
                throw new IllegalArgumentException(header.procedure() + " is never sent");
        };
    }

    /**
     * Bytes of a header of RDMA_MSG or RDMA_NOMSG.
     *
     * @param writeSegments segments of all Write chunks together
     * @param replySegments segments of the Reply chunk, or {@link #NO_REPLY_CHUNK}
     */
    public static int length(int readSegments, int writeChunks, int writeSegments, int replySegments) {
        int bytes = Math.addExact(TransportHeader.MIN_BYTES, Math.multiplyExact(readSegments, ReadList.ENTRY_BYTES));
        bytes = Math.addExact(bytes, Math.multiplyExact(writeChunks, WriteList.CHUNK_BYTES));
        bytes = Math.addExact(bytes, Math.multiplyExact(writeSegments, Segments.SEGMENT_BYTES));
        return replySegments == NO_REPLY_CHUNK
                ? bytes
                : Math.addExact(bytes + Words.BYTES, Math.multiplyExact(replySegments, Segments.SEGMENT_BYTES));
    }

    /**
     * Writes an ERR_VERS: this end speaks versions {@code low} to {@code high}.
     *
     * @param xid as in the message that failed
     * @param version as in the message that failed
     * @param credits the normal grant
     * @return bytes written
     */
    public static int encodeErrorVersion(
            int xid, int version, int credits, int low, int high, MemorySegment to, long offset) {
        long at = encodeFixed(xid, version, credits, Procedure.RDMA_ERROR, to, offset);
        Words.put(to, at, ErrorCode.ERR_VERS.word());
        Words.put(to, at + Words.BYTES, low);
        Words.put(to, at + 2 * Words.BYTES, high);
        return TransportHeader.ERROR_VERSION_BYTES;
    }

    /**
     * Writes an ERR_CHUNK.
     *
     * @param xid as in the message that failed
     * @param version as in the message that failed
     * @param credits the normal grant
     * @return bytes written
     */
    public static int encodeErrorChunk(int xid, int version, int credits, MemorySegment to, long offset) {
        long at = encodeFixed(xid, version, credits, Procedure.RDMA_ERROR, to, offset);
        Words.put(to, at, ErrorCode.ERR_CHUNK.word());
        return TransportHeader.ERROR_CHUNK_BYTES;
    }

    private static int encodeError(TransportHeader header, MemorySegment to, long offset) {
        return switch (header.errorCode()) {
            case ERR_VERS ->
                encodeErrorVersion(
                        header.xid(),
                        header.version(),
                        header.credits(),
                        header.lowVersion(),
                        header.highVersion(),
                        to,
                        offset);
            case ERR_CHUNK -> encodeErrorChunk(header.xid(), header.version(), header.credits(), to, offset);
        };
    }

    private static int encodeLists(TransportHeader header, MemorySegment to, long offset) {
        long at = encodeFixed(header.xid(), TransportHeader.VERSION, header.credits(), header.procedure(), to, offset);
        at = encodeReadList(header.readList(), to, at);
        at = encodeWriteList(header.writeList(), to, at);
        if (header.hasReplyChunk()) {
            Words.put(to, at, PRESENT);
            at = encodeChunk(header.replyChunk(), 0, header.replyChunk().size(), to, at + Words.BYTES);
        } else {
            Words.put(to, at, ABSENT);
            at += Words.BYTES;
        }
        return (int) (at - offset);
    }

    private static long encodeFixed(
            int xid, int version, int credits, Procedure procedure, MemorySegment to, long offset) {
        Words.put(to, offset, xid);
        Words.put(to, offset + Words.BYTES, version);
        Words.put(to, offset + 2 * Words.BYTES, credits);
        Words.put(to, offset + 3 * Words.BYTES, procedure.word());
        return offset + TransportHeader.FIXED_BYTES;
    }

    private static long encodeReadList(ReadList list, MemorySegment to, long offset) {
        long at = offset;
        for (int i = 0; i < list.size(); i++) {
            Words.put(to, at, PRESENT);
            Words.put(to, at + Words.BYTES, list.position(i));
            at = encodeSegment(list.segments(), i, to, at + 2 * Words.BYTES);
        }
        Words.put(to, at, ABSENT);
        return at + Words.BYTES;
    }

    private static long encodeWriteList(WriteList list, MemorySegment to, long offset) {
        long at = offset;
        for (int chunk = 0; chunk < list.chunks(); chunk++) {
            Words.put(to, at, PRESENT);
            at = encodeChunk(list.segments(), list.firstSegment(chunk), list.segmentCount(chunk), to, at + Words.BYTES);
        }
        Words.put(to, at, ABSENT);
        return at + Words.BYTES;
    }

    private static long encodeChunk(Segments segments, int first, int count, MemorySegment to, long offset) {
        Words.put(to, offset, count);
        long at = offset + Words.BYTES;
        for (int i = first; i < first + count; i++) {
            at = encodeSegment(segments, i, to, at);
        }
        return at;
    }

    private static long encodeSegment(Segments segments, int index, MemorySegment to, long offset) {
        Words.put(to, offset, segments.handle(index));
        Words.put(to, offset + Words.BYTES, (int) segments.length(index));
        Words.putLong(to, offset + 2 * Words.BYTES, segments.offset(index));
        return offset + Segments.SEGMENT_BYTES;
    }
}
