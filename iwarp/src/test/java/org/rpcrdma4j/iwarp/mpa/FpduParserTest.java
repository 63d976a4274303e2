// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mpa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.iwarp.error.MpaError;
import org.rpcrdma4j.iwarp.error.MpaException;
import org.rpcrdma4j.iwarp.error.TerminateError;

class FpduParserTest {
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 14, 18, 46, 1442, 64768, 65535})
    void passesEachUlpduUpWithItsLength(int length) throws MpaException {
        ByteBuffer staging = staging(fpdu(length, 0), fpdu(3, 0));
        FpduParser parser = new FpduParser(true);

        assertThat(parser.next(staging)).isEqualTo(length);
        assertThat(parser.ulpduOffset()).isEqualTo(2);
        assertThat(staging.position()).isEqualTo(Fpdu.fpduBytes(length));
        assertThat(parser.next(staging)).isEqualTo(3);
        assertThat(parser.ulpduOffset()).isEqualTo(Fpdu.fpduBytes(length) + 2);
        assertThat(parser.next(staging)).isEqualTo(-1);
    }

    @Test
    void takesNothingBeforeTheLastByteOfTheCrcIsThere() throws MpaException {
        byte[] fpdu = fpdu(21, 0);
        ByteBuffer staging = staging(fpdu);
        FpduParser parser = new FpduParser(true);

        for (int there = 0; there < fpdu.length; there++) {
            staging.limit(there);
            assertThat(parser.next(staging)).isEqualTo(-1);
            assertThat(staging.position()).isZero();
            assertThat(parser.missingBytes(staging)).isEqualTo(there < 2 ? 2 - there : fpdu.length - there);
        }
        staging.limit(fpdu.length);
        assertThat(parser.missingBytes(staging)).isZero();
        assertThat(parser.next(staging)).isEqualTo(21);
    }

    @Test
    void catchesEachFlippedBitOfAnFpdu() {
        byte[] good = fpdu(23, 0);
        // The first two bytes are the length; damaged, it may also ask for more bytes than there are.
        for (int bit = 16; bit < good.length * 8; bit++) {
            byte[] bad = good.clone();
            bad[bit / 8] ^= (byte) (1 << (bit % 8));

            MpaException failure = failure(new FpduParser(true), staging(bad));

            assertThat(failure.error()).as("bit %d", bit).isEqualTo(MpaError.CRC_MISMATCH);
            assertThat(failure.terminateError()).isEqualTo(TerminateError.MPA_CRC);
        }
    }

    @Test
    void catchesADamagedLength() {
        byte[] bad = fpdu(23, 0);
        bad[1] = 15;

        assertThat(failure(new FpduParser(true), staging(bad)).error()).isEqualTo(MpaError.CRC_MISMATCH);
    }

    @Test
    void ignoresThePadButForTheCrc() throws MpaException {
        byte[] zeroPad = fpdu(19, 0);
        byte[] onesPad = fpdu(19, 0xFF);
        assertThat(onesPad[22]).isEqualTo((byte) 0xFF);
        assertThat(new FpduParser(true).next(staging(onesPad))).isEqualTo(19);

        System.arraycopy(zeroPad, 24, onesPad, 24, 4);
        assertThat(failure(new FpduParser(true), staging(onesPad)).error()).isEqualTo(MpaError.CRC_MISMATCH);
    }

    @Test
    void acceptsAnyCrcFieldWhileCrcsAreNotInUse() throws MpaException {
        byte[] fpdu = fpdu(23, 0);
        fpdu[fpdu.length - 1] ^= 0x5A;

        assertThat(new FpduParser(false).next(staging(fpdu))).isEqualTo(23);
    }

    @Test
    void passesNothingUpAfterAMismatch() {
        byte[] bad = fpdu(23, 0);
        bad[5] ^= 1;
        FpduParser parser = new FpduParser(true);
        ByteBuffer staging = staging(bad);
        MpaException first = failure(parser, staging);

        assertThat(staging.position()).isZero();
        assertThat(failure(parser, staging(fpdu(23, 0)))).isSameAs(first);
    }

    @Test
    void worksAnywhereInADirectBuffer() throws MpaException {
        byte[] fpdu = fpdu(1442, 0);
        ByteBuffer staging = ByteBuffer.allocateDirect(Fpdu.MAX_RECEIVED_FPDU);
        FpduParser parser = new FpduParser(true);
        for (int at = 0; at < 8; at++) {
            staging.clear().position(at).put(fpdu).limit(at + fpdu.length).position(at);

            assertThat(parser.next(staging)).isEqualTo(1442);
            assertThat(parser.ulpduOffset()).isEqualTo(at + 2);
            assertThat(staging.limit()).isEqualTo(at + fpdu.length);
            assertThat(staging.hasRemaining()).isFalse();
        }
    }

    @Test
    void leavesPositionAndLimitOfTheBufferAlone() {
        ByteBuffer buffer = ByteBuffer.allocate(16).position(3).limit(9);
        Crc32c crc = new Crc32c();
        crc.update(buffer, 10, 16);
        crc.updateZeros(2);
        int whole = crc.value();
        crc.reset();
        crc.update(buffer, 0, 8);

        assertThat(buffer.position()).isEqualTo(3);
        assertThat(buffer.limit()).isEqualTo(9);
        assertThat(crc.value()).isEqualTo(whole);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void allocatesNothingPerFpdu(boolean direct) throws MpaException {
        int fpdus = 1000;
        byte[] fpdu = fpdu(46, 0);
        ByteBuffer staging = direct ? ByteBuffer.allocateDirect(fpdus * 52) : ByteBuffer.allocate(fpdus * 52);
        for (int i = 0; i < fpdus; i++) {
            staging.put(fpdu);
        }
        FpduParser parser = new FpduParser(true);
        takeAll(parser, staging.flip());
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        for (int round = 0; round < 20; round++) {
            staging.rewind();
            long before = threads.getCurrentThreadAllocatedBytes();
            takeAll(parser, staging);
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }

        assertThat(least).as("bytes for %d FPDUs", fpdus).isLessThan(fpdus);
    }

    private static void takeAll(FpduParser parser, ByteBuffer staging) throws MpaException {
        int taken = 0;
        while (parser.next(staging) >= 0) {
            taken++;
        }
        assertThat(taken).isEqualTo(1000);
    }

    /** An FPDU built by hand: the ULPDU counts up, the pad has a given value. */
    private static byte[] fpdu(int ulpduLength, int padValue) {
        int pad = (4 - (2 + ulpduLength) % 4) % 4;
        byte[] fpdu = new byte[2 + ulpduLength + pad + 4];
        fpdu[0] = (byte) (ulpduLength >>> 8);
        fpdu[1] = (byte) ulpduLength;
        for (int i = 0; i < ulpduLength + pad; i++) {
            fpdu[2 + i] = (byte) (i < ulpduLength ? i : padValue);
        }
        CRC32C crc = new CRC32C();
        crc.update(fpdu, 0, fpdu.length - 4);
        for (int i = 0; i < 4; i++) {
            fpdu[fpdu.length - 4 + i] = (byte) (crc.getValue() >>> (8 * i));
        }
        return fpdu;
    }

    private static ByteBuffer staging(byte[]... fpdus) {
        ByteBuffer staging = ByteBuffer.allocate(2 * Fpdu.MAX_RECEIVED_FPDU);
        for (byte[] fpdu : fpdus) {
            staging.put(fpdu);
        }
        return staging.flip();
    }

    private static MpaException failure(FpduParser parser, ByteBuffer staging) {
        return catchThrowableOfType(MpaException.class, () -> parser.next(staging));
    }
}
