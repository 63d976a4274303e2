// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import org.rpcrdma4j.iwarp.error.TerminateError;

/**
 * The outgoing direction cannot go on: an operation of ours failed on this side, or a Read of the peer cannot be answered. Carries the
 * Terminate to send. The stack is not recorded.
 */
public final class StreamFault extends Exception {
    private static final long serialVersionUID = 1L;

    private final transient TerminateMessage terminate;

    public StreamFault(TerminateMessage terminate, String message) {
        super(message, null, false, false);
        this.terminate = terminate;
    }

    /** An operation of ours failed. RFC 5040, Section 7.1: that is reported without headers. */
    static StreamFault local(String what) {
        return new StreamFault(TerminateMessage.of(TerminateError.RDMAP_LOCAL_CATASTROPHIC), what);
    }

    /** What the peer is to be told. */
    public TerminateMessage terminate() {
        return terminate;
    }
}
