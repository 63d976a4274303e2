// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.error;

/** The errors MPA can detect, with the codes of RFC 5044, Section 8, and RFC 6581, Section 8. */
public enum MpaError {
    /** TCP was closed or lost; there is nobody left to be told. */
    CONNECTION_LOST(TerminateError.MPA_CONNECTION_LOST),
    /** The CRC field of an FPDU differs from the CRC over its bytes. */
    CRC_MISMATCH(TerminateError.MPA_CRC),
    /** Marker and length disagree; without markers: a ULPDU that is shorter than its own header. */
    LENGTH_MISMATCH(TerminateError.MPA_LENGTH),
    /** A Request or Reply frame is malformed, or both ends took the same role. */
    INVALID_STARTUP_FRAME(TerminateError.MPA_INVALID_STARTUP_FRAME),
    /** The set-up failed for a local reason. */
    LOCAL_CATASTROPHIC(TerminateError.MPA_LOCAL_CATASTROPHIC),
    /** The initiator cannot serve as many Reads as the responder wants to have open. */
    INSUFFICIENT_IRD(TerminateError.MPA_INSUFFICIENT_IRD),
    /** The responder names no ready-to-receive operation that the initiator can send. */
    NO_MATCHING_RTR(TerminateError.MPA_NO_MATCHING_RTR);

    private final TerminateError terminateError;

    MpaError(TerminateError terminateError) {
        this.terminateError = terminateError;
    }

    public TerminateError terminateError() {
        return terminateError;
    }

    /** The number the RFCs give this error: 1 to 7. */
    public int code() {
        return terminateError.code();
    }
}
