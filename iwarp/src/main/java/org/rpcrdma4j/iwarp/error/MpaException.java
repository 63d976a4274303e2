// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.error;

/** The peer broke a rule of MPA: a start-up frame is malformed, or an FPDU does not match its CRC. */
public final class MpaException extends IwarpException {
    private static final long serialVersionUID = 1L;

    private final MpaError error;

    public MpaException(MpaError error, String message) {
        super(error.terminateError(), message);
        this.error = error;
    }

    public MpaError error() {
        return error;
    }
}
