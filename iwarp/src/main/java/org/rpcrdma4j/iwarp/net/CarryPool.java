// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import org.rpcrdma4j.iwarp.mpa.Fpdu;

/** Buffers for incomplete FPDUs, in two sizes, so that holding one over allocates nothing as a rule. Loop thread only. */
final class CarryPool {
    private static final int SMALL_BYTES = 2048;
    private static final int LARGE_BYTES = Fpdu.MAX_RECEIVED_FPDU;
    private static final int MAX_POOLED = 16;

    private final ArrayDeque<ByteBuffer> small = new ArrayDeque<>();
    private final ArrayDeque<ByteBuffer> large = new ArrayDeque<>();

    ByteBuffer take(int bytes) {
        boolean fits = bytes <= SMALL_BYTES;
        ByteBuffer pooled = (fits ? small : large).pollFirst();
        return pooled != null ? pooled : ByteBuffer.allocateDirect(fits ? SMALL_BYTES : LARGE_BYTES);
    }

    void giveBack(ByteBuffer buffer) {
        ArrayDeque<ByteBuffer> pool = buffer.capacity() == SMALL_BYTES ? small : large;
        if (pool.size() < MAX_POOLED) {
            pool.addFirst(buffer);
        }
    }
}
