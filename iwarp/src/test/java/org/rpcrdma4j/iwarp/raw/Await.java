// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.raw;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waits with a deadline that tell the state when it passes. */
final class Await {
    private static final long LIMIT_SECONDS = 10;

    private Await() {}

    static void until(BooleanSupplier condition, Supplier<String> state) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("not within " + LIMIT_SECONDS + " s: " + state.get());
            }
            LockSupport.parkNanos(100_000);
        }
    }
}
