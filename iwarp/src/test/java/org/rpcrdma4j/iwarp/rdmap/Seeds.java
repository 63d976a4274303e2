// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import java.util.function.LongConsumer;

/**
 * Runs a test for many seeds. {@code -Drpcrdma.seeds=N} sets how many, {@code -Drpcrdma.seed=N} replays a single one; the message of a
 * failure tells the seed.
 */
final class Seeds {
    private Seeds() {}

    static void run(int count, LongConsumer test) {
        Long single = Long.getLong("rpcrdma.seed");
        long first = single == null ? 0 : single;
        long end = single == null ? Integer.getInteger("rpcrdma.seeds", count) : single + 1;
        for (long seed = first; seed < end; seed++) {
            try {
                test.accept(seed);
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError(
                        "seed " + seed + " (replay with -Drpcrdma.seed=" + seed + "): " + e.getMessage(), e);
            }
        }
    }
}
