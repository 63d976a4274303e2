// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.rpcrdma4j.iwarp.error.IwarpException;
import org.rpcrdma4j.iwarp.mpa.Fpdu;
import org.rpcrdma4j.iwarp.mpa.FpduParser;
import org.rpcrdma4j.iwarp.mpa.MpaFrame;
import org.rpcrdma4j.iwarp.mpa.MpaFrameReader;
import org.rpcrdma4j.iwarp.mpa.MpaInitiator;
import org.rpcrdma4j.iwarp.mpa.MpaOutcome;
import org.rpcrdma4j.iwarp.mpa.MpaResponder;
import org.rpcrdma4j.iwarp.mpa.MpaWishes;
import org.rpcrdma4j.iwarp.rdmap.SegmentCheck;
import org.rpcrdma4j.iwarp.rdmap.TerminateMessage;

/** Whatever bytes arrive: a result or the exception of the layer, never another one, and nothing read beyond them. */
class DecoderRobustnessTest {
    private static final int TRIES = 3000;

    @Property(tries = TRIES)
    void startupFramesOfAnyBytes(@ForAll MpaFrame.Kind kind, @ForAll @Size(max = 700) byte[] bytes) {
        MpaFrameReader reader = new MpaFrameReader(kind);
        try {
            assertThat(reader.read(ByteBuffer.wrap(bytes))).isEqualTo(reader.isComplete());
        } catch (IwarpException e) {
            assertThat(reader.isComplete()).isFalse();
        }
    }

    @Property(tries = TRIES)
    void startupFramesWithAValidKey(
            @ForAll boolean request,
            @ForAll byte flags,
            @ForAll @IntRange(max = 3) int revision,
            @ForAll @IntRange(max = 520) int pdLength,
            @ForAll @Size(max = 600) byte[] body) {
        String key = request ? "MPA ID Req Frame" : "MPA ID Rep Frame";
        ByteBuffer frame = ByteBuffer.allocate(20 + body.length)
                .put(key.getBytes(StandardCharsets.US_ASCII))
                .put(flags)
                .put((byte) revision)
                .putShort((short) pdLength)
                .put(body)
                .flip();
        try {
            if (request) {
                answer(frame);
            } else {
                MpaOutcome outcome = new MpaInitiator(MpaWishes.of(4, 4), new byte[0]).onBytes(frame);
                assertThat(outcome == null).isEqualTo(body.length < pdLength);
                assertThat(frame.remaining()).isEqualTo(Math.max(0, body.length - pdLength));
            }
        } catch (IwarpException e) {
            assertThat(e).hasMessageStartingWith("expected ");
        }
    }

    private static void answer(ByteBuffer frame) throws IwarpException {
        MpaResponder responder = new MpaResponder(MpaWishes.of(4, 4));
        if (responder.onBytes(frame) && responder.automaticReject() == null) {
            assertThat(responder.accept(new byte[8], 4, 4).reply()).hasSizeBetween(28, 32);
        }
    }

    @Property(tries = TRIES)
    void fpdusOfAnyBytes(@ForAll boolean crc, @ForAll @Size(max = 400) byte[] bytes) {
        ByteBuffer staging = ByteBuffer.wrap(bytes);
        FpduParser parser = new FpduParser(crc);
        try {
            int length = parser.next(staging);
            while (length >= 0) {
                assertThat(parser.ulpduOffset() + length).isLessThanOrEqualTo(staging.position() - 4);
                assertThat(staging.limit()).isEqualTo(bytes.length);
                SegmentCheck.check(staging, parser.ulpduOffset(), length);
                length = parser.next(staging);
            }
            assertThat(parser.missingBytes(staging)).isBetween(1, Fpdu.MAX_RECEIVED_FPDU);
        } catch (IwarpException e) {
            assertThat(e).hasMessageStartingWith("expected ");
        }
    }

    @Property(tries = TRIES)
    void segmentsOfAnyBytes(@ForAll @Size(max = 60) byte[] ulpdu) {
        // A view without a byte to spare: an index beyond the ULPDU would be seen.
        ByteBuffer segment = ByteBuffer.wrap(ulpdu);
        try {
            SegmentCheck.check(segment, 0, ulpdu.length);
        } catch (IwarpException e) {
            ByteBuffer target = ByteBuffer.allocate(TerminateMessage.MAX_ULPDU_BYTES);
            TerminateMessage message = TerminateMessage.of(e.terminateError(), segment, 0, ulpdu.length);
            assertThat(message.encodeUlpdu(target, 0)).isEqualTo(message.ulpduBytes());
        }
    }

    @Property(tries = TRIES)
    void terminatesOfAnyBytes(@ForAll int controlWord, @ForAll @Size(max = 80) byte[] ulpdu) {
        ByteBuffer segment = ByteBuffer.wrap(ulpdu);
        if (ulpdu.length >= TerminateMessage.MIN_ULPDU_BYTES) {
            segment.putInt(18, controlWord);
        }
        try {
            TerminateMessage message = TerminateMessage.decode(segment, 0, ulpdu.length);
            ByteBuffer target = ByteBuffer.allocate(TerminateMessage.MAX_ULPDU_BYTES);
            int size = message.encodeUlpdu(target, 0);
            TerminateMessage again = TerminateMessage.decode(target, 0, size);
            assertThat(again.ddpHeader()).isEqualTo(message.ddpHeader());
            assertThat(again.readRequestHeader()).isEqualTo(message.readRequestHeader());
            assertThat(message.toString()).startsWith("Terminate ");
        } catch (IwarpException e) {
            assertThat(e).hasMessageContaining("found " + ulpdu.length);
        }
    }
}
