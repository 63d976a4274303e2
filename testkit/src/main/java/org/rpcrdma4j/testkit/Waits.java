// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Waits for what other threads are about to do. Every wait has a limit and tells the state when that has passed.
 *
 * <p>The calling thread itself asks, about every 50 microseconds. May be used by any thread.
 */
public final class Waits {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final long PAUSE_NANOS = 50_000;

    private Waits() {}

    /**
     * Returns when the condition holds.
     *
     * @throws AssertionError with the state, if it does not within 30 seconds
     */
    public static void until(BooleanSupplier condition, Supplier<String> state) {
        until(PATIENCE, condition, state);
    }

    /**
     * Returns when the condition holds.
     *
     * @throws AssertionError with the state, if it does not within the limit
     */
    public static void until(Duration limit, BooleanSupplier condition, Supplier<String> state) {
        if (!within(limit, condition)) {
            throw new AssertionError("not within " + limit.toSeconds() + " s: " + state.get());
        }
    }

    /**
     * Returns when the latch is open.
     *
     * @throws AssertionError with the state, if it is not within 30 seconds, or if the thread is interrupted
     */
    public static void until(CountDownLatch latch, Supplier<String> state) {
        try {
            if (!latch.await(PATIENCE.toNanos(), TimeUnit.NANOSECONDS)) {
                throw new AssertionError("not within " + PATIENCE.toSeconds() + " s: " + state.get());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted: " + state.get(), e);
        }
    }

    /** Waits until the condition holds, or the limit has passed; returns whether it holds. */
    public static boolean within(Duration limit, BooleanSupplier condition) {
        long begin = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - begin > limit.toNanos()) {
                return condition.getAsBoolean();
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return true;
    }

    /** Lets so much time pass, in which something may happen that must not. */
    public static void pause(Duration length) {
        within(length, () -> false);
    }
}
