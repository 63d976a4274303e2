// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Holds the payload of the one FPDU that has begun to leave, in pieces; memory is taken when needed. Belongs to a batch. */
final class BegunCopy {
    private final CopyBuffers pool;
    private @Nullable ByteBuffer buffer;
    private int copiedFpdu;

    BegunCopy(CopyBuffers pool) {
        this.pool = pool;
    }

    /** Copies a piece of an FPDU; the pieces of another one have left by then, as one at a time is begun. */
    ByteBuffer of(int fpdu, ByteBuffer piece) {
        ByteBuffer target = buffer;
        if (target == null) {
            target = pool.take();
            buffer = target;
        } else if (copiedFpdu != fpdu) {
            target.clear();
        }
        copiedFpdu = fpdu;
        int from = target.position();
        target.put(piece);
        return target.slice(from, target.position() - from);
    }

    /** Everything has left. */
    void release() {
        if (buffer != null) {
            pool.giveBack(buffer);
            buffer = null;
        }
    }
}
