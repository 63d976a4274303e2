// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The incomplete FPDU of a connection between two readings: the staging buffer is shared by all connections of a loop. Holds memory only
 * while there is one, never more than one FPDU. Loop thread only.
 */
final class Carry {
    private @Nullable ByteBuffer kept;

    boolean isEmpty() {
        return kept == null;
    }

    /** Keeps a copy of what remains in the buffer. */
    void keep(ByteBuffer rest) {
        if (!rest.hasRemaining()) {
            kept = null;
            return;
        }
        ByteBuffer copy = kept;
        if (copy == null || copy.capacity() < rest.remaining()) {
            copy = ByteBuffer.allocate(Math.max(64, Integer.highestOneBit(rest.remaining()) << 1));
            kept = copy;
        }
        copy.clear().put(rest).flip();
    }

    /** Puts it at the start of the staging buffer. */
    void restore(ByteBuffer staging) {
        ByteBuffer copy = kept;
        if (copy != null) {
            staging.put(copy);
            copy.flip();
        }
    }

    void drop() {
        kept = null;
    }
}
