// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/** Finds the FPDUs in what one end wrote, and checks their frame. Shares no code with the streams it looks at. */
final class WireTap implements Consumer<ByteBuffer> {
    private final int maxUlpdu;
    private final boolean crc;
    private final Consumer<WireSegment> segments;
    private byte[] fpdu = new byte[1 << 8];
    private int have;
    private long position;

    WireTap(int maxUlpdu, boolean crc, Consumer<WireSegment> segments) {
        this.maxUlpdu = maxUlpdu;
        this.crc = crc;
        this.segments = segments;
    }

    @Override
    public void accept(ByteBuffer written) {
        while (written.hasRemaining()) {
            int wanted = have < 2 ? 2 : size();
            if (fpdu.length < wanted) {
                fpdu = Arrays.copyOf(fpdu, wanted);
            }
            int part = Math.min(wanted - have, written.remaining());
            written.get(fpdu, have, part);
            have += part;
            if (have >= 2 && have == size()) {
                whole();
                have = 0;
            }
        }
    }

    private int length() {
        return ((fpdu[0] & 0xFF) << 8) | (fpdu[1] & 0xFF);
    }

    private int size() {
        return (2 + length() + 3) / 4 * 4 + 4;
    }

    /** Whether an FPDU has begun and not ended. */
    boolean isInside() {
        return have > 0;
    }

    private void whole() {
        int size = size();
        int length = length();
        if (length > maxUlpdu) {
            throw new AssertionError("ULPDU of " + length + " above the limit of " + maxUlpdu);
        }
        for (int i = 2 + length; i < size - 4; i++) {
            assertThat(fpdu[i]).as("pad").isZero();
        }
        int expected = 0;
        if (crc) {
            CRC32C sum = new CRC32C();
            sum.update(fpdu, 0, size - 4);
            expected = Integer.reverseBytes((int) sum.getValue());
        }
        int found = ByteBuffer.wrap(fpdu).getInt(size - 4);
        if (found != expected) {
            throw new AssertionError("CRC %08x instead of %08x at %d".formatted(found, expected, position));
        }
        ByteBuffer ulpdu = ByteBuffer.wrap(Arrays.copyOfRange(fpdu, 2, 2 + length));
        segments.accept(new WireSegment(position, position + size, ulpdu));
        position += size;
    }
}
