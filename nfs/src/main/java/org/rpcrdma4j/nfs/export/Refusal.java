// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.io.Serial;
import org.rpcrdma4j.nfs.protocol.Status;

/** The answer to a call is this status. Part of normal work, so without a stack. */
final class Refusal extends Exception {

    @Serial
    private static final long serialVersionUID = 1L;

    private final Status status;

    Refusal(Status status) {
        super(status.protocolName(), null, false, false);
        this.status = status;
    }

    Status status() {
        return status;
    }
}
