// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import java.nio.ByteBuffer;
import org.rpcrdma4j.iwarp.ddp.DdpHeader;
import org.rpcrdma4j.iwarp.error.ProtocolViolation;
import org.rpcrdma4j.iwarp.error.TerminateError;

/**
 * The checks that need nothing but the segment itself; they precede every use of its header.
 *
 * <p>What is left to the engine needs the state of the stream: a buffer for the message, its MSN and MO, the STag and
 * the range it covers. Nothing is allocated for a good segment.
 */
public final class SegmentCheck {
    /** Every ULPDU has the two control octets; the first says how long its header is. */
    private static final int CONTROL_BYTES = 2;

    private SegmentCheck() {}

    /**
     * Checks the header of a received segment and returns its operation.
     *
     * @param at absolute index of the ULPDU in the buffer
     * @param ulpduLength its length, all of which lies inside the buffer
     * @throws ProtocolViolation with the answer to the first rule that is broken
     */
    public static Opcode check(ByteBuffer segment, int at, int ulpduLength) throws ProtocolViolation {
        checkLength(segment, at, ulpduLength);
        boolean tagged = DdpHeader.isTagged(segment, at);
        // RFC 5041, Section 4.1: DV is 1; the number of the error depends on the buffer model.
        if (DdpHeader.version(segment, at) != DdpHeader.VERSION) {
            throw violation(
                    tagged ? TerminateError.DDP_TAGGED_INVALID_VERSION : TerminateError.DDP_UNTAGGED_INVALID_VERSION,
                    "DDP version",
                    DdpHeader.VERSION,
                    DdpHeader.version(segment, at));
        }
        // RFC 5041, Section 7.1: the queue number of an untagged segment is valid. RFC 5040 has three queues.
        if (!tagged && Integer.compareUnsigned(DdpHeader.queueNumber(segment, at), DdpHeader.TERMINATE_QUEUE) > 0) {
            throw new ProtocolViolation(
                    TerminateError.DDP_UNTAGGED_INVALID_QN,
                    "expected queue number 0..2, found " + unsigned(DdpHeader.queueNumber(segment, at)));
        }
        Opcode opcode = checkControl(DdpHeader.rdmapControl(segment, at), tagged);
        // RFC 5040, Section 4.1: each untagged operation has its queue.
        if (!tagged && DdpHeader.queueNumber(segment, at) != opcode.queueNumber()) {
            throw violation(
                    TerminateError.DDP_UNTAGGED_INVALID_QN,
                    "queue number of " + opcode,
                    opcode.queueNumber(),
                    DdpHeader.queueNumber(segment, at));
        }
        if (opcode == Opcode.READ_REQUEST) {
            checkReadRequest(segment, at, ulpduLength);
        }
        return opcode;
    }

    private static void checkLength(ByteBuffer segment, int at, int ulpduLength) throws ProtocolViolation {
        // RFC 5041, Section 4: every segment has its header. The RFC names no error for one that has not; MPA's
        // length error is what Linux siw answers, and so do we.
        if (ulpduLength < CONTROL_BYTES || ulpduLength < DdpHeader.headerBytes(segment, at)) {
            throw new ProtocolViolation(
                    TerminateError.MPA_LENGTH,
                    "expected a ULPDU that holds its DDP header, found %d bytes".formatted(ulpduLength));
        }
    }

    private static Opcode checkControl(int control, boolean tagged) throws ProtocolViolation {
        // RFC 5040, Section 4.1: RV is 1. Version 0 would have to be agreed on during the start-up.
        if (RdmapControl.version(control) != RdmapControl.VERSION) {
            throw violation(
                    TerminateError.RDMAP_INVALID_VERSION,
                    "RDMAP version",
                    RdmapControl.VERSION,
                    RdmapControl.version(control));
        }
        // RFC 5040, Section 4.1: operations 0 to 7; those of RFC 7306 are not spoken.
        Opcode opcode = Opcode.fromControl(control);
        if (opcode == null) {
            throw new ProtocolViolation(
                    TerminateError.RDMAP_UNEXPECTED_OPCODE,
                    "expected opcode 0..7, found " + RdmapControl.opcode(control));
        }
        // RFC 5040, Section 4.1: each operation is either tagged or untagged.
        if (opcode.isTagged() != tagged) {
            throw violation(
                    TerminateError.RDMAP_UNEXPECTED_OPCODE, "T bit of " + opcode, tagged ? 0 : 1, tagged ? 1 : 0);
        }
        return opcode;
    }

    private static void checkReadRequest(ByteBuffer segment, int at, int ulpduLength) throws ProtocolViolation {
        // RFC 5040, Sections 4.2 and 4.4: 28 bytes and no payload. No error is named for anything else.
        if (ulpduLength != ReadRequestHeader.ULPDU_BYTES || !DdpHeader.isLast(segment, at)) {
            throw new ProtocolViolation(
                    TerminateError.RDMAP_OPERATION_UNSPECIFIED,
                    "expected a Read Request in one segment of %d bytes, found %d bytes with L=%d"
                            .formatted(
                                    ReadRequestHeader.ULPDU_BYTES, ulpduLength, DdpHeader.isLast(segment, at) ? 1 : 0));
        }
    }

    private static ProtocolViolation violation(TerminateError error, String what, int expected, int found) {
        return new ProtocolViolation(error, "expected %s %d, found %d".formatted(what, expected, found));
    }

    private static String unsigned(int value) {
        return Integer.toUnsignedString(value);
    }
}
