// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.xdr;

import java.util.Random;

/**
 * Runs a test for many seeds. {@code -Drpcrdma.seeds=N} sets how many, {@code -Drpcrdma.seed=N} replays a single one; the message of a
 * failure tells the seed.
 */
public final class Seeds {

    private Seeds() {}

    /** A test that takes its randomness from one source. */
    @FunctionalInterface
    public interface SeededTest {
        /** Runs once. */
        void run(Random random) throws Exception;
    }

    /** Runs it for that many seeds. */
    public static void run(int count, SeededTest test) {
        Long single = Long.getLong("rpcrdma.seed");
        long first = single == null ? 0 : single;
        long end = single == null ? Integer.getInteger("rpcrdma.seeds", count) : single + 1;
        for (long seed = first; seed < end; seed++) {
            try {
                test.run(new Random(seed));
            } catch (Exception | AssertionError e) {
                throw new AssertionError("seed " + seed + " (replay with -Drpcrdma.seed=" + seed + "): " + e, e);
            }
        }
    }
}
