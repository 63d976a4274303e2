// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.device;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waits that end, and tell the state when they end in vain. */
final class Deadline {
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(20);

    private Deadline() {}

    static void until(BooleanSupplier condition, Supplier<String> state) {
        long end = System.nanoTime() + LIMIT_NANOS;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("not in time: " + state.get());
            }
            LockSupport.parkNanos(50_000);
        }
    }

    /** Lets things happen that must not. */
    static void pause(long millis) {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (System.nanoTime() - end < 0) {
            LockSupport.parkNanos(200_000);
        }
    }
}
