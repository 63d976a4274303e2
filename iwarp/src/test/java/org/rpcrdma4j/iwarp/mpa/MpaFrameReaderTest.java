// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mpa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.iwarp.error.MpaError;
import org.rpcrdma4j.iwarp.error.MpaException;
import org.rpcrdma4j.iwarp.mpa.MpaFrame.Kind;

class MpaFrameReaderTest {
    private static final int KEY_BYTES = 16;

    @ParameterizedTest
    @EnumSource(Kind.class)
    void rejectsAKeyAtItsFirstWrongByte(Kind kind) throws MpaException {
        for (int wrong = 0; wrong < KEY_BYTES; wrong++) {
            for (int bit = 0; bit < 8; bit++) {
                byte[] frame = RawFrame.plain(key(kind), 0, RawFrame.bytes(0));
                frame[wrong] ^= (byte) (1 << bit);
                MpaFrameReader reader = new MpaFrameReader(kind);

                assertThat(reader.read(ByteBuffer.wrap(frame, 0, wrong))).isFalse();
                assertThat(failure(reader, ByteBuffer.wrap(frame, wrong, 1)).error())
                        .as("byte %d bit %d", wrong, bit)
                        .isEqualTo(MpaError.INVALID_STARTUP_FRAME);
            }
        }
    }

    @Test
    void tellsTwoInitiatorsApartByTheKey() {
        byte[] request = RawFrame.plain(RawFrame.REQUEST_KEY, 0, RawFrame.bytes(0));

        MpaException failure = failure(new MpaFrameReader(Kind.REPLY), ByteBuffer.wrap(request));

        assertThat(failure.error().code()).isEqualTo(4);
        assertThat(failure).hasMessageContaining("both ends are initiators");
    }

    @Test
    void tellsTwoRespondersApartByTheKey() {
        byte[] reply = RawFrame.plain(RawFrame.REPLY_KEY, 0, RawFrame.bytes(0));

        assertThat(failure(new MpaFrameReader(Kind.REQUEST), ByteBuffer.wrap(reply)))
                .hasMessageContaining("both ends are responders");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3, 4, 127, 128, 255})
    void rejectsARevisionItDoesNotSpeakAsSoonAsItIsSeen(int revision) throws MpaException {
        byte[] frame = RawFrame.of(RawFrame.REQUEST_KEY, 0, revision, 0, RawFrame.bytes(0));
        MpaFrameReader reader = new MpaFrameReader(Kind.REQUEST);

        assertThat(reader.read(ByteBuffer.wrap(frame, 0, 17))).isFalse();
        assertThat(failure(reader, ByteBuffer.wrap(frame, 17, 1)))
                .hasMessageContaining("revision")
                .extracting(MpaException::error)
                .isEqualTo(MpaError.INVALID_STARTUP_FRAME);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void acceptsBothRevisions(int revision) throws MpaException {
        byte[] frame = RawFrame.of(RawFrame.REQUEST_KEY, 0, revision, 0, RawFrame.bytes(0));

        assertThat(RawFrame.read(Kind.REQUEST, frame).revision()).isEqualTo(revision);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 508, 512})
    void acceptsPrivateDataUpTo512Bytes(int length) throws MpaException {
        byte[] frame = RawFrame.plain(RawFrame.REQUEST_KEY, 0, RawFrame.bytes(length));

        MpaFrame read = RawFrame.read(Kind.REQUEST, frame);

        assertThat(read.privateData()).isEqualTo(RawFrame.bytes(length));
        assertThat(read.pdLength()).isEqualTo(length);
        assertThat(read.encode()).isEqualTo(frame);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 504, 508})
    void acceptsPrivateDataUpTo508BytesBehindControlWords(int length) throws MpaException {
        byte[] frame = RawFrame.enhanced(RawFrame.REQUEST_KEY, 0, 3, 5, RawFrame.bytes(length));

        MpaFrame read = RawFrame.read(Kind.REQUEST, frame);

        assertThat(read.privateData()).isEqualTo(RawFrame.bytes(length));
        assertThat(read.pdLength()).isEqualTo(length + 4);
        assertThat(read.encode()).isEqualTo(frame);
    }

    @ParameterizedTest
    @ValueSource(ints = {513, 514, 767, 768, 1024, 32767, 32768, 65535})
    void rejectsRequestWhosePrivateDataIsLongerThan512(int pdLength) throws MpaException {
        byte[] frame = RawFrame.of(RawFrame.REQUEST_KEY, 0, 1, pdLength, RawFrame.bytes(0));
        // From 768 on the high octet alone is too much.
        int telling = pdLength >= 768 ? 18 : 19;
        MpaFrameReader reader = new MpaFrameReader(Kind.REQUEST);

        assertThat(reader.read(ByteBuffer.wrap(frame, 0, telling))).isFalse();
        assertThat(failure(reader, ByteBuffer.wrap(frame, telling, 1)))
                .hasMessageContaining("512")
                .extracting(MpaException::error)
                .isEqualTo(MpaError.INVALID_STARTUP_FRAME);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void rejectsAnEnhancedFrameTooShortForItsControlWords(int pdLength) {
        byte[] frame = RawFrame.of(RawFrame.REQUEST_KEY, RawFrame.S, 2, pdLength, RawFrame.bytes(0));

        assertThat(failure(new MpaFrameReader(Kind.REQUEST), ByteBuffer.wrap(frame)))
                .hasMessageContaining("control words");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3, 12})
    void ignoresTheEnhancedBitInRevision1(int length) throws MpaException {
        byte[] frame = RawFrame.of(RawFrame.REQUEST_KEY, RawFrame.S, 1, length, RawFrame.bytes(length));

        MpaFrame read = RawFrame.read(Kind.REQUEST, frame);

        assertThat(read.isEnhanced()).isFalse();
        assertThat(read.privateData()).isEqualTo(RawFrame.bytes(length));
    }

    @Test
    void ignoresReservedFlagBits() throws MpaException {
        byte[] frame = RawFrame.plain(RawFrame.REQUEST_KEY, RawFrame.C | 0x0F, RawFrame.bytes(2));

        MpaFrame read = RawFrame.read(Kind.REQUEST, frame);

        assertThat(read.crc()).isTrue();
        assertThat(read.flags()).isEqualTo(RawFrame.C);
    }

    @Test
    void readsIrdAndOrdWithoutSwappingThem() throws MpaException {
        MpaFrame read = RawFrame.read(Kind.REQUEST, RawFrame.request(RawFrame.A | 0x3FFE, RawFrame.RTR_READ | 0x2001));

        assertThat(read.enhancedSetup()).isEqualTo(new EnhancedSetup(true, false, false, true, 0x3FFE, 0x2001));
    }

    @Test
    void takesOnlyItsOwnBytes() throws MpaException {
        byte[] frame = RawFrame.plain(RawFrame.REPLY_KEY, 0, RawFrame.bytes(8));
        ByteBuffer source = ByteBuffer.allocate(frame.length + 5)
                .put(frame)
                .put(RawFrame.bytes(5))
                .flip();
        MpaFrameReader reader = new MpaFrameReader(Kind.REPLY);

        assertThat(reader.read(source)).isTrue();
        assertThat(source.remaining()).isEqualTo(5);
        assertThat(reader.read(source)).isTrue();
        assertThat(source.remaining()).isEqualTo(5);
    }

    @Test
    void readsAFrameByteByByteFromDirectMemory() throws MpaException {
        byte[] frame = RawFrame.enhanced(RawFrame.REPLY_KEY, RawFrame.C, 1, 2, RawFrame.bytes(100));
        MpaFrameReader reader = new MpaFrameReader(Kind.REPLY);

        for (int i = 0; i < frame.length; i++) {
            assertThat(reader.isComplete()).isFalse();
            ByteBuffer piece = ByteBuffer.allocateDirect(1).put(0, frame[i]);
            assertThat(reader.read(piece)).isEqualTo(i == frame.length - 1);
        }

        assertThat(reader.frame().encode()).isEqualTo(frame);
    }

    @Test
    void saysHowMuchOfTheFrameCameBeforeTheStreamEnded() throws MpaException {
        byte[] frame = RawFrame.of(RawFrame.REQUEST_KEY, 0, 1, 20, RawFrame.bytes(12));
        MpaFrameReader reader = new MpaFrameReader(Kind.REQUEST);

        assertThat(reader.read(ByteBuffer.wrap(frame))).isFalse();
        assertThat(reader.endOfStream().error()).isEqualTo(MpaError.CONNECTION_LOST);
        assertThat(reader.endOfStream()).hasMessageContaining("32 bytes");
        assertThatThrownBy(reader::frame).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void staysFailed() {
        MpaFrameReader reader = new MpaFrameReader(Kind.REQUEST);
        MpaException first = failure(reader, ByteBuffer.wrap(new byte[] {0}));

        byte[] good = RawFrame.plain(RawFrame.REQUEST_KEY, 0, RawFrame.bytes(0));
        assertThat(failure(reader, ByteBuffer.wrap(good))).isSameAs(first);
    }

    private static MpaException failure(MpaFrameReader reader, ByteBuffer source) {
        return catchThrowableOfType(MpaException.class, () -> reader.read(source));
    }

    private static String key(Kind kind) {
        return kind == Kind.REQUEST ? RawFrame.REQUEST_KEY : RawFrame.REPLY_KEY;
    }
}
