// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.ddp.DdpHeader;
import org.rpcrdma4j.iwarp.error.ProtocolViolation;
import org.rpcrdma4j.iwarp.error.TerminateError;
import org.rpcrdma4j.iwarp.error.TerminateError.Attachment;
import org.rpcrdma4j.iwarp.mpa.Crc32c;
import org.rpcrdma4j.iwarp.mpa.Fpdu;

/**
 * The content of a Terminate message (RFC 5040, Section 4.8). Immutable.
 *
 * <pre>
 *   18 | layer | type |     code      | M | D | R |  zero   |    the control word, behind the DDP header
 *   22 | DDP segment length        16 |                          M or D set
 *   24 | DDP header of the offender, 14 or 18 bytes |            D set
 *      | its Read Request header, 28 bytes          |            R set
 * </pre>
 *
 * <p>Linux siw fills the control word through C bit fields and so swaps, on little-endian machines, layer with type
 * and puts M, D, R into the lowest bits of their octet. Such words are read too. Where headers are attached the octet
 * of M, D, R tells the forms apart; a bare word may have both readings, then the first one with a known error counts
 * and {@link #otherReading} keeps the other. What this side does never depends on the content.
 *
 * @param error the error, null if no RFC defines these numbers
 * @param ddpSegmentLength the ULPDU length of the offender, -1 if not stated. siw states the payload's length
 * @param swapped the word was read in siw's form
 * @param controlWord the four octets as they came
 */
@SuppressWarnings("ArrayRecordComponent") // copied on the way in and out; equality compares the content
public record TerminateMessage(
        int layer,
        int errorType,
        int errorCode,
        @Nullable TerminateError error,
        int ddpSegmentLength,
        byte @Nullable [] ddpHeader,
        byte @Nullable [] readRequestHeader,
        boolean swapped,
        int controlWord) {
    /** A Terminate with nothing attached. */
    public static final int MIN_ULPDU_BYTES = 22;

    /** A Terminate that quotes a Read Request. */
    public static final int MAX_ULPDU_BYTES = 70;

    /** No segment length is stated. */
    public static final int NO_LENGTH = -1;

    private static final int M = 0x80;
    private static final int D = 0x40;
    private static final int R = 0x20;
    private static final int RFC_FLAGS = M | D | R;
    private static final int SWAPPED_M = 0x01;
    private static final int SWAPPED_D = 0x02;
    private static final int SWAPPED_R = 0x04;
    private static final int SWAPPED_FLAGS = SWAPPED_M | SWAPPED_D | SWAPPED_R;
    private static final int CONTROL = DdpHeader.UNTAGGED_BYTES;
    private static final int LENGTH_BYTES = 2;

    public TerminateMessage {
        ddpHeader = copy(ddpHeader);
        readRequestHeader = copy(readRequestHeader);
    }

    @Override
    public byte @Nullable [] ddpHeader() {
        return copy(ddpHeader);
    }

    @Override
    public byte @Nullable [] readRequestHeader() {
        return copy(readRequestHeader);
    }

    /** The Terminate for an error that is not tied to a segment, or whose segment could not be parsed. */
    public static TerminateMessage of(TerminateError error) {
        return outgoing(error, NO_LENGTH, null, null);
    }

    /**
     * The Terminate for an error in a received segment, quoting as much of it as the error calls for. The headers are
     * copied.
     *
     * @param at absolute index of the offending ULPDU
     * @param ulpduLength its length
     */
    public static TerminateMessage of(TerminateError error, ByteBuffer offender, int at, int ulpduLength) {
        // RFC 5040, Section 4.8, figure 10: which headers go with which layer and type, "if possible".
        if (error.attachment() == Attachment.NOTHING
                || ulpduLength < 1
                || ulpduLength < DdpHeader.headerBytes(offender, at)) {
            return of(error);
        }
        byte[] ddpHeader = new byte[DdpHeader.headerBytes(offender, at)];
        offender.get(at, ddpHeader);
        // RFC 5040, Section 4.8: the RDMAP header is sent back only for a Read Request.
        byte[] readRequestHeader = null;
        if (error.attachment() == Attachment.DDP_AND_READ_REQUEST_HEADER
                && Opcode.fromControl(DdpHeader.rdmapControl(offender, at)) == Opcode.READ_REQUEST
                && !DdpHeader.isTagged(offender, at)
                && ulpduLength >= ReadRequestHeader.ULPDU_BYTES) {
            readRequestHeader = new byte[ReadRequestHeader.BYTES];
            offender.get(at + DdpHeader.UNTAGGED_BYTES, readRequestHeader);
        }
        return outgoing(error, ulpduLength, ddpHeader, readRequestHeader);
    }

    private static TerminateMessage outgoing(
            TerminateError error, int length, byte @Nullable [] ddpHeader, byte @Nullable [] readRequestHeader) {
        int flags = (ddpHeader == null ? 0 : M | D) | (readRequestHeader == null ? 0 : R);
        int word = error.layer() << 28 | error.type() << 24 | error.code() << 16 | flags << 8;
        return new TerminateMessage(
                error.layer(), error.type(), error.code(), error, length, ddpHeader, readRequestHeader, false, word);
    }

    /** The size of the ULPDU that {@link #encodeUlpdu} writes. */
    public int ulpduBytes() {
        return MIN_ULPDU_BYTES
                + (ddpSegmentLength == NO_LENGTH && ddpHeader == null && readRequestHeader == null ? 0 : LENGTH_BYTES)
                + (ddpHeader == null ? 0 : ddpHeader.length)
                + (readRequestHeader == null ? 0 : readRequestHeader.length);
    }

    /** Writes the whole ULPDU, DDP header included, in the form of the RFC; returns its size. */
    public int encodeUlpdu(ByteBuffer target, int at) {
        // RFC 5040, Section 5.4: queue 2, and the only message in it.
        DdpHeader.putUntagged(
                target, at, true, Opcode.TERMINATE.control(), 0, DdpHeader.TERMINATE_QUEUE, DdpHeader.FIRST_MSN, 0);
        int flags = (ddpSegmentLength == NO_LENGTH ? 0 : M)
                | (ddpHeader == null ? 0 : D)
                | (readRequestHeader == null ? 0 : R);
        target.putInt(at + CONTROL, layer << 28 | errorType << 24 | errorCode << 16 | flags << 8);
        int next = at + MIN_ULPDU_BYTES;
        if (flags != 0) {
            target.putShort(next, (short) Math.max(ddpSegmentLength, 0));
            next += LENGTH_BYTES;
        }
        next += put(target, next, ddpHeader);
        next += put(target, next, readRequestHeader);
        return next - at;
    }

    /** The whole FPDU, ready to be read from the buffer. */
    public ByteBuffer fpdu(boolean withCrc) {
        int ulpduLength = ulpduBytes();
        ByteBuffer fpdu = ByteBuffer.allocate(Fpdu.fpduBytes(ulpduLength));
        Fpdu.putLength(fpdu, 0, ulpduLength);
        encodeUlpdu(fpdu, Fpdu.LENGTH_BYTES);
        Crc32c crc = withCrc ? new Crc32c() : null;
        if (crc != null) {
            crc.update(fpdu, 0, Fpdu.LENGTH_BYTES + ulpduLength);
        }
        Fpdu.putTrailer(fpdu, Fpdu.LENGTH_BYTES + ulpduLength, ulpduLength, crc);
        return fpdu;
    }

    /**
     * Reads a received Terminate. Bytes behind what its flags announce are tolerated.
     *
     * @param at absolute index of the ULPDU
     * @param ulpduLength its length
     * @throws ProtocolViolation if it ends before what its flags announce. There is no answer to it, only a close
     */
    public static TerminateMessage decode(ByteBuffer ulpdu, int at, int ulpduLength) throws ProtocolViolation {
        requireLength(MIN_ULPDU_BYTES, ulpduLength);
        int word = ulpdu.getInt(at + CONTROL);
        boolean swapped = isSwapped(word);
        int flags = flags(word, swapped);
        int next = MIN_ULPDU_BYTES;
        int segmentLength = NO_LENGTH;
        byte[] ddpHeader = null;
        byte[] readRequestHeader = null;
        if (flags != 0) {
            // RFC 5040, Section 4.8: the length is present with D, and valid with M.
            requireLength(next + LENGTH_BYTES, ulpduLength);
            segmentLength = (flags & M) == 0 ? NO_LENGTH : Short.toUnsignedInt(ulpdu.getShort(at + next));
            next += LENGTH_BYTES;
        }
        if ((flags & D) != 0) {
            requireLength(next + 1, ulpduLength);
            int headerBytes = DdpHeader.headerBytes(ulpdu, at + next);
            requireLength(next + headerBytes, ulpduLength);
            ddpHeader = new byte[headerBytes];
            ulpdu.get(at + next, ddpHeader);
            next += headerBytes;
        }
        if ((flags & R) != 0) {
            requireLength(next + ReadRequestHeader.BYTES, ulpduLength);
            readRequestHeader = new byte[ReadRequestHeader.BYTES];
            ulpdu.get(at + next, readRequestHeader);
        }
        int layer = swapped ? secondNibble(word) : firstNibble(word);
        int type = swapped ? firstNibble(word) : secondNibble(word);
        int code = code(word);
        return new TerminateMessage(
                layer,
                type,
                code,
                TerminateError.from(layer, type, code),
                segmentLength,
                ddpHeader,
                readRequestHeader,
                swapped,
                word);
    }

    /** What the control word means in the form that was not chosen, if that names an error and both forms fit. */
    public @Nullable TerminateError otherReading() {
        if (ddpHeader != null || readRequestHeader != null || ddpSegmentLength != NO_LENGTH) {
            return null;
        }
        TerminateError other = TerminateError.from(/* layer= */ errorType, /* type= */ layer, errorCode);
        return other == error ? null : other;
    }

    private static boolean isSwapped(int word) {
        int flagsOctet = word >>> 8 & 0xFF;
        if ((flagsOctet & RFC_FLAGS) != 0) {
            return false;
        }
        if ((flagsOctet & SWAPPED_FLAGS) != 0) {
            return true;
        }
        return TerminateError.from(firstNibble(word), secondNibble(word), code(word)) == null
                && TerminateError.from(secondNibble(word), firstNibble(word), code(word)) != null;
    }

    private static int flags(int word, boolean swapped) {
        int octet = word >>> 8 & 0xFF;
        // RFC 5040, Section 4.8: the 13 reserved bits are not looked at.
        if (!swapped) {
            return octet & RFC_FLAGS;
        }
        return ((octet & SWAPPED_M) != 0 ? M : 0)
                | ((octet & SWAPPED_D) != 0 ? D : 0)
                | ((octet & SWAPPED_R) != 0 ? R : 0);
    }

    private static int firstNibble(int word) {
        return word >>> 28;
    }

    private static int secondNibble(int word) {
        return word >>> 24 & 0x0F;
    }

    private static int code(int word) {
        return word >>> 16 & 0xFF;
    }

    private static void requireLength(int needed, int found) throws ProtocolViolation {
        if (found < needed) {
            throw new ProtocolViolation(
                    TerminateError.RDMAP_OPERATION_UNSPECIFIED,
                    "expected a Terminate of at least %d bytes, found %d".formatted(needed, found));
        }
    }

    private static int put(ByteBuffer target, int at, byte @Nullable [] header) {
        if (header == null) {
            return 0;
        }
        target.put(at, header);
        return header.length;
    }

    private static byte @Nullable [] copy(byte @Nullable [] bytes) {
        return bytes == null ? null : bytes.clone();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof TerminateMessage message
                && controlWord == message.controlWord
                && swapped == message.swapped
                && ddpSegmentLength == message.ddpSegmentLength
                && Arrays.equals(ddpHeader, message.ddpHeader)
                && Arrays.equals(readRequestHeader, message.readRequestHeader);
    }

    @Override
    public int hashCode() {
        return Objects.hash(
                controlWord, swapped, ddpSegmentLength, Arrays.hashCode(ddpHeader), Arrays.hashCode(readRequestHeader));
    }

    /** The error, the raw word, and the other reading if there is one. */
    @Override
    public String toString() {
        String known = error == null ? "%d/%d/%02X".formatted(layer, errorType, errorCode) : error.toString();
        TerminateError other = otherReading();
        return "Terminate %s (%08x%s%s)"
                .formatted(known, controlWord, swapped ? ", swapped" : "", other == null ? "" : ", or " + other);
    }
}
