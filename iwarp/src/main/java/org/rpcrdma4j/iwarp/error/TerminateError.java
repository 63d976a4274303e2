// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.error;

import static org.rpcrdma4j.iwarp.error.TerminateError.Attachment.DDP_AND_READ_REQUEST_HEADER;
import static org.rpcrdma4j.iwarp.error.TerminateError.Attachment.DDP_HEADER;
import static org.rpcrdma4j.iwarp.error.TerminateError.Attachment.NOTHING;

import org.jspecify.annotations.Nullable;

/**
 * Every error a Terminate message can report: the triple of layer, error type and error code.
 *
 * <p>The numbers are those of RFC 5040, Section 4.8 (layer 0), RFC 5041, Section 7.2 (layer 1), and RFC 5044 with
 * RFC 6581, Section 8 (layer 2).
 */
public enum TerminateError {
    /** Any code is allowed with this type; zero is sent. */
    RDMAP_LOCAL_CATASTROPHIC(0, 0, 0x00, NOTHING),
    RDMAP_INVALID_STAG(0, 1, 0x00, DDP_AND_READ_REQUEST_HEADER),
    RDMAP_BASE_OR_BOUNDS(0, 1, 0x01, DDP_AND_READ_REQUEST_HEADER),
    RDMAP_ACCESS_RIGHTS(0, 1, 0x02, DDP_AND_READ_REQUEST_HEADER),
    RDMAP_STAG_OF_OTHER_STREAM(0, 1, 0x03, DDP_AND_READ_REQUEST_HEADER),
    RDMAP_TO_WRAP(0, 1, 0x04, DDP_AND_READ_REQUEST_HEADER),
    /** The STag exists but belongs to another stream. RFC 5040 does not say which type goes with which case. */
    RDMAP_CANNOT_INVALIDATE_OTHERS_STAG(0, 1, 0x09, DDP_AND_READ_REQUEST_HEADER),
    RDMAP_PROTECTION_UNSPECIFIED(0, 1, 0xFF, DDP_AND_READ_REQUEST_HEADER),
    RDMAP_INVALID_VERSION(0, 2, 0x05, DDP_HEADER),
    RDMAP_UNEXPECTED_OPCODE(0, 2, 0x06, DDP_HEADER),
    RDMAP_CATASTROPHIC_STREAM(0, 2, 0x07, DDP_HEADER),
    RDMAP_CATASTROPHIC_GLOBAL(0, 2, 0x08, DDP_HEADER),
    /** The STag is unknown or otherwise cannot be invalidated. */
    RDMAP_CANNOT_INVALIDATE(0, 2, 0x09, DDP_HEADER),
    RDMAP_OPERATION_UNSPECIFIED(0, 2, 0xFF, DDP_HEADER),

    DDP_LOCAL_CATASTROPHIC(1, 0, 0x00, NOTHING),
    DDP_TAGGED_INVALID_STAG(1, 1, 0x00, DDP_HEADER),
    DDP_TAGGED_BASE_OR_BOUNDS(1, 1, 0x01, DDP_HEADER),
    DDP_TAGGED_STAG_OF_OTHER_STREAM(1, 1, 0x02, DDP_HEADER),
    DDP_TAGGED_TO_WRAP(1, 1, 0x03, DDP_HEADER),
    DDP_TAGGED_INVALID_VERSION(1, 1, 0x04, DDP_HEADER),
    DDP_UNTAGGED_INVALID_QN(1, 2, 0x01, DDP_HEADER),
    DDP_UNTAGGED_NO_BUFFER(1, 2, 0x02, DDP_HEADER),
    DDP_UNTAGGED_MSN_RANGE(1, 2, 0x03, DDP_HEADER),
    DDP_UNTAGGED_INVALID_MO(1, 2, 0x04, DDP_HEADER),
    DDP_UNTAGGED_TOO_LONG(1, 2, 0x05, DDP_HEADER),
    DDP_UNTAGGED_INVALID_VERSION(1, 2, 0x06, DDP_HEADER),

    MPA_CONNECTION_LOST(2, 0, 0x01, NOTHING),
    MPA_CRC(2, 0, 0x02, NOTHING),
    MPA_LENGTH(2, 0, 0x03, NOTHING),
    MPA_INVALID_STARTUP_FRAME(2, 0, 0x04, NOTHING),
    MPA_LOCAL_CATASTROPHIC(2, 0, 0x05, NOTHING),
    MPA_INSUFFICIENT_IRD(2, 0, 0x06, NOTHING),
    MPA_NO_MATCHING_RTR(2, 0, 0x07, NOTHING);

    /** Which headers of the offending segment a Terminate quotes (RFC 5040, Section 4.8, figure 10). */
    public enum Attachment {
        NOTHING,
        /** The DDP header and the segment length, if the segment could be parsed. */
        DDP_HEADER,
        /** As before; when the offender is a Read Request, its 28 bytes too. */
        DDP_AND_READ_REQUEST_HEADER
    }

    private static final TerminateError[] ALL = values();

    private final int layer;
    private final int type;
    private final int code;
    private final Attachment attachment;

    TerminateError(int layer, int type, int code, Attachment attachment) {
        this.layer = layer;
        this.type = type;
        this.code = code;
        this.attachment = attachment;
    }

    /** The error with these numbers, or null if no RFC defines them. */
    public static @Nullable TerminateError from(int layer, int type, int code) {
        // RFC 5040, Section 4.8: a local catastrophic error of RDMAP has no code of its own, so any is accepted.
        if (layer == 0 && type == 0) {
            return RDMAP_LOCAL_CATASTROPHIC;
        }
        for (TerminateError error : ALL) {
            if (error.layer == layer && error.type == type && error.code == code) {
                return error;
            }
        }
        return null;
    }

    /** 0 for RDMAP, 1 for DDP, 2 for MPA. */
    public int layer() {
        return layer;
    }

    public int type() {
        return type;
    }

    public int code() {
        return code;
    }

    public Attachment attachment() {
        return attachment;
    }

    /** Whether a Terminate message is sent for this error at all. */
    public boolean isReported() {
        // RFC 5044, Section 7.1.2 and 8: a lost connection cannot carry a report, and a malformed start-up frame is
        // answered by closing TCP.
        return this != MPA_CONNECTION_LOST && this != MPA_INVALID_STARTUP_FRAME;
    }

    /** Layer, type and code in the order of the wire, as {@code 1/2/04 DDP_UNTAGGED_INVALID_MO}. */
    @Override
    public String toString() {
        return "%d/%d/%02X %s".formatted(layer, type, code, name());
    }
}
