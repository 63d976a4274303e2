// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import java.nio.ByteBuffer;

/**
 * A DDP segment as {@link WireTap} saw it; read by offsets of its own.
 *
 * @param start offset in the stream of the FPDU's first byte
 * @param end of the byte behind it
 */
record WireSegment(long start, long end, ByteBuffer ulpdu) {
    static final int WRITE = 0;
    static final int READ_REQUEST = 1;
    static final int RESPONSE = 2;
    static final int SEND = 3;
    static final int SEND_INVALIDATE = 4;
    static final int SEND_SE = 5;
    static final int SEND_SE_INVALIDATE = 6;
    static final int TERMINATE = 7;

    boolean tagged() {
        return (ulpdu.get(0) & 0x80) != 0;
    }

    boolean last() {
        return (ulpdu.get(0) & 0x40) != 0;
    }

    int ddpRest() {
        return ulpdu.get(0) & 0x3F;
    }

    int control() {
        return ulpdu.get(1) & 0xFF;
    }

    int opcode() {
        return ulpdu.get(1) & 0x0F;
    }

    boolean isSend() {
        return opcode() >= SEND && opcode() <= SEND_SE_INVALIDATE;
    }

    int stag() {
        return ulpdu.getInt(2);
    }

    long to() {
        return ulpdu.getLong(6);
    }

    int queue() {
        return ulpdu.getInt(6);
    }

    int msn() {
        return ulpdu.getInt(10);
    }

    int mo() {
        return ulpdu.getInt(14);
    }

    int headerBytes() {
        return tagged() ? 14 : 18;
    }

    int payloadBytes() {
        return ulpdu.limit() - headerBytes();
    }

    ByteBuffer payload() {
        return ulpdu.slice(headerBytes(), payloadBytes());
    }

    @Override
    public String toString() {
        return "opcode %d%s %d bytes %s"
                .formatted(
                        opcode(),
                        last() ? " L" : "",
                        payloadBytes(),
                        tagged()
                                ? "STag %08x TO %016x".formatted(stag(), to())
                                : "QN %d MSN %d MO %d".formatted(queue(), msn(), mo()));
    }
}
