// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.wire;

import java.lang.foreign.MemorySegment;

/**
 * Reads headers, whoever made them: never throws, never reads behind the message, never stores more than the limits allow. Each
 * count is compared with the bytes that are left, in 64 bits, before anything is read for it.
 *
 * <p>The decoder tells what it found, not what to do: that depends on the role. A Requester discards and counts all that is not
 * {@link Outcome#OK} (RFC 8166, Section 4.5). A Responder does what {@link Outcome#answer} says, and discards the rest. Either
 * disconnects if this repeats.
 */
public final class HeaderDecoder {
    private static final int PRESENT = 1;
    private static final int ABSENT = 0;
    private static final int DIRECTION_BYTES = TransportHeader.MIN_BYTES + 2 * Words.BYTES;
    private static final int CUT = -1;

    private HeaderDecoder() {}

    /** What a Responder answers to a call whose header cannot be used. */
    public enum Answer {
        /** Nothing: the message is processed, or dropped. */
        NONE,
        /** RDMA_ERROR with ERR_VERS. */
        ERR_VERS,
        /** RDMA_ERROR with ERR_CHUNK. */
        ERR_CHUNK
    }

    /** What was found. */
    public enum Outcome {
        /** A header of RDMA_MSG, RDMA_NOMSG or RDMA_ERROR. Its meaning is not judged, only its form. */
        OK(Answer.NONE),
        /**
         * RFC 8166, Section 4.5: less than 28 bytes are discarded before anything is parsed. That sentence cannot mean an ERR_CHUNK,
         * which has 20: an RDMA_ERROR of version 1 is read from 20 bytes on. From 16 bytes on the header has the fixed part.
         */
        TOO_SHORT(Answer.NONE),
        /**
         * Not version 1; nothing behind the fixed part was looked at. A Responder answers ERR_VERS, RFC 8166, Section 4.5.1, but not if
         * the procedure says RDMA_ERROR in whatever version: an error is never answered by an error (Section 4.2.4).
         */
        BAD_VERSION(Answer.ERR_VERS),
        /** A procedure that version 1 doesn't know (RFC 8166, Section 4.5.2). */
        BAD_PROCEDURE(Answer.ERR_CHUNK),
        /** RDMA_MSGP, not looked into: RFC 8166, Section 4.6.1: a Responder should answer ERR_CHUNK, a Requester must discard it. */
        MSGP(Answer.ERR_CHUNK),
        /** RDMA_DONE: RFC 8166, Section 4.6.2: discarded by both. */
        DONE(Answer.NONE),
        /** An RDMA_ERROR with another code than version 1 has, or an ERR_VERS cut short: RFC 8166, Section 4.5: discarded by both. */
        BAD_ERROR(Answer.NONE),
        /** The lists end behind the message, or a discriminator is neither 0 nor 1 (RFC 8166, Section 4.5.2; RFC 4506, Section 4.4). */
        BAD_LISTS(Answer.ERR_CHUNK),
        /** A Read chunk's position is no multiple of four (RFC 8166, Section 3.4.5). */
        BAD_POSITION(Answer.ERR_CHUNK),
        /** An RDMA_NOMSG with three absent lists: nothing holds its RPC message (RFC 8166, Sections 4.2.4 and 4.5.2). */
        NO_CHUNKS(Answer.ERR_CHUNK),
        /**
         * Legal in form, but more than {@link HeaderLimits} allow; or a Reply chunk without segments, which no rule forbids and nobody
         * can use.
         */
        OUTSIDE_LIMITS(Answer.ERR_CHUNK);

        private final Answer answer;

        Outcome(Answer answer) {
            this.answer = answer;
        }

        /** What a Responder answers. */
        public Answer answer() {
            return answer;
        }
    }

    /**
     * Reads the header of a message that lies at {@code offset} and has {@code length} bytes.
     *
     * @param into is cleared first. Has the fixed part whenever 16 bytes were there, and the rest after {@link Outcome#OK} only
     */
    public static Outcome decode(
            MemorySegment message, long offset, int length, HeaderLimits limits, TransportHeader into) {
        into.clear();
        int end = available(message, offset, length);
        if (end < TransportHeader.FIXED_BYTES) {
            return Outcome.TOO_SHORT;
        }
        into.xid(Words.get(message, offset));
        into.version(Words.get(message, offset + Words.BYTES));
        into.credits(Words.get(message, offset + 2 * Words.BYTES));
        into.procedureWord(Words.get(message, offset + 3 * Words.BYTES));

        Outcome outcome = decodeBody(message, offset, end, limits, into);
        if (outcome != Outcome.OK) {
            into.clearBody();
        }
        return outcome;
    }

    /**
     * The direction word of the RPC message behind a decoded RDMA_MSG; {@link RpcDirection#UNKNOWN} for all other messages. RFC 8167,
     * Section 5.1: it decides whether the message belongs to the forward or the reverse direction.
     */
    public static RpcDirection direction(TransportHeader decoded, MemorySegment message, long offset, int length) {
        long at = decoded.length();
        if (at == 0
                || decoded.procedure() != Procedure.RDMA_MSG
                || at + 2 * Words.BYTES > available(message, offset, length)) {
            return RpcDirection.UNKNOWN;
        }
        return RpcDirection.of(Words.get(message, offset + at + Words.BYTES));
    }

    /**
     * The same by a look at nine words, without decoding: tells the direction of an RDMA_MSG of version 1 without chunks, of at least
     * 36 bytes, whose RPC message has the header's XID. That is what all known reverse messages look like.
     */
    public static RpcDirection peekDirection(MemorySegment message, long offset, int length) {
        if (available(message, offset, length) < DIRECTION_BYTES
                || Words.get(message, offset + Words.BYTES) != TransportHeader.VERSION
                || Words.get(message, offset + 3 * Words.BYTES) != Procedure.RDMA_MSG.word()
                || Words.getLong(message, offset + 4 * Words.BYTES) != ABSENT
                || Words.get(message, offset + 6 * Words.BYTES) != ABSENT
                || Words.get(message, offset + 7 * Words.BYTES) != Words.get(message, offset)) {
            return RpcDirection.UNKNOWN;
        }
        return RpcDirection.of(Words.get(message, offset + 8 * Words.BYTES));
    }

    /** Bytes of the message that the memory really has. */
    private static int available(MemorySegment message, long offset, int length) {
        return offset < 0 ? 0 : (int) Math.max(0, Math.min(length, message.byteSize() - offset));
    }

    private static Outcome decodeBody(
            MemorySegment message, long offset, int end, HeaderLimits limits, TransportHeader into) {
        boolean error = into.procedure() == Procedure.RDMA_ERROR && into.version() == TransportHeader.VERSION;
        if (end < (error ? TransportHeader.ERROR_CHUNK_BYTES : TransportHeader.MIN_BYTES)) {
            return Outcome.TOO_SHORT;
        }
        if (into.version() != TransportHeader.VERSION) {
            return Outcome.BAD_VERSION;
        }
        return switch (into.procedure()) {
            case RDMA_MSG, RDMA_NOMSG -> decodeLists(message, offset, end, limits, into);
            case RDMA_MSGP -> Outcome.MSGP;
            case RDMA_DONE -> Outcome.DONE;
            case RDMA_ERROR -> decodeError(message, offset, end, into);
            case UNKNOWN -> Outcome.BAD_PROCEDURE;
        };
    }

    private static Outcome decodeError(MemorySegment message, long offset, int end, TransportHeader into) {
        int code = Words.get(message, offset + TransportHeader.FIXED_BYTES);
        if (code == ErrorCode.ERR_CHUNK.word()) {
            into.errorCode(ErrorCode.ERR_CHUNK);
            into.length(TransportHeader.ERROR_CHUNK_BYTES);
            return Outcome.OK;
        }
        if (code != ErrorCode.ERR_VERS.word() || end < TransportHeader.ERROR_VERSION_BYTES) {
            return Outcome.BAD_ERROR;
        }
        into.errorCode(ErrorCode.ERR_VERS);
        into.versions(Words.get(message, offset + 5 * Words.BYTES), Words.get(message, offset + 6 * Words.BYTES));
        into.length(TransportHeader.ERROR_VERSION_BYTES);
        return Outcome.OK;
    }

    private static Outcome decodeLists(
            MemorySegment message, long offset, int end, HeaderLimits limits, TransportHeader into) {
        into.length(TransportHeader.FIXED_BYTES);
        Outcome outcome = readList(message, offset, end, limits, into);
        if (outcome == Outcome.OK) {
            outcome = writeList(message, offset, end, limits, into);
        }
        if (outcome == Outcome.OK) {
            outcome = replyChunk(message, offset, end, limits, into);
        }
        return outcome == Outcome.OK && into.procedure() == Procedure.RDMA_NOMSG && into.hasNoChunks()
                ? Outcome.NO_CHUNKS
                : outcome;
    }

    // The following read one list each: it begins behind what was read of the header so far, its length, and is added
    // to that.

    private static Outcome readList(
            MemorySegment message, long offset, int end, HeaderLimits limits, TransportHeader into) {
        ReadList list = into.readList();
        int at = into.length();
        while (end - at >= Words.BYTES) {
            int discriminator = Words.get(message, offset + at);
            if (discriminator == ABSENT) {
                into.length(at + Words.BYTES);
                return Outcome.OK;
            }
            if (discriminator != PRESENT || end - at < ReadList.ENTRY_BYTES) {
                return Outcome.BAD_LISTS;
            }
            if (list.size() == limits.maxReadSegments()) {
                return Outcome.OUTSIDE_LIMITS;
            }
            int position = Words.get(message, offset + at + Words.BYTES);
            if (!ReadList.isAligned(position)) {
                return Outcome.BAD_POSITION;
            }
            long segment = offset + at + 2 * Words.BYTES;
            list.add(position, handle(message, segment), length(message, segment), address(message, segment));
            at += ReadList.ENTRY_BYTES;
        }
        return Outcome.BAD_LISTS;
    }

    private static Outcome writeList(
            MemorySegment message, long offset, int end, HeaderLimits limits, TransportHeader into) {
        WriteList list = into.writeList();
        int at = into.length();
        while (end - at >= Words.BYTES) {
            int discriminator = Words.get(message, offset + at);
            if (discriminator == ABSENT) {
                into.length(at + Words.BYTES);
                return Outcome.OK;
            }
            int count = count(message, offset, at + Words.BYTES, end);
            if (discriminator != PRESENT || count == CUT) {
                return Outcome.BAD_LISTS;
            }
            if (list.chunks() == limits.maxWriteChunks()
                    || count > limits.maxSegmentsPerChunk()
                    || (count == 0 && !limits.allowEmptyWriteChunk())) {
                return Outcome.OUTSIDE_LIMITS;
            }
            list.beginChunk();
            at += WriteList.CHUNK_BYTES;
            for (int i = 0; i < count; i++) {
                long segment = offset + at;
                list.addSegment(handle(message, segment), length(message, segment), address(message, segment));
                at += Segments.SEGMENT_BYTES;
            }
        }
        return Outcome.BAD_LISTS;
    }

    private static Outcome replyChunk(
            MemorySegment message, long offset, int end, HeaderLimits limits, TransportHeader into) {
        int at = into.length();
        if (end - at < Words.BYTES) {
            return Outcome.BAD_LISTS;
        }
        int discriminator = Words.get(message, offset + at);
        at += Words.BYTES;
        if (discriminator == ABSENT) {
            into.length(at);
            return Outcome.OK;
        }
        int count = count(message, offset, at, end);
        if (discriminator != PRESENT || count == CUT) {
            return Outcome.BAD_LISTS;
        }
        if (count == 0 || count > limits.maxSegmentsPerChunk()) {
            return Outcome.OUTSIDE_LIMITS;
        }
        into.replyChunkPresent(true);
        at += Words.BYTES;
        for (int i = 0; i < count; i++) {
            long segment = offset + at;
            into.replyChunk().add(handle(message, segment), length(message, segment), address(message, segment));
            at += Segments.SEGMENT_BYTES;
        }
        into.length(at);
        return Outcome.OK;
    }

    /** The number of segments that a chunk says to have, or {@link #CUT} if they are not all there. */
    private static int count(MemorySegment message, long offset, int at, int end) {
        if (end - at < Words.BYTES) {
            return CUT;
        }
        long count = Integer.toUnsignedLong(Words.get(message, offset + at));
        return count * Segments.SEGMENT_BYTES > end - at - Words.BYTES ? CUT : (int) count;
    }

    private static int handle(MemorySegment message, long segment) {
        return Words.get(message, segment);
    }

    private static long length(MemorySegment message, long segment) {
        return Integer.toUnsignedLong(Words.get(message, segment + Words.BYTES));
    }

    private static long address(MemorySegment message, long segment) {
        return Words.getLong(message, segment + 2 * Words.BYTES);
    }
}
