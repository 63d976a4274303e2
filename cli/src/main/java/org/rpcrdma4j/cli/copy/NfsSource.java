// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.copy;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.client.NfsBuffer;
import org.rpcrdma4j.nfs.client.NfsReader;

/** A file of a mounted export; its data comes in the volume's own buffers. */
final class NfsSource implements Source {
    private final NfsReader reader;

    NfsSource(NfsReader reader) {
        this.reader = reader;
    }

    @Override
    public @Nullable Piece next(Sink sink) throws IOException {
        NfsBuffer buffer = reader.next();
        return buffer == null ? null : Piece.in(buffer);
    }

    @Override
    public void close() {
        reader.close();
    }
}
