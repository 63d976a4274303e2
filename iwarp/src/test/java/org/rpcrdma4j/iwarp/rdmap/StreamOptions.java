// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import org.jspecify.annotations.Nullable;

/**
 * What both ends of a {@link StreamPair} agree on.
 *
 * @param ord0 Reads that the first end may have open
 * @param ord1 and the second
 * @param rtr what the first end sends before all else; null for nothing
 */
record StreamOptions(
        int maxUlpdu,
        boolean crc,
        int ord0,
        int ord1,
        int sendDepth,
        int receiveDepth,
        @Nullable Opcode rtr) {
    static final int MAX_SGES = 32;

    static StreamOptions large(int maxUlpdu, boolean crc) {
        return new StreamOptions(maxUlpdu, crc, 16, 16, 64, 64, null);
    }

    int ord(int end) {
        return end == 0 ? ord0 : ord1;
    }
}
