// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.copy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.client.NfsFile;

/** A file that is being written. Used by one thread. After a failure only {@link #abort} is of use. */
interface Sink {
    /** Whether what is not written reads as zeros. */
    boolean keepsHoles();

    /** Memory to be filled, which the caller closes or gives to {@link #write(Piece)}. May wait for earlier data to be written. */
    Piece buffer() throws IOException;

    /** Writes a piece, and closes it. Nothing is sure before {@link #finish}. */
    void write(Piece piece) throws IOException;

    /** Writes data, which is the caller's again on return. Nothing is sure before {@link #finish}. */
    void write(long offset, MemorySegment data) throws IOException;

    /**
     * Waits until everything is written, and gives the file its size.
     *
     * @param size where it ends, which may be in a hole
     * @return the file; null if it is none
     */
    @Nullable
    NfsFile finish(long size) throws IOException;

    /** Gives up, unless {@link #finish} has returned. */
    void abort();
}
