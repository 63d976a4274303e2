// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mpa;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One MPA Request or Reply frame (RFC 5044, Section 7.1.1; RFC 6581, Section 6). Immutable.
 *
 * <pre>
 *    0 +-----------------------------------------------+
 *      |  Key, 16 bytes: "MPA ID Req Frame" or "…Rep…"  |
 *   16 +---+---+---+---+-------+-----------+-----------+
 *      | M | C | R | S | zero  |    Rev    | PD_Length |   PD_Length: 16 bits
 *   20 +---+---+---+---+-------+-----------+-----------+
 *      |  S=1: two control words, 4 bytes               |   counted in PD_Length
 *      |  private data of the ULP                       |   0..512, or 0..508 behind control words
 *      +-----------------------------------------------+
 * </pre>
 *
 * @param markers M: the sender wants markers in what it receives
 * @param crc C: the sender wants CRCs
 * @param rejected R: the refusal in a Reply; without meaning in a Request
 * @param enhancedSetup the control words, present exactly when S=1
 * @param privateData the ULP's part of the private data, copied on the way in and out
 */
@SuppressWarnings("ArrayRecordComponent") // copied on the way in and out; equality compares the content
public record MpaFrame(
        Kind kind,
        boolean markers,
        boolean crc,
        boolean rejected,
        int revision,
        @Nullable EnhancedSetup enhancedSetup,
        byte[] privateData) {
    public static final int HEADER_BYTES = 20;
    public static final int MAX_PRIVATE_DATA_BYTES = 512;

    /** What every known peer takes, Linux siw and cards included; they have half the room of the standard or less. */
    public static final int PORTABLE_PRIVATE_DATA_BYTES = 196;

    public static final int REVISION_PLAIN = 1;
    public static final int REVISION_ENHANCED = 2;

    static final int FLAG_MARKERS = 0x80;
    static final int FLAG_CRC = 0x40;
    static final int FLAG_REJECTED = 0x20;
    static final int FLAG_ENHANCED = 0x10;
    static final int FLAGS_OFFSET = 16;
    static final int REVISION_OFFSET = 17;
    static final int PD_LENGTH_OFFSET = 18;

    /** Which of the two frames, told apart by the key. */
    public enum Kind {
        REQUEST("MPA ID Req Frame"),
        REPLY("MPA ID Rep Frame");

        static final int KEY_BYTES = 16;

        private final String key;

        Kind(String key) {
            this.key = key;
        }

        byte keyByte(int index) {
            return (byte) key.charAt(index);
        }

        Kind other() {
            return this == REQUEST ? REPLY : REQUEST;
        }
    }

    public MpaFrame {
        Objects.requireNonNull(kind, "kind");
        if (revision != REVISION_PLAIN && revision != REVISION_ENHANCED) {
            throw new IllegalArgumentException("MPA revision must be 1 or 2: " + revision);
        }
        // RFC 6581, Section 6: control words need revision 2 or higher.
        if (enhancedSetup != null && revision < REVISION_ENHANCED) {
            throw new IllegalArgumentException("control words need MPA revision 2: " + revision);
        }
        // RFC 5044, Section 7.1.1: at most 512 bytes; RFC 6581, Section 6: the control words are part of them.
        int limit = maxPrivateDataBytes(enhancedSetup != null);
        if (privateData.length > limit) {
            throw new IllegalArgumentException(
                    "private data must be at most %d bytes: %d".formatted(limit, privateData.length));
        }
        privateData = privateData.clone();
    }

    /** How much private data the ULP may add to a frame with or without control words. */
    public static int maxPrivateDataBytes(boolean enhanced) {
        return enhanced ? MAX_PRIVATE_DATA_BYTES - EnhancedSetup.BYTES : MAX_PRIVATE_DATA_BYTES;
    }

    @Override
    public byte[] privateData() {
        return privateData.clone();
    }

    /** S: the frame has control words. */
    public boolean isEnhanced() {
        return enhancedSetup != null;
    }

    /** The value of PD_Length: all bytes behind the header, control words included. */
    public int pdLength() {
        return privateData.length + (isEnhanced() ? EnhancedSetup.BYTES : 0);
    }

    /** The flags octet; its reserved bits are zero. */
    public int flags() {
        return (markers ? FLAG_MARKERS : 0)
                | (crc ? FLAG_CRC : 0)
                | (rejected ? FLAG_REJECTED : 0)
                | (isEnhanced() ? FLAG_ENHANCED : 0);
    }

    /** The whole frame as it goes on the wire. */
    public byte[] encode() {
        ByteBuffer frame = ByteBuffer.allocate(HEADER_BYTES + pdLength());
        frame.put(kind.key.getBytes(StandardCharsets.US_ASCII));
        frame.put((byte) flags());
        frame.put((byte) revision);
        frame.putShort((short) pdLength());
        if (enhancedSetup != null) {
            enhancedSetup.encode(frame, frame.position());
            frame.position(frame.position() + EnhancedSetup.BYTES);
        }
        frame.put(privateData);
        return frame.array();
    }

    /** Builds the frame from a header and a body whose sizes and revision were checked. */
    static MpaFrame decode(Kind kind, ByteBuffer header, byte[] body) {
        int flags = Byte.toUnsignedInt(header.get(FLAGS_OFFSET));
        int revision = Byte.toUnsignedInt(header.get(REVISION_OFFSET));
        boolean enhanced = isEnhanced(flags, revision);
        return new MpaFrame(
                kind,
                (flags & FLAG_MARKERS) != 0,
                (flags & FLAG_CRC) != 0,
                (flags & FLAG_REJECTED) != 0,
                revision,
                enhanced ? EnhancedSetup.decode(ByteBuffer.wrap(body), 0) : null,
                enhanced ? Arrays.copyOfRange(body, EnhancedSetup.BYTES, body.length) : body);
    }

    static boolean isEnhanced(int flags, int revision) {
        // RFC 5044, Section 7.1.1: reserved bits are not checked. In revision 1 the S bit is one of them.
        return revision >= REVISION_ENHANCED && (flags & FLAG_ENHANCED) != 0;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof MpaFrame frame
                && kind == frame.kind
                && flags() == frame.flags()
                && revision == frame.revision
                && Objects.equals(enhancedSetup, frame.enhancedSetup)
                && Arrays.equals(privateData, frame.privateData);
    }

    @Override
    public int hashCode() {
        return Objects.hash(kind, flags(), revision, enhancedSetup, Arrays.hashCode(privateData));
    }

    @Override
    public String toString() {
        return "MPA %s rev %d flags %02X %s, %d bytes of private data"
                .formatted(
                        kind, revision, flags(), enhancedSetup == null ? "plain" : enhancedSetup, privateData.length);
    }
}
