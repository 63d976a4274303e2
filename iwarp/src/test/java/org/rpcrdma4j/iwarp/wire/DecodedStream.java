// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.wire;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;
import org.rpcrdma4j.iwarp.error.IwarpException;
import org.rpcrdma4j.iwarp.mpa.Fpdu;
import org.rpcrdma4j.iwarp.mpa.FpduParser;
import org.rpcrdma4j.iwarp.mpa.MpaFrame;
import org.rpcrdma4j.iwarp.mpa.MpaFrameReader;
import org.rpcrdma4j.iwarp.rdmap.Opcode;
import org.rpcrdma4j.iwarp.rdmap.SegmentCheck;

/** One direction of a connection, decoded piece by piece as a reader of a socket would do it. */
final class DecodedStream {
    /** What was found in an FPDU; the sum stands for its bytes. */
    record Segment(Opcode opcode, int ulpduLength, long sum) {}

    /** Sees each segment where it lies. */
    @FunctionalInterface
    interface Listener {
        void onSegment(Opcode opcode, ByteBuffer staging, int at, int ulpduLength) throws IwarpException;
    }

    private final MpaFrameReader startup;
    private final FpduParser parser;
    private final Listener listener;
    private final ByteBuffer staging =
            ByteBuffer.allocate(2 * Fpdu.MAX_RECEIVED_FPDU).limit(0);
    private final CRC32 sum = new CRC32();
    private final List<Segment> segments = new ArrayList<>();

    DecodedStream(MpaFrame.Kind kind, boolean crc) {
        this(kind, crc, (opcode, staging, at, ulpduLength) -> {});
    }

    DecodedStream(MpaFrame.Kind kind, boolean crc, Listener listener) {
        startup = new MpaFrameReader(kind);
        parser = new FpduParser(crc);
        this.listener = listener;
    }

    DecodedStream feed(byte[] bytes, int from, int to) throws IwarpException {
        ByteBuffer piece = ByteBuffer.wrap(bytes, from, to - from);
        if (!startup.read(piece)) {
            return this;
        }
        while (piece.hasRemaining()) {
            int end = staging.limit();
            int room = Math.min(staging.capacity() - end, piece.remaining());
            staging.limit(end + room);
            staging.put(end, piece, piece.position(), room);
            piece.position(piece.position() + room);
            takeFpdus();
        }
        return this;
    }

    private void takeFpdus() throws IwarpException {
        for (int length = parser.next(staging); length >= 0; length = parser.next(staging)) {
            int at = parser.ulpduOffset();
            Opcode opcode = SegmentCheck.check(staging, at, length);
            listener.onSegment(opcode, staging, at, length);
            sum.reset();
            sum.update(staging.array(), at, length);
            segments.add(new Segment(opcode, length, sum.getValue()));
        }
        if (!staging.hasRemaining() || staging.limit() == staging.capacity()) {
            staging.compact().flip();
        }
    }

    MpaFrame frame() {
        return startup.frame();
    }

    List<Segment> segments() {
        return segments;
    }

    int leftOver() {
        return staging.remaining();
    }
}
