// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mem;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

/** Starts work on a thread of its own, so that what waits for another never takes its place in a pool. */
public final class OwnThread {
    private OwnThread() {}

    /** Something to do. */
    public interface Work {
        void run() throws Exception;
    }

    public static CompletableFuture<Void> run(Work work) {
        return call(() -> {
            work.run();
            return null;
        });
    }

    public static <T> CompletableFuture<T> call(Callable<T> work) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread.ofPlatform().daemon().name("test-own-thread").start(() -> {
            try {
                result.complete(work.call());
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }
}
