// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.xdr;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.transport.xdr.XdrException.Reason;

/** The rules of RFC 4506 on what a reader accepts. */
class XdrReaderTest {

    private static byte[] hex(String text) {
        return HexFormat.of().parseHex(text.replace(" ", ""));
    }

    private static XdrReader of(String text) {
        return new XdrReader(MemorySegment.ofArray(hex(text)));
    }

    private static void refused(Reason reason, ThrowingCallable code) {
        assertThatExceptionOfType(XdrException.class)
                .isThrownBy(code)
                .satisfies(e -> assertThat(e.reason()).isEqualTo(reason));
    }

    @Test
    void integersAreBigEndian() throws XdrException {
        XdrReader in = of("80000001 fffffffe 0123456789abcdef");
        assertThat(in.readInt()).isEqualTo(0x80000001);
        assertThat(in.readUnsignedInt()).isEqualTo(0xfffffffeL);
        assertThat(in.readHyper()).isEqualTo(0x0123456789abcdefL);
        assertThat(in.position()).isEqualTo(16);
        assertThat(in.remaining()).isZero();
    }

    @Test
    void integersAreReadAcrossEveryCut() throws XdrException {
        byte[] message = hex("80000001 0123456789abcdef 00000003 616263 00");
        for (int cut = 0; cut <= message.length; cut++) {
            XdrReader in = new XdrReader(Pieces.at(message, cut));
            assertThat(in.readInt()).isEqualTo(0x80000001);
            assertThat(in.readHyper()).isEqualTo(0x0123456789abcdefL);
            assertThat(in.readString(3)).isEqualTo("abc");
            in.requireEnd();
        }
    }

    @Test
    void boolIsZeroOrOneAndNothingElse() throws XdrException {
        assertThat(of("00000000").readBool()).isFalse();
        assertThat(of("00000001").readBool()).isTrue();
        for (String other : List.of("00000002", "ffffffff", "80000000", "01000000")) {
            refused(Reason.BAD_VALUE, () -> of(other).readBool());
        }
    }

    @Test
    void enumTakesDeclaredValuesOnly() throws XdrException {
        assertThat(of("00000002").readEnum(0, 2)).isEqualTo(2);
        for (String other : List.of("00000003", "ffffffff", "80000000")) {
            refused(Reason.BAD_VALUE, () -> of(other).readEnum(0, 2));
        }
    }

    @Test
    void opaqueOfItsBoundIsTakenAndOneByteMoreIsRefusedThoughItIsThere() throws XdrException {
        assertThat(of("00000005 0102030405 000000").readOpaque(5).byteSize()).isEqualTo(5);
        refused(Reason.OUT_OF_BOUNDS, () -> of("00000006 010203040506 0000").readOpaque(5));
        refused(Reason.OUT_OF_BOUNDS, () -> of("00000006 010203040506 0000").skipOpaque(5));
        refused(Reason.OUT_OF_BOUNDS, () -> of("00000006 616263646566 0000").readString(5));
    }

    @Test
    void lengthBeyondTheMessageIsRefusedBeforeAnythingIsAllocated() {
        refused(Reason.TOO_SHORT, () -> of("ffffffff 00000000").readOpaque(0xffff_ffffL));
        refused(Reason.TOO_SHORT, () -> of("7fffffff 00000000").readString(Integer.MAX_VALUE));
        refused(Reason.TOO_SHORT, () -> of("00000005 01020304").readOpaque(400));
    }

    @Test
    void missingPadIsTooShort() {
        refused(Reason.TOO_SHORT, () -> of("00000003 010203").readOpaque(400));
        refused(Reason.TOO_SHORT, () -> of("00000003 010203").skipOpaque(400));
    }

    @Test
    void padBytesOfAnyValueAreTakenAndNotShown() throws XdrException {
        XdrReader in = of("00000001 61ffffff 00000007");
        MemorySegment value = in.readOpaque(4);
        assertThat(value.toArray(ValueLayout.JAVA_BYTE)).containsExactly('a');
        assertThat(in.readInt()).isEqualTo(7);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
    void fixedOpaqueHasPadButNoCount(int length) throws XdrException {
        byte[] message = new byte[(int) XdrReader.padded(length) + 4];
        message[message.length - 1] = 9;
        XdrReader in = new XdrReader(MemorySegment.ofArray(message));
        assertThat(in.readFixedOpaque(length).byteSize()).isEqualTo(length);
        assertThat(in.readInt()).isEqualTo(9);
    }

    @Test
    void arrayCountIsBoundedByItsDeclarationAndByTheBytesAtHand() throws XdrException {
        assertThat(of("00000002 00000000 00000000").readCount(2, 4)).isEqualTo(2);
        refused(
                Reason.OUT_OF_BOUNDS,
                () -> of("00000003 00000000 00000000 00000000").readCount(2, 4));
        refused(Reason.TOO_SHORT, () -> of("00000003 00000000 00000000").readCount(3, 4));
        // 16 times that count overflows 32 bits.
        refused(Reason.TOO_SHORT, () -> of("10000001 00000000").readCount(Integer.MAX_VALUE, 16));
        refused(Reason.OUT_OF_BOUNDS, () -> of("ffffffff 00000000").readCount(0xffff_ffffL, 4));
    }

    @Test
    void stringWithNulAndBytesThatAreNoTextIsNoReasonToFail() throws XdrException {
        assertThat(of("00000004 00 2f ff 61").readString(255)).isEqualTo("\u0000/\ufffda");
    }

    @Test
    void opaqueInOnePieceIsASliceAndACutOneIsACopy() throws XdrException {
        byte[] message = hex("00000004 01020304");
        XdrReader in = new XdrReader(MemorySegment.ofArray(message));
        MemorySegment slice = in.readOpaque(4);
        in.reset(Pieces.at(message, 6));
        MemorySegment copy = in.readOpaque(4);
        message[4] = 9;
        message[6] = 9;
        assertThat(slice.toArray(ValueLayout.JAVA_BYTE)).containsExactly(9, 2, 9, 4);
        assertThat(copy.toArray(ValueLayout.JAVA_BYTE)).containsExactly(1, 2, 3, 4);
    }

    @Test
    void largeOpaqueIsTakenInPiecesWithoutACopy() throws XdrException {
        byte[] message = new byte[100];
        XdrReader in = new XdrReader(Pieces.at(message, 60));
        in.skip(10);
        List<MemorySegment> pieces = new ArrayList<>();
        in.readPieces(80, pieces);
        assertThat(pieces).extracting(MemorySegment::byteSize).containsExactly(50L, 30L);
        assertThat(in.position()).isEqualTo(90);
        refused(Reason.TOO_SHORT, () -> in.readPieces(11, pieces));
    }

    @Test
    void positionCountsBytesThatAChunkCarries() throws XdrException {
        XdrReader in = of("00000005 00000007");
        assertThat(in.readDeclaredLength(8)).isEqualTo(5);
        in.skipAbsent(8);
        assertThat(in.position()).isEqualTo(12);
        assertThat(in.readInt()).isEqualTo(7);
        assertThat(in.position()).isEqualTo(16);
        in.requireEnd();
        refused(Reason.OUT_OF_BOUNDS, () -> in.skipAbsent(-1));
        refused(Reason.OUT_OF_BOUNDS, () -> in.skipAbsent(Long.MAX_VALUE));
    }

    @Test
    void bytesBehindTheLastItemAreFound() throws XdrException {
        XdrReader in = of("00000001 00");
        in.readInt();
        refused(Reason.TRAILING_BYTES, in::requireEnd);
    }

    @Test
    void readerIsUsedAgainForAnotherMessage() throws XdrException {
        XdrReader in = of("00000001 00000002");
        in.readInt();
        in.reset(MemorySegment.ofArray("abcd".getBytes(StandardCharsets.US_ASCII)));
        assertThat(in.position()).isZero();
        assertThat(in.readInt()).isEqualTo(0x61626364);
        in.clear();
        refused(Reason.TOO_SHORT, in::readInt);
    }

    @Test
    void skippingBackwardsIsRefused() {
        refused(Reason.TOO_SHORT, () -> of("00000001").skip(-4));
        refused(Reason.TOO_SHORT, () -> of("00000001").skip(Long.MIN_VALUE));
    }
}
