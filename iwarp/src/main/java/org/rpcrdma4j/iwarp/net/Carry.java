// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The incomplete FPDU of a connection between two readings: the staging buffer is shared by all connections of a loop. Holds memory only
 * while there is one, taken from the loop's pool, never more than one FPDU. Loop thread only.
 */
final class Carry {
    private final CarryPool pool;
    private @Nullable ByteBuffer kept;

    Carry(CarryPool pool) {
        this.pool = pool;
    }

    boolean isEmpty() {
        return kept == null;
    }

    /** Keeps a copy of what remains in the buffer. */
    void keep(ByteBuffer rest) {
        ByteBuffer copy = kept;
        if (copy != null && copy.capacity() < rest.remaining()) {
            drop();
            copy = null;
        }
        if (!rest.hasRemaining()) {
            drop();
            return;
        }
        if (copy == null) {
            copy = pool.take(rest.remaining());
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
        ByteBuffer copy = kept;
        if (copy != null) {
            kept = null;
            pool.giveBack(copy);
        }
    }
}
