// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.raw;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.zip.CRC32C;

/** One DDP segment built by hand, byte by byte: shares no code with the product. Immutable; the {@code with} methods copy. */
final class Ulpdu {
    static final int WRITE = 0;
    static final int READ_REQUEST = 1;
    static final int READ_RESPONSE = 2;
    static final int SEND = 3;
    static final int SEND_INVALIDATE = 4;
    static final int SEND_SOLICITED = 5;
    static final int SEND_SOLICITED_INVALIDATE = 6;
    static final int TERMINATE = 7;

    /** Where fields of the untagged header begin. */
    static final int AT_STAG = 2;

    static final int AT_QN = 6;
    static final int AT_MSN = 10;
    static final int AT_MO = 14;

    /** Where the tagged offset begins. */
    static final int AT_TO = 6;

    static final int UNTAGGED_HEADER = 18;
    static final int TAGGED_HEADER = 14;

    private final byte[] octets;

    Ulpdu(byte[] octets) {
        this.octets = octets.clone();
    }

    static Ulpdu untagged(int opcode, int stag, int qn, int msn, int mo, byte... payload) {
        ByteBuffer segment = ByteBuffer.allocate(UNTAGGED_HEADER + payload.length);
        segment.put((byte) 0x41).put((byte) (0x40 | opcode));
        segment.putInt(stag).putInt(qn).putInt(msn).putInt(mo).put(payload);
        return new Ulpdu(segment.array());
    }

    static Ulpdu tagged(int opcode, int stag, long to, byte... payload) {
        ByteBuffer segment = ByteBuffer.allocate(TAGGED_HEADER + payload.length);
        segment.put((byte) 0xC1)
                .put((byte) (0x40 | opcode))
                .putInt(stag)
                .putLong(to)
                .put(payload);
        return new Ulpdu(segment.array());
    }

    static Ulpdu send(int msn, byte... payload) {
        return untagged(SEND, 0, 0, msn, 0, payload);
    }

    static Ulpdu sendInvalidate(int msn, int stag, byte... payload) {
        return untagged(SEND_INVALIDATE, stag, 0, msn, 0, payload);
    }

    static Ulpdu write(int stag, long to, byte... payload) {
        return tagged(WRITE, stag, to, payload);
    }

    /** A Write of no length to nowhere: without effect, but an FPDU. */
    static Ulpdu nothing() {
        return write(0xDEAD_BEEF, -1);
    }

    static Ulpdu response(int stag, long to, byte... payload) {
        return tagged(READ_RESPONSE, stag, to, payload);
    }

    static Ulpdu readRequest(int msn, int sinkStag, long sinkTo, int size, int sourceStag, long sourceTo) {
        ByteBuffer header = ByteBuffer.allocate(28);
        header.putInt(sinkStag).putLong(sinkTo).putInt(size).putInt(sourceStag).putLong(sourceTo);
        return untagged(READ_REQUEST, 0, 1, msn, 0, header.array());
    }

    /** A Terminate with this control word and what stands behind it. */
    static Ulpdu terminate(int word, byte... rest) {
        return untagged(
                TERMINATE,
                0,
                2,
                1,
                0,
                ByteBuffer.allocate(4 + rest.length).putInt(word).put(rest).array());
    }

    /** A Terminate with nothing attached. */
    static Ulpdu terminate(int layer, int type, int code) {
        return terminate(layer << 28 | type << 24 | code << 16);
    }

    /** A Terminate that quotes the header of a segment. */
    static Ulpdu terminateFor(int layer, int type, int code, Ulpdu offender) {
        byte[] header = Arrays.copyOf(offender.octets, offender.headerLength());
        return terminate(
                layer << 28 | type << 24 | code << 16 | 0xC000,
                ByteBuffer.allocate(2 + header.length)
                        .putShort((short) offender.length())
                        .put(header)
                        .array());
    }

    /** A Terminate that quotes a Read Request. */
    static Ulpdu terminateForRead(int layer, int type, int code, Ulpdu request) {
        return terminate(
                layer << 28 | type << 24 | code << 16 | 0xE000,
                ByteBuffer.allocate(2 + 46)
                        .putShort((short) request.length())
                        .put(request.octets, 0, 46)
                        .array());
    }

    Ulpdu notLast() {
        return withOctet(0, octets[0] & ~0x40);
    }

    Ulpdu withOctet(int at, int value) {
        byte[] changed = octets.clone();
        changed[at] = (byte) value;
        return new Ulpdu(changed);
    }

    Ulpdu withInt(int at, int value) {
        byte[] changed = octets.clone();
        ByteBuffer.wrap(changed).putInt(at, value);
        return new Ulpdu(changed);
    }

    /** Cut short, or with zeros behind. */
    Ulpdu withLength(int length) {
        return new Ulpdu(Arrays.copyOf(octets, length));
    }

    int length() {
        return octets.length;
    }

    byte[] octets() {
        return octets.clone();
    }

    boolean isTagged() {
        return (octets[0] & 0x80) != 0;
    }

    boolean isLast() {
        return (octets[0] & 0x40) != 0;
    }

    private int headerLength() {
        return isTagged() ? TAGGED_HEADER : UNTAGGED_HEADER;
    }

    int opcode() {
        return octets[1] & 0x0F;
    }

    int stag() {
        return intAt(AT_STAG);
    }

    long to() {
        return ByteBuffer.wrap(octets).getLong(AT_TO);
    }

    int intAt(int at) {
        return ByteBuffer.wrap(octets).getInt(at);
    }

    long longAt(int at) {
        return ByteBuffer.wrap(octets).getLong(at);
    }

    byte[] payload() {
        return Arrays.copyOfRange(octets, headerLength(), octets.length);
    }

    /** The FPDU around it, with zeros as pad. */
    byte[] fpdu(boolean crc) {
        return fpdu((byte) 0, crc);
    }

    /** The FPDU around it, with CRC and this octet as pad. */
    byte[] fpdu(byte pad, boolean crc) {
        int padded = 2 + octets.length + padLength(octets.length);
        ByteBuffer frame = ByteBuffer.allocate(padded + 4);
        frame.putShort((short) octets.length).put(octets);
        while (frame.position() < padded) {
            frame.put(pad);
        }
        return frame.putInt(crc ? Integer.reverseBytes(crc(frame.array(), padded)) : 0)
                .array();
    }

    static int padLength(int ulpduLength) {
        return (4 - (2 + ulpduLength) % 4) % 4;
    }

    static int crc(byte[] frame, int length) {
        CRC32C crc = new CRC32C();
        crc.update(frame, 0, length);
        return (int) crc.getValue();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Ulpdu ulpdu && Arrays.equals(octets, ulpdu.octets);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(octets);
    }

    @Override
    public String toString() {
        return HexFormat.of().formatHex(octets, 0, Math.min(octets.length, 96))
                + (octets.length > 96 ? "... " + octets.length : "");
    }
}
