// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mpa;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.error.MpaError;
import org.rpcrdma4j.iwarp.error.MpaException;
import org.rpcrdma4j.iwarp.mpa.MpaFrame.Kind;

/**
 * Takes one start-up frame from a byte stream that may be cut anywhere.
 *
 * <p>States: reading the header (20 bytes), reading the private data, complete, or failed. A violation is reported
 * with the first byte that shows it, and again on every later call. Bytes behind the frame stay in the source. Not
 * thread-safe: owned by whoever sets up the connection.
 *
 * <p>The peer decides no allocation beyond the 512 bytes that RFC 5044 allows.
 */
public final class MpaFrameReader {
    private static final byte[] NOTHING = {};
    /** Where the two keys differ: q in a Request, p in a Reply. */
    private static final int ROLE_BYTE = 9;

    private final Kind expected;
    private final ByteBuffer header = ByteBuffer.allocate(MpaFrame.HEADER_BYTES);
    private byte[] body = NOTHING;
    private int bodyBytes;
    private @Nullable MpaFrame frame;
    private @Nullable MpaException failure;

    public MpaFrameReader(Kind expected) {
        this.expected = expected;
    }

    /**
     * Consumes bytes of this frame only.
     *
     * @return whether the frame is complete
     * @throws MpaException if what has arrived cannot be the start of a valid frame
     */
    public boolean read(ByteBuffer source) throws MpaException {
        if (failure != null) {
            throw failure;
        }
        if (frame != null) {
            return true;
        }
        while (header.hasRemaining()) {
            if (!source.hasRemaining()) {
                return false;
            }
            acceptHeaderByte(source.get());
        }
        int piece = Math.min(body.length - bodyBytes, source.remaining());
        source.get(body, bodyBytes, piece);
        bodyBytes += piece;
        if (bodyBytes < body.length) {
            return false;
        }
        frame = MpaFrame.decode(expected, header, body);
        return true;
    }

    public boolean isComplete() {
        return frame != null;
    }

    /**
     * The frame.
     *
     * @throws IllegalStateException unless it is complete
     */
    public MpaFrame frame() {
        if (frame == null) {
            throw new IllegalStateException("the MPA %s is not complete".formatted(expected));
        }
        return frame;
    }

    /** Describes an end of the stream before the frame was complete. */
    public MpaException endOfStream() {
        // RFC 5044, Section 7.1.1: a PD_Length that does not match the private data that came ends the connection.
        return new MpaException(
                MpaError.CONNECTION_LOST,
                "expected an MPA %s, found the end of the stream after %d bytes of it"
                        .formatted(expected, header.position() + bodyBytes));
    }

    private void acceptHeaderByte(byte value) throws MpaException {
        int index = header.position();
        header.put(value);
        if (index < Kind.KEY_BYTES) {
            checkKey(index, value);
        } else if (index == MpaFrame.REVISION_OFFSET) {
            checkRevision(Byte.toUnsignedInt(value));
        } else if (index == MpaFrame.PD_LENGTH_OFFSET) {
            // The high octet alone can already be too large.
            checkPdLength(Byte.toUnsignedInt(value) << 8);
        } else if (index == MpaFrame.PD_LENGTH_OFFSET + 1) {
            int pdLength = Short.toUnsignedInt(header.getShort(MpaFrame.PD_LENGTH_OFFSET));
            checkPdLength(pdLength);
            checkControlWords(pdLength);
            body = new byte[pdLength];
        }
    }

    private void checkKey(int index, byte value) throws MpaException {
        // RFC 5044, Section 7.1.1: any other key than the one of the opposite role closes the connection.
        if (value == expected.keyByte(index)) {
            return;
        }
        // RFC 5044, Section 7.1.2, rule 8: the keys tell two initiators apart.
        if (index == ROLE_BYTE && value == expected.other().keyByte(index)) {
            throw fail("expected an MPA %s, found an MPA %s: both ends are %ss"
                    .formatted(expected, expected.other(), expected == Kind.REPLY ? "initiator" : "responder"));
        }
        throw fail("expected the key of an MPA %s, found byte %02X at offset %d".formatted(expected, value, index));
    }

    private void checkRevision(int revision) throws MpaException {
        // RFC 5044, Section 7.1.1: a revision this side cannot work with closes the connection.
        if (revision != MpaFrame.REVISION_PLAIN && revision != MpaFrame.REVISION_ENHANCED) {
            throw fail("expected MPA revision 1 or 2, found " + revision);
        }
    }

    private void checkPdLength(int pdLength) throws MpaException {
        // RFC 5044, Section 7.1.1: private data is 0..512 bytes. Checked before anything is allocated.
        if (pdLength > MpaFrame.MAX_PRIVATE_DATA_BYTES) {
            throw fail("expected at most %d bytes of private data, found PD_Length %d or more"
                    .formatted(MpaFrame.MAX_PRIVATE_DATA_BYTES, pdLength));
        }
    }

    private void checkControlWords(int pdLength) throws MpaException {
        int flags = Byte.toUnsignedInt(header.get(MpaFrame.FLAGS_OFFSET));
        int revision = Byte.toUnsignedInt(header.get(MpaFrame.REVISION_OFFSET));
        // RFC 6581, Section 6: with S=1 the private data begins with the control words.
        if (MpaFrame.isEnhanced(flags, revision) && pdLength < EnhancedSetup.BYTES) {
            throw fail("expected %d bytes of control words behind S=1, found PD_Length %d"
                    .formatted(EnhancedSetup.BYTES, pdLength));
        }
    }

    private MpaException fail(String message) {
        MpaException violation = new MpaException(MpaError.INVALID_STARTUP_FRAME, message);
        failure = violation;
        return violation;
    }
}
