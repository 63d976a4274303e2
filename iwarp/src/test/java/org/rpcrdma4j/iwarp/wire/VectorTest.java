// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.rpcrdma4j.iwarp.ddp.DdpHeader;
import org.rpcrdma4j.iwarp.error.IwarpException;
import org.rpcrdma4j.iwarp.error.TerminateError;
import org.rpcrdma4j.iwarp.mpa.Crc32c;
import org.rpcrdma4j.iwarp.mpa.Fpdu;
import org.rpcrdma4j.iwarp.mpa.FpduParser;
import org.rpcrdma4j.iwarp.mpa.MpaFrame;
import org.rpcrdma4j.iwarp.mpa.MpaFrameReader;
import org.rpcrdma4j.iwarp.rdmap.Opcode;
import org.rpcrdma4j.iwarp.rdmap.ReadRequestHeader;
import org.rpcrdma4j.iwarp.rdmap.SegmentCheck;
import org.rpcrdma4j.iwarp.rdmap.TerminateMessage;

/** Every frame of the vector file: decoded field by field, encoded to the byte, refused where it must be. */
class VectorTest {
    private static final HexFormat HEX = HexFormat.of();
    private static final Pattern ANSWER = Pattern.compile("layer (\\d), etype (\\d), code (\\d)");

    /** Refused by the engine, which knows what was received before: the first MO of a message is 0. */
    private static final String NEEDS_THE_STREAM = "neg-mo";

    static List<WireVector> all() {
        return WireVector.all();
    }

    static List<WireVector> startupFrames() {
        return all().stream().filter(WireVector::isStartupFrame).toList();
    }

    static List<WireVector> goodFpdus() {
        return all().stream()
                .filter(vector -> !vector.isStartupFrame() && !vector.mustBeRefused())
                .toList();
    }

    static List<WireVector> badFpdus() {
        return all().stream()
                .filter(vector -> vector.mustBeRefused() && !vector.name().equals(NEEDS_THE_STREAM))
                .toList();
    }

    static List<WireVector.CrcSample> crcSamples() {
        return WireVector.crcSamples();
    }

    @Test
    void theFileHasTheVectorsThatAreCountedOn() {
        assertThat(all()).hasSize(54);
        assertThat(all()).filteredOn(WireVector::mustBeRefused).hasSize(8);
        assertThat(crcSamples()).hasSize(6);
    }

    @ParameterizedTest
    @MethodSource("all")
    void decodesEveryField(WireVector vector) throws IwarpException {
        Map<String, Object> decoded =
                vector.isStartupFrame() ? DecodedFields.ofFrame(vector) : DecodedFields.ofFpdu(vector.bytes());

        assertThat(decoded).containsAllEntriesOf(vector.fields());
    }

    @ParameterizedTest
    @MethodSource("startupFrames")
    void encodesStartupFramesToTheByte(WireVector vector) throws IwarpException {
        MpaFrame frame = DecodedFields.frame(vector);

        assertThat(HEX.formatHex(frame.encode())).isEqualTo(vector.hex());
    }

    @ParameterizedTest
    @MethodSource("startupFrames")
    void refusesStartupFramesInTheOtherRole(WireVector vector) {
        boolean request = vector.name().startsWith("mpa-req");
        MpaFrameReader reader = new MpaFrameReader(request ? MpaFrame.Kind.REPLY : MpaFrame.Kind.REQUEST);

        assertThat(catchThrowableOfType(IwarpException.class, () -> reader.read(ByteBuffer.wrap(vector.bytes())))
                        .terminateError())
                .isEqualTo(TerminateError.MPA_INVALID_STARTUP_FRAME);
    }

    @ParameterizedTest
    @MethodSource("goodFpdus")
    void encodesFpdusToTheByte(WireVector vector) throws IwarpException {
        ByteBuffer source = ByteBuffer.wrap(vector.bytes());
        int length = new FpduParser(vector.usesCrc()).next(source);
        // Nothing that is left over in a buffer may reach the wire.
        ByteBuffer target = ByteBuffer.allocateDirect(source.capacity());
        for (int i = 0; i < target.capacity(); i++) {
            target.put(i, (byte) 0xFF);
        }
        Fpdu.putLength(target, 0, length);
        int next = Fpdu.LENGTH_BYTES + putHeader(source, target);
        int end = Fpdu.LENGTH_BYTES + length;
        target.put(next, source, next, end - next);
        Crc32c crc = new Crc32c();
        crc.update(target, 0, end);

        int trailer = Fpdu.putTrailer(target, end, length, vector.usesCrc() ? crc : null);

        assertThat(trailer).isEqualTo(Fpdu.trailerBytes(length));
        assertThat(end + trailer).isEqualTo(target.capacity()).isEqualTo(Fpdu.fpduBytes(length));
        assertThat(hex(target)).isEqualTo(vector.hex());
    }

    @ParameterizedTest
    @MethodSource("goodFpdus")
    void acceptsGoodSegments(WireVector vector) throws IwarpException {
        ByteBuffer fpdu = ByteBuffer.wrap(vector.bytes());
        int length = new FpduParser(vector.usesCrc()).next(fpdu);

        Opcode opcode = SegmentCheck.check(fpdu, Fpdu.LENGTH_BYTES, length);

        assertThat((long) opcode.code()).isEqualTo(vector.fields().get("opcode"));
        assertThat(opcode.control()).isEqualTo(DdpHeader.rdmapControl(fpdu, Fpdu.LENGTH_BYTES));
        assertThat(opcode.isTagged()).isEqualTo(vector.fields().get("tagged"));
    }

    @ParameterizedTest
    @MethodSource("badFpdus")
    void refusesBadFpdusAsTheirDescriptionSays(WireVector vector) {
        MatchResult answer =
                ANSWER.matcher(vector.description()).results().findFirst().orElseThrow();

        IwarpException refusal = catchThrowableOfType(IwarpException.class, () -> {
            ByteBuffer fpdu = ByteBuffer.wrap(vector.bytes());
            SegmentCheck.check(fpdu, Fpdu.LENGTH_BYTES, new FpduParser(true).next(fpdu));
        });

        assertThat(refusal.terminateError().layer()).isEqualTo(Integer.parseInt(answer.group(1)));
        assertThat(refusal.terminateError().type()).isEqualTo(Integer.parseInt(answer.group(2)));
        assertThat(refusal.terminateError().code()).isEqualTo(Integer.parseInt(answer.group(3)));
        assertThat(refusal).hasMessageStartingWith("expected ").hasMessageContaining("found ");
    }

    @Test
    void leavesTheMessageOffsetToTheEngine() throws IwarpException {
        ByteBuffer fpdu = ByteBuffer.wrap(WireVector.named(NEEDS_THE_STREAM).bytes());
        int length = new FpduParser(true).next(fpdu);

        assertThat(SegmentCheck.check(fpdu, Fpdu.LENGTH_BYTES, length)).isEqualTo(Opcode.SEND);
        assertThat(DdpHeader.messageOffset(fpdu, Fpdu.LENGTH_BYTES)).isEqualTo(4);
    }

    @ParameterizedTest
    @MethodSource("crcSamples")
    void computesThePublishedCrcs(WireVector.CrcSample sample) {
        ByteBuffer input = ByteBuffer.wrap(HEX.parseHex(sample.input()));
        ByteBuffer field = ByteBuffer.allocate(Crc32c.BYTES);
        Crc32c crc = new Crc32c();
        crc.update(input, 0, input.capacity());

        Crc32c.write(field, 0, crc.value());

        assertThat(hex(field)).isEqualTo(sample.wireBytes());
        assertThat(Crc32c.read(field, 0)).isEqualTo(crc.value());
    }

    /** Writes the headers anew, DDP's and RDMAP's, from what the accessors read; returns their size. */
    private static int putHeader(ByteBuffer source, ByteBuffer target) throws IwarpException {
        int at = Fpdu.LENGTH_BYTES;
        int control = DdpHeader.rdmapControl(source, at);
        boolean last = DdpHeader.isLast(source, at);
        if (DdpHeader.isTagged(source, at)) {
            return DdpHeader.putTagged(
                    target, at, last, control, DdpHeader.taggedStag(source, at), DdpHeader.taggedOffset(source, at));
        }
        Opcode opcode = Opcode.fromControl(control);
        int length = Fpdu.length(source, 0);
        if (opcode == Opcode.TERMINATE
                && !TerminateMessage.decode(source, at, length).swapped()) {
            return TerminateMessage.decode(source, at, length).encodeUlpdu(target, at);
        }
        int next = DdpHeader.putUntagged(
                target,
                at,
                last,
                control,
                DdpHeader.invalidateStag(source, at),
                DdpHeader.queueNumber(source, at),
                DdpHeader.msn(source, at),
                DdpHeader.messageOffset(source, at));
        if (opcode == Opcode.READ_REQUEST) {
            int from = at + next;
            next += ReadRequestHeader.put(
                    target,
                    from,
                    ReadRequestHeader.sinkStag(source, from),
                    ReadRequestHeader.sinkOffset(source, from),
                    ReadRequestHeader.size(source, from),
                    ReadRequestHeader.sourceStag(source, from),
                    ReadRequestHeader.sourceOffset(source, from));
        }
        return next;
    }

    private static String hex(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.capacity()];
        buffer.get(0, bytes);
        return HEX.formatHex(bytes);
    }
}
