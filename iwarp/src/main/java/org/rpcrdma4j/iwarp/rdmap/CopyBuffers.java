// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/**
 * Buffers for the rest of an FPDU whose sending was interrupted, shared by the connections of a device: only those that wait for their
 * socket hold one. Safe for all threads.
 */
public final class CopyBuffers {
    private static final int BYTES = 1 << 16;
    private static final int MAX_KEPT = 32;

    private final ArrayDeque<ByteBuffer> kept = new ArrayDeque<>();

    /** An empty pool. */
    public CopyBuffers() {}

    /** An empty direct buffer, large enough for the payload of any FPDU that is sent. */
    synchronized ByteBuffer take() {
        ByteBuffer buffer = kept.pollFirst();
        return buffer == null ? ByteBuffer.allocateDirect(BYTES) : buffer.clear();
    }

    synchronized void giveBack(ByteBuffer buffer) {
        if (kept.size() < MAX_KEPT) {
            kept.addFirst(buffer);
        }
    }
}
