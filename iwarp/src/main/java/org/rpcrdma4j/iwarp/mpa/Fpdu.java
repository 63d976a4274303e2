// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mpa;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Sizes and the trailer of an FPDU (RFC 5044, Section 4.1).
 *
 * <pre>
 *   0          2                        2+L          2+L+pad      +4
 *   +----------+------------------------+------------+------------+
 *   |  L (16)  | ULPDU: one DDP segment | pad, 0..3  |   CRC32c   |
 *   +----------+------------------------+------------+------------+
 *    \______________ covered by the CRC ____________/
 * </pre>
 */
public final class Fpdu {
    /** The length field, which counts the ULPDU alone. */
    public static final int LENGTH_BYTES = 2;

    /** RFC 5044, Section 3: no larger ULPDU is ever handed to MPA. */
    public static final int MAX_SENT_ULPDU = 64768;

    /** The largest ULPDU below {@link #MAX_SENT_ULPDU} that needs no pad: the size for all segments but the last. */
    public static final int BEST_SENT_ULPDU = 64766;

    /** What the length field can say. Linux siw goes beyond 64768 on loopback, so receivers take all of it. */
    public static final int MAX_RECEIVED_ULPDU = 65535;

    /** A receive buffer must hold at least one of these. */
    public static final int MAX_RECEIVED_FPDU = fpduBytes(MAX_RECEIVED_ULPDU);

    /** RFC 5044, Section 3: MULPDU lies between this and {@link #MAX_SENT_ULPDU}. */
    public static final int MIN_MULPDU = 128;

    private static final int ALIGNMENT = 4;
    private static final int OVERHEAD_BYTES = LENGTH_BYTES + Crc32c.BYTES;
    private static final int IPV4_TCP_HEADER_BYTES = 40;
    private static final int IPV6_TCP_HEADER_BYTES = 60;
    private static final int TCP_TIMESTAMP_BYTES = 12;

    private Fpdu() {}

    /** The pad behind a ULPDU of this length: length field, ULPDU and pad together are a multiple of 4. */
    public static int pad(int ulpduLength) {
        return -(LENGTH_BYTES + ulpduLength) & (ALIGNMENT - 1);
    }

    /** The whole FPDU around a ULPDU of this length; always a multiple of 4. */
    public static int fpduBytes(int ulpduLength) {
        return LENGTH_BYTES + ulpduLength + pad(ulpduLength) + Crc32c.BYTES;
    }

    /** Pad and CRC field together: 4 to 7 bytes. */
    public static int trailerBytes(int ulpduLength) {
        return pad(ulpduLength) + Crc32c.BYTES;
    }

    /** The largest ULPDU whose FPDU fits a TCP segment of this size, without markers. */
    public static int mulpdu(int emss) {
        // RFC 5044, Section 4.5: EMSS - (6 + EMSS mod 4), but never outside 128..64768.
        int fitting = emss - (OVERHEAD_BYTES + Math.floorMod(emss, ALIGNMENT));
        return Math.clamp(fitting, MIN_MULPDU, MAX_SENT_ULPDU);
    }

    /** The effective maximum segment size to expect from the MTU of the local interface. */
    public static int emss(int mtu, boolean ipv6) {
        // RFC 5044, Section 5.1: without knowledge of EMSS, the MTU less the headers to expect stands in for it.
        return mtu - (ipv6 ? IPV6_TCP_HEADER_BYTES : IPV4_TCP_HEADER_BYTES) - TCP_TIMESTAMP_BYTES;
    }

    /** Writes the length field. */
    public static void putLength(ByteBuffer target, int at, int ulpduLength) {
        target.putShort(at, (short) ulpduLength);
    }

    /** Reads the length field. */
    public static int length(ByteBuffer source, int at) {
        return Short.toUnsignedInt(source.getShort(at));
    }

    /**
     * Writes pad and CRC field.
     *
     * @param crc has taken length field and ULPDU, and takes the pad here; null when CRCs are not in use
     * @return the bytes written
     */
    public static int putTrailer(ByteBuffer target, int at, int ulpduLength, @Nullable Crc32c crc) {
        int pad = pad(ulpduLength);
        // RFC 5044, Section 4.1: the pad is sent as zeros.
        for (int i = 0; i < pad; i++) {
            target.put(at + i, (byte) 0);
        }
        if (crc != null) {
            // RFC 5044, Section 4.4: the CRC covers length field, ULPDU and pad.
            crc.updateZeros(pad);
        }
        // RFC 5044, Section 4.4: the field is there even when CRCs are not in use; it holds zero then.
        Crc32c.write(target, at + pad, crc == null ? 0 : crc.value());
        return pad + Crc32c.BYTES;
    }
}
