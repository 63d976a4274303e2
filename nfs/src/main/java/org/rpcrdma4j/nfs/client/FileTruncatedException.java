// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.io.IOException;
import java.io.Serial;

/** A file became shorter while it was read. */
public final class FileTruncatedException extends IOException {

    @Serial
    private static final long serialVersionUID = 1L;

    private final long expected;
    private final long found;

    FileTruncatedException(String subject, long expected, long found) {
        super("cannot read " + subject + ": it became shorter while it was read, from " + expected + " to " + found
                + " bytes");
        this.expected = expected;
        this.found = found;
    }

    /** Its size when it was opened. */
    public long expectedBytes() {
        return expected;
    }

    /** Where it ends now. */
    public long foundBytes() {
        return found;
    }
}
