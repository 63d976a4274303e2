// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.error;

/** The peer sent a DDP segment or an RDMAP message that breaks a rule of RFC 5041 or RFC 5040. */
public final class ProtocolViolation extends IwarpException {
    private static final long serialVersionUID = 1L;

    public ProtocolViolation(TerminateError terminateError, String message) {
        super(terminateError, message);
    }
}
