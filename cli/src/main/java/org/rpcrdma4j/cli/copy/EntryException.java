// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.copy;

import java.io.IOException;
import java.io.Serial;

/** One entry of a directory cannot be had. */
final class EntryException extends IOException {

    @Serial
    private static final long serialVersionUID = 1L;

    EntryException(String message) {
        super(message);
    }

    EntryException(IOException cause) {
        super(cause.getMessage(), cause);
    }
}
