// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.copy;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.client.NfsBuffer;

/** Memory with a piece of a file in it. Used by one thread, the one that has it, until it is closed or written. */
final class Piece implements AutoCloseable {
    private final MemorySegment memory;
    private final @Nullable NfsBuffer lent;
    private long offset;
    private int length;

    private Piece(MemorySegment memory, @Nullable NfsBuffer lent) {
        this.memory = memory;
        this.lent = lent;
    }

    /** A piece in memory that nobody needs back. */
    static Piece in(MemorySegment memory) {
        return new Piece(memory, null);
    }

    /** A piece in a volume's buffer, with the buffer's data. */
    static Piece in(NfsBuffer buffer) {
        return new Piece(buffer.memory(), buffer).filled(buffer.offset(), buffer.length());
    }

    Piece filled(long newOffset, int newLength) {
        offset = newOffset;
        length = newLength;
        return this;
    }

    /** All of its memory. */
    MemorySegment memory() {
        return memory;
    }

    /** The volume's buffer that it is in, if it is. */
    @Nullable
    NfsBuffer lent() {
        return lent;
    }

    /** Where in the file its data belongs. */
    long offset() {
        return offset;
    }

    int length() {
        return length;
    }

    MemorySegment data() {
        return memory.asSlice(0, length);
    }

    @Override
    public void close() {
        if (lent != null) {
            lent.close();
        }
    }
}
