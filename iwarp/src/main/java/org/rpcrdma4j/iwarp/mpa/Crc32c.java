// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mpa;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * The CRC of an FPDU (RFC 5044, Section 4.4: the CRC32c of iSCSI), over ranges of buffers.
 *
 * <p>Reused for every FPDU of one direction; not thread-safe. The field on the wire holds the value with its least
 * significant byte first, unlike every other number of iWARP.
 */
public final class Crc32c {
    public static final int BYTES = 4;

    private final CRC32C crc = new CRC32C();
    private final byte[] zeros = new byte[BYTES];

    public void reset() {
        crc.reset();
    }

    /**
     * Adds the bytes from one absolute index up to, not including, another. Position and limit of the buffer are
     * used on the way and set back, so nobody else may use the buffer meanwhile.
     */
    public void update(ByteBuffer buffer, int from, int to) {
        int position = buffer.position();
        int limit = buffer.limit();
        buffer.limit(to).position(from);
        try {
            crc.update(buffer);
        } finally {
            buffer.limit(limit).position(position);
        }
    }

    /** Adds zero bytes: a pad that needs no buffer. */
    public void updateZeros(int count) {
        crc.update(zeros, 0, count);
    }

    public int value() {
        return (int) crc.getValue();
    }

    /** Reads a CRC field. */
    public static int read(ByteBuffer buffer, int at) {
        int raw = buffer.getInt(at);
        return buffer.order() == ByteOrder.LITTLE_ENDIAN ? raw : Integer.reverseBytes(raw);
    }

    /** Writes a CRC field. */
    public static void write(ByteBuffer buffer, int at, int value) {
        buffer.putInt(at, buffer.order() == ByteOrder.LITTLE_ENDIAN ? value : Integer.reverseBytes(value));
    }
}
