// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.copy;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A file's data in order. Used by one thread. */
interface Source extends AutoCloseable {
    /**
     * The next data, which is the caller's to close; null at the end. It begins where the last ended.
     *
     * @param sink may give the memory
     * @throws IOException if the data cannot be had, or ends earlier than it should
     */
    @Nullable
    Piece next(Sink sink) throws IOException;

    @Override
    void close() throws IOException;
}
