// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit;

import java.util.Random;

/**
 * Runs a test for many seeds, one after the other on the calling thread. {@code -Drpcrdma.seeds=N} sets how many, {@code
 * -Drpcrdma.seed=N} replays a single one; the message of a failure tells the seed.
 */
public final class Seeds {

    private Seeds() {}

    /** A test that does what its seed says. */
    @FunctionalInterface
    public interface SeededTest {
        /** Runs once. */
        void run(long seed) throws Exception;
    }

    /** A test that takes its randomness from one source. */
    @FunctionalInterface
    public interface RandomTest {
        /** Runs once. */
        void run(Random random) throws Exception;
    }

    /** Runs it for that many seeds, from 1 on; returns how many runs there were. */
    public static int run(int count, SeededTest test) {
        return run(1, count, test);
    }

    /** Runs it for that many seeds, from the first one on; returns how many runs there were. */
    public static int run(long first, int count, SeededTest test) {
        Long single = Long.getLong("rpcrdma.seed");
        long begin = single == null ? first : single;
        int runs = single == null ? Integer.getInteger("rpcrdma.seeds", count) : 1;
        for (long seed = begin; seed < begin + runs; seed++) {
            try {
                test.run(seed);
            } catch (Exception | AssertionError e) {
                throw new AssertionError("seed " + seed + " (replay with -Drpcrdma.seed=" + seed + "): " + e, e);
            }
        }
        return runs;
    }

    /** Runs it for that many seeds with the numbers that each of them gives; returns how many runs there were. */
    public static int runRandom(int count, RandomTest test) {
        return run(count, seed -> test.run(new Random(seed)));
    }
}
