// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.record;

import java.io.IOException;
import java.io.Serial;

/** A peer whose stream isn't made of records within the limits. The stream has lost its place: the connection ends. */
public final class RecordException extends IOException {

    @Serial
    private static final long serialVersionUID = 1L;

    /** What was found, and what was allowed. */
    public RecordException(String message) {
        super(message);
    }
}
