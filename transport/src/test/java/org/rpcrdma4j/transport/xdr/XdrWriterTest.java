// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.xdr;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a writer produces, and how it keeps eligible items apart. */
class XdrWriterTest {

    private static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }

    private static MemorySegment payload(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (i + 1);
        }
        return MemorySegment.ofArray(bytes);
    }

    @Test
    void everythingIsBigEndianAndPaddedWithZeros() {
        XdrWriter out = new XdrWriter();
        out.writeInt(-2);
        out.writeUnsignedInt(0xffff_ffffL);
        out.writeHyper(0x0123456789abcdefL);
        out.writeBool(true);
        out.writeString("abcde");
        out.writeFixedOpaque(payload(3));
        out.writeOpaque(new byte[0]);
        assertThat(hex(out.toByteArray()))
                .isEqualTo("fffffffe" + "ffffffff" + "0123456789abcdef" + "00000001" + "00000005" + "6162636465000000"
                        + "01020300" + "00000000");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
    void fixedOpaqueHasPadButNoCount(int length) {
        XdrWriter out = new XdrWriter();
        out.writeFixedOpaque(payload(length));
        assertThat(out.position()).isEqualTo(XdrReader.padded(length));
    }

    @Test
    void countThatIsKnownLaterIsFilledIn() {
        XdrWriter out = new XdrWriter();
        long place = out.reserveInt();
        for (int i = 0; i < 200; i++) {
            out.writeInt(i);
        }
        out.patchInt(place, 200);
        assertThat(hex(out.toByteArray())).startsWith("000000c8" + "00000000" + "00000001");
    }

    @Test
    void memoryGrowsUpToTheBoundAndNotBeyond() {
        XdrWriter out = new XdrWriter(
                MemorySegment.ofArray(new byte[8]), size -> MemorySegment.ofArray(new byte[(int) size]), 20);
        for (int i = 0; i < 5; i++) {
            out.writeInt(i);
        }
        assertThatIllegalStateException().isThrownBy(() -> out.writeInt(5)).withMessageContaining("20");
        assertThat(hex(out.toByteArray())).endsWith("00000004");
    }

    @Test
    void itemOfTheCallerIsKeptApartWithoutItsPad() {
        MemorySegment payload = payload(5);
        XdrWriter out = new XdrWriter();
        out.writeInt(1);
        out.writeItem(payload);
        out.writeInt(2);

        assertThat(out.items()).isEqualTo(1);
        assertThat(out.itemPosition(0)).isEqualTo(8);
        assertThat(out.itemLength(0)).isEqualTo(5);
        List<MemorySegment> pieces = new ArrayList<>();
        out.itemPieces(0, pieces);
        assertThat(pieces).containsExactly(payload);
        assertThat(hex(Pieces.join(List.of(out.part(0))))).isEqualTo("0000000100000005");
        assertThat(hex(Pieces.join(List.of(out.part(1))))).isEqualTo("00000002");
        assertThat(out.reducedLength()).isEqualTo(12);
        assertThat(out.position()).isEqualTo(20);
        assertThat(hex(out.toByteArray())).isEqualTo("0000000100000005" + "0102030405000000" + "00000002");
    }

    @Test
    void itemThatIsWrittenHereIsKeptApartToo() {
        XdrWriter out = new XdrWriter();
        out.writeInt(1);
        out.beginItem();
        out.writeBytes(payload(2));
        out.writeBytes(payload(3));
        out.endItem();
        out.writeInt(2);

        assertThat(out.itemPosition(0)).isEqualTo(8);
        assertThat(out.itemLength(0)).isEqualTo(5);
        assertThat(out.reducedLength()).isEqualTo(12);
        assertThat(out.position()).isEqualTo(20);
        assertThat(hex(Pieces.join(List.of(out.part(0), out.part(1))))).isEqualTo("000000010000000500000002");
        assertThat(hex(out.toByteArray())).isEqualTo("0000000100000005" + "0102010203000000" + "00000002");
    }

    @Test
    void positionOfASecondItemCountsTheFirstAndItsPad() {
        XdrWriter out = new XdrWriter();
        out.writeItem(payload(5));
        out.writeItem(List.of(payload(4), payload(2)));
        assertThat(out.itemPosition(0)).isEqualTo(4);
        assertThat(out.itemPosition(1)).isEqualTo(4 + 8 + 4);
        assertThat(out.itemLength(1)).isEqualTo(6);
        assertThat(hex(out.toByteArray())).isEqualTo("00000005" + "0102030405000000" + "00000006" + "0102030401020000");
    }

    @Test
    void emptyItemTakesNothing() {
        XdrWriter out = new XdrWriter();
        out.writeItem(payload(0));
        out.beginItem();
        out.endItem();
        assertThat(hex(out.toByteArray())).isEqualTo("0000000000000000");
        assertThat(out.itemPosition(1)).isEqualTo(8);
    }

    @Test
    void itemsAreNotNested() {
        XdrWriter out = new XdrWriter();
        assertThatIllegalStateException().isThrownBy(out::endItem);
        out.beginItem();
        assertThatIllegalStateException().isThrownBy(out::beginItem);
        assertThatIllegalStateException().isThrownBy(() -> out.writeItem(payload(1)));
    }

    @Test
    void writerIsUsedAgain() {
        XdrWriter out = new XdrWriter();
        out.writeItem(payload(5));
        out.beginItem();
        out.reset();
        assertThat(out.position()).isZero();
        assertThat(out.items()).isZero();
        out.writeItem(payload(1));
        assertThat(hex(out.toByteArray())).isEqualTo("0000000101000000");
        out.reset(MemorySegment.ofArray(new byte[4]));
        out.writeHyper(1);
        assertThat(hex(out.toByteArray())).isEqualTo("0000000000000001");
    }

    @Test
    void unsignedIntBeyondItsRangeIsTheCallersMistake() {
        assertThatIllegalArgumentException().isThrownBy(() -> new XdrWriter().writeUnsignedInt(1L << 32));
        assertThatIllegalArgumentException().isThrownBy(() -> new XdrWriter().writeUnsignedInt(-1));
    }
}
