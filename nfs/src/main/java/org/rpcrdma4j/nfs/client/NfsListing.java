// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The entries of a directory, one after the other as the server sends them; {@code .} and {@code ..} are left out. Entries that come or go
 * meanwhile may be there or not. Used by one thread.
 */
public final class NfsListing implements AutoCloseable {

    NfsListing() {}

    /**
     * The next entry; null after the last one.
     *
     * @throws IOException if the server refuses, or is not to be had, or sends a listing without end
     */
    public @Nullable NfsEntry next() throws IOException {
        return NotYet.value();
    }

    /** Gives up what is in flight. */
    @Override
    public void close() {}
}
