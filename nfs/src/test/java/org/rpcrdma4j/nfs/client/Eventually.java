// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for what other threads are about to do. */
final class Eventually {

    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(30);

    private Eventually() {}

    static void isTrue(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + LIMIT_NANOS;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("not within 30 s: " + what);
            }
            LockSupport.parkNanos(1_000_000);
        }
    }
}
