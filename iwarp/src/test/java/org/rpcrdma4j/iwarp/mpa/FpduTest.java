// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mpa;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FpduTest {
    @Test
    void padsEveryFpduToAMultipleOfFour() {
        for (int length = 0; length <= Fpdu.MAX_RECEIVED_ULPDU; length++) {
            int pad = Fpdu.pad(length);
            assertThat(pad).isBetween(0, 3);
            assertThat((2 + length + pad) % 4).isZero();
            assertThat(Fpdu.fpduBytes(length)).isEqualTo(2 + length + pad + 4);
            assertThat(Fpdu.trailerBytes(length)).isEqualTo(pad + 4);
        }
    }

    @ParameterizedTest
    @CsvSource({"14, 20", "18, 24", "22, 28", "46, 52", "1442, 1448", "64768, 64776", "65535, 65544"})
    void hasTheSizesOfTheStandard(int ulpdu, int fpdu) {
        assertThat(Fpdu.fpduBytes(ulpdu)).isEqualTo(fpdu);
    }

    @ParameterizedTest
    @CsvSource({
        "1448, 1442",
        "1449, 1442",
        "1450, 1442",
        "1451, 1442",
        "1452, 1446",
        "1428, 1422",
        "0, 128",
        "40, 128",
        "128, 128",
        "134, 128",
        "136, 130",
        "139, 130",
        "140, 134",
        "65483, 64768",
        "64774, 64766",
        "64776, 64768",
        "-40, 128"
    })
    void computesMulpduFromTheSegmentSize(int emss, int mulpdu) {
        assertThat(Fpdu.mulpdu(emss)).isEqualTo(mulpdu);
    }

    @Test
    void fillsASegmentExactlyAndWithoutPad() {
        for (int emss = 140; emss < 64776; emss++) {
            int mulpdu = Fpdu.mulpdu(emss);
            assertThat(Fpdu.pad(mulpdu)).isZero();
            assertThat(Fpdu.fpduBytes(mulpdu)).isBetween(emss - 3, emss);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "1500, false, 1442",
        "1500, true, 1422",
        "9000, false, 8942",
        "576, false, 518",
        "65536, false, 64768",
        "68, false, 128",
        "1280, true, 1202"
    })
    void derivesTheSegmentSizeFromTheMtu(int mtu, boolean ipv6, int mulpdu) {
        assertThat(Fpdu.mulpdu(Fpdu.emss(mtu, ipv6))).isEqualTo(mulpdu);
    }

    @Test
    void needsNoPadInItsBestSize() {
        assertThat(Fpdu.pad(Fpdu.BEST_SENT_ULPDU)).isZero();
        assertThat(Fpdu.BEST_SENT_ULPDU).isLessThanOrEqualTo(Fpdu.MAX_SENT_ULPDU);
        assertThat(Fpdu.pad(Fpdu.BEST_SENT_ULPDU + 1)).isPositive();
    }

    @Test
    void writesAZeroPadIntoADirtyBuffer() {
        for (int length = 18; length < 22; length++) {
            ByteBuffer target = ByteBuffer.allocate(8).putLong(0, -1);

            int written = Fpdu.putTrailer(target, 0, length, null);

            assertThat(written).isEqualTo(Fpdu.trailerBytes(length));
            for (int i = 0; i < written; i++) {
                assertThat(target.get(i)).isZero();
            }
            for (int i = written; i < 8; i++) {
                assertThat(target.get(i)).isEqualTo((byte) -1);
            }
        }
    }

    @Test
    void keepsTheWholeLengthField() {
        ByteBuffer field = ByteBuffer.allocate(4);
        Fpdu.putLength(field, 1, 65535);

        assertThat(Fpdu.length(field, 1)).isEqualTo(65535);
        assertThat(field.getInt(0)).isEqualTo(0x00FFFF00);
    }
}
