// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.io.IOException;
import java.io.Serial;

/** Standard output takes no more. */
public final class OutputException extends IOException {

    @Serial
    private static final long serialVersionUID = 1L;

    private final boolean readerGone;

    private OutputException(IOException cause, boolean readerGone) {
        super("cannot write to standard output: " + cause.getMessage(), cause);
        this.readerGone = readerGone;
    }

    /** What a write to it threw. */
    public static OutputException of(IOException cause) {
        // EPIPE has no exception of its own.
        return new OutputException(
                cause, cause.getMessage() != null && cause.getMessage().contains("Broken pipe"));
    }

    /** Whether whoever reads the output has seen enough, as {@code head} does: the command ends, and nobody needs to be told. */
    public boolean isReaderGone() {
        return readerGone;
    }
}
