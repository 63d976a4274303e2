// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mpa;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.error.MpaError;
import org.rpcrdma4j.iwarp.error.MpaException;

/**
 * Finds the FPDUs in what was read from the stream, one after the other by their length fields.
 *
 * <p>The staging buffer is the caller's, big-endian, and at least {@link Fpdu#MAX_RECEIVED_FPDU} bytes; its position
 * is the next FPDU boundary, its limit the end of what has arrived. {@link #next} moves the position behind an FPDU
 * only when all of it is there and its CRC is good. After a mismatch the boundary is lost: every later call fails the
 * same way. Not thread-safe: owned by the reader of the connection. Nothing is allocated per FPDU.
 */
public final class FpduParser {
    private static final int INCOMPLETE = -1;

    private final @Nullable Crc32c crc;
    private int ulpduOffset;
    private @Nullable MpaException failure;

    /**
     * @param crc whether the start-up exchange turned CRCs on
     */
    public FpduParser(boolean crc) {
        this.crc = crc ? new Crc32c() : null;
    }

    /**
     * Takes the FPDU at the position of the staging buffer.
     *
     * @return the length of its ULPDU, which may be 0, or -1 if it is incomplete
     * @throws MpaException if its CRC is wrong
     */
    public int next(ByteBuffer staging) throws MpaException {
        // RFC 5044, Section 8: after an error no further FPDU is passed up.
        if (failure != null) {
            throw failure;
        }
        // RFC 5044, Section 6: the length decides that all of the FPDU is there before its ULPDU goes up.
        if (missingBytes(staging) > 0) {
            return INCOMPLETE;
        }
        int start = staging.position();
        int ulpduLength = Fpdu.length(staging, start);
        int end = start + Fpdu.fpduBytes(ulpduLength);
        checkCrc(staging, start, end - Crc32c.BYTES);
        ulpduOffset = start + Fpdu.LENGTH_BYTES;
        staging.position(end);
        return ulpduLength;
    }

    /** The absolute index in the staging buffer of the ULPDU that {@link #next} found last. */
    public int ulpduOffset() {
        return ulpduOffset;
    }

    /**
     * How many bytes of the FPDU at the position have not arrived: 0 if it is complete, at least 1 while its length
     * field is incomplete.
     */
    public int missingBytes(ByteBuffer staging) {
        int available = staging.remaining();
        if (available < Fpdu.LENGTH_BYTES) {
            return Fpdu.LENGTH_BYTES - available;
        }
        int ulpduLength = Fpdu.length(staging, staging.position());
        return Math.max(0, Fpdu.fpduBytes(ulpduLength) - available);
    }

    private void checkCrc(ByteBuffer staging, int start, int field) throws MpaException {
        // RFC 5044, Section 7.1.1: while CRCs are not in use, whatever the field holds is valid.
        if (crc == null) {
            return;
        }
        // RFC 5044, Section 4.4: the CRC is compared before anything else looks at the ULPDU.
        crc.reset();
        crc.update(staging, start, field);
        int found = Crc32c.read(staging, field);
        if (found != crc.value()) {
            failure = new MpaException(
                    MpaError.CRC_MISMATCH,
                    "expected CRC %08x over %d bytes, found %08x".formatted(crc.value(), field - start, found));
            throw failure;
        }
    }
}
