// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.copy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.client.NfsFile;

/** Keeps nothing: for data that is only looked at. */
final class NullSink implements Sink {
    private static final int BUFFER_BYTES = 1 << 20;

    private @Nullable MemorySegment memory;

    NullSink() {}

    @Override
    public boolean keepsHoles() {
        return false;
    }

    @Override
    public Piece buffer() {
        MemorySegment known = memory;
        if (known == null) {
            known = Arena.ofAuto().allocate(BUFFER_BYTES);
            memory = known;
        }
        return Piece.in(known);
    }

    @Override
    public void write(Piece piece) {
        piece.close();
    }

    @Override
    public void write(long offset, MemorySegment data) {
        // Dropped.
    }

    @Override
    public @Nullable NfsFile finish(long size) {
        return null;
    }

    @Override
    public void abort() {
        // There is nothing to give up.
    }
}
