// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.loopback;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Waits with a limit, for what happens on other threads. */
final class Await {
    static final Duration LIMIT = Duration.ofSeconds(60);

    private Await() {}

    /**
     * The result of something under way.
     *
     * @param state tells how far it got, when the time is over
     * @throws IllegalStateException if it failed or the time is over
     */
    static <T extends @Nullable Object> T result(CompletableFuture<T> future, String what, Supplier<String> state) {
        try {
            return future.get(LIMIT.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            throw new IllegalStateException(what + ": " + (cause == null ? e : cause).getMessage(), e);
        } catch (TimeoutException e) {
            throw new IllegalStateException(what + ": not done after " + LIMIT.toSeconds() + " s; " + state.get(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(what + ": interrupted", e);
        }
    }
}
