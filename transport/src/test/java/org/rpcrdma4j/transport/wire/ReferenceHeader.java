// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.wire;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.wire.HeaderDecoder.Outcome;

/**
 * The header as values, and a decoder that goes by RFC 8166's grammar line by line and shares nothing with the product's: it reads
 * a stream, keeps lists, and stops by exceptions.
 */
record ReferenceHeader(
        Outcome outcome,
        int xid,
        int version,
        int credits,
        int procedureWord,
        List<ReadSegment> readList,
        List<List<Segment>> writeList,
        @Nullable List<Segment> replyChunk,
        String error,
        int length) {

    record Segment(int handle, long length, long offset) {}

    record ReadSegment(int position, Segment target) {}

    @SuppressWarnings("serial") // never serialized
    private static final class Fault extends Exception {
        final Outcome outcome;

        Fault(Outcome outcome) {
            this.outcome = outcome;
        }
    }

    /** What the product's decoder left behind. */
    static ReferenceHeader of(Outcome outcome, TransportHeader header) {
        List<ReadSegment> read = new ArrayList<>();
        for (int i = 0; i < header.readList().size(); i++) {
            read.add(new ReadSegment(
                    header.readList().position(i), segment(header.readList().segments(), i)));
        }
        List<List<Segment>> write = new ArrayList<>();
        for (int chunk = 0; chunk < header.writeList().chunks(); chunk++) {
            write.add(segments(
                    header.writeList().segments(),
                    header.writeList().firstSegment(chunk),
                    header.writeList().segmentCount(chunk)));
        }
        boolean error = outcome == Outcome.OK && header.procedure() == Procedure.RDMA_ERROR;
        return new ReferenceHeader(
                outcome,
                header.xid(),
                header.version(),
                header.credits(),
                header.procedureWord(),
                read,
                write,
                header.hasReplyChunk()
                        ? segments(header.replyChunk(), 0, header.replyChunk().size())
                        : null,
                error ? header.errorCode() + " " + header.lowVersion() + " " + header.highVersion() : "",
                header.length());
    }

    private static List<Segment> segments(Segments segments, int first, int count) {
        List<Segment> list = new ArrayList<>();
        for (int i = first; i < first + count; i++) {
            list.add(segment(segments, i));
        }
        return list;
    }

    private static Segment segment(Segments segments, int index) {
        return new Segment(segments.handle(index), segments.length(index), segments.offset(index));
    }

    /** Fills a carrier with these values. */
    void copyTo(TransportHeader header) {
        header.clear();
        header.xid(xid);
        header.credits(credits);
        header.procedure(Procedure.of(procedureWord));
        readList.forEach(entry ->
                header.readList().add(entry.position, entry.target.handle, entry.target.length, entry.target.offset));
        writeList.forEach(chunk -> {
            header.writeList().beginChunk();
            chunk.forEach(segment -> header.writeList().addSegment(segment.handle, segment.length, segment.offset));
        });
        List<Segment> reply = replyChunk;
        if (reply != null) {
            header.replyChunkPresent(true);
            reply.forEach(segment -> header.replyChunk().add(segment.handle, segment.length, segment.offset));
        }
    }

    /** Reads a message by the grammar. */
    static ReferenceHeader decode(byte[] message, HeaderLimits limits) {
        ByteBuffer in = ByteBuffer.wrap(message);
        if (message.length < 16) {
            return new ReferenceHeader(Outcome.TOO_SHORT, 0, 1, 0, 0, List.of(), List.of(), null, "", 0);
        }
        int xid = in.getInt();
        int version = in.getInt();
        int credits = in.getInt();
        int procedure = in.getInt();
        try {
            if (message.length < (procedure == 4 && version == 1 ? 20 : 28)) {
                throw new Fault(Outcome.TOO_SHORT);
            }
            require(version == 1, Outcome.BAD_VERSION);
            List<ReadSegment> read = List.of();
            List<List<Segment>> write = List.of();
            List<Segment> reply = null;
            String error = "";
            switch (procedure) {
                case 0, 1 -> {
                    read = readList(in, limits);
                    write = writeList(in, limits);
                    reply = replyChunk(in, limits);
                    require(procedure == 0 || !read.isEmpty() || !write.isEmpty() || reply != null, Outcome.NO_CHUNKS);
                }
                case 2 -> throw new Fault(Outcome.MSGP);
                case 3 -> throw new Fault(Outcome.DONE);
                case 4 -> error = error(in);
                default -> throw new Fault(Outcome.BAD_PROCEDURE);
            }
            return new ReferenceHeader(
                    Outcome.OK, xid, version, credits, procedure, read, write, reply, error, in.position());
        } catch (BufferUnderflowException e) {
            Outcome cut = procedure == 4 ? Outcome.BAD_ERROR : Outcome.BAD_LISTS;
            return new ReferenceHeader(cut, xid, version, credits, procedure, List.of(), List.of(), null, "", 0);
        } catch (Fault fault) {
            return new ReferenceHeader(
                    fault.outcome, xid, version, credits, procedure, List.of(), List.of(), null, "", 0);
        }
    }

    private static String error(ByteBuffer in) throws Fault {
        return switch (in.getInt()) {
            case 1 -> "ERR_VERS " + in.getInt() + " " + in.getInt();
            case 2 -> "ERR_CHUNK 0 0";
            default -> throw new Fault(Outcome.BAD_ERROR);
        };
    }

    private static List<ReadSegment> readList(ByteBuffer in, HeaderLimits limits) throws Fault {
        List<ReadSegment> list = new ArrayList<>();
        while (isPresent(in)) {
            int position = in.getInt();
            Segment segment = segment(in);
            require(list.size() < limits.maxReadSegments(), Outcome.OUTSIDE_LIMITS);
            require(position % 4 == 0, Outcome.BAD_POSITION);
            list.add(new ReadSegment(position, segment));
        }
        return list;
    }

    private static List<List<Segment>> writeList(ByteBuffer in, HeaderLimits limits) throws Fault {
        List<List<Segment>> list = new ArrayList<>();
        while (isPresent(in)) {
            List<Segment> chunk = chunk(in);
            require(
                    list.size() < limits.maxWriteChunks()
                            && chunk.size() <= limits.maxSegmentsPerChunk()
                            && (limits.allowEmptyWriteChunk() || !chunk.isEmpty()),
                    Outcome.OUTSIDE_LIMITS);
            list.add(chunk);
        }
        return list;
    }

    private static @Nullable List<Segment> replyChunk(ByteBuffer in, HeaderLimits limits) throws Fault {
        if (!isPresent(in)) {
            return null;
        }
        List<Segment> chunk = chunk(in);
        require(!chunk.isEmpty() && chunk.size() <= limits.maxSegmentsPerChunk(), Outcome.OUTSIDE_LIMITS);
        return chunk;
    }

    private static List<Segment> chunk(ByteBuffer in) {
        List<Segment> chunk = new ArrayList<>();
        for (long left = in.getInt() & 0xFFFFFFFFL; left > 0; left--) {
            chunk.add(segment(in));
        }
        return chunk;
    }

    private static Segment segment(ByteBuffer in) {
        return new Segment(in.getInt(), in.getInt() & 0xFFFFFFFFL, in.getLong());
    }

    private static boolean isPresent(ByteBuffer in) throws Fault {
        int word = in.getInt();
        require(word == 0 || word == 1, Outcome.BAD_LISTS);
        return word == 1;
    }

    private static void require(boolean condition, Outcome otherwise) throws Fault {
        if (!condition) {
            throw new Fault(otherwise);
        }
    }
}
