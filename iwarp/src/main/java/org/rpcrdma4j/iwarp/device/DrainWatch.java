// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.device;

import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.net.EventLoop;
import org.rpcrdma4j.iwarp.net.LoopTask;

/** Completes a future, on the loop, once a queue pair is drained. Safe for all threads; free while nobody drains. */
final class DrainWatch {
    private final BooleanSupplier isDrained;
    private final LoopTask check;
    private volatile @Nullable CompletableFuture<Void> waiting;
    private boolean ended;

    DrainWatch(EventLoop loop, BooleanSupplier isDrained) {
        this.isDrained = isDrained;
        this.check = loop.task(this::check);
    }

    /** The future; the same for everyone who drains. */
    synchronized CompletableFuture<Void> future() {
        CompletableFuture<Void> now = waiting;
        if (now == null) {
            now = ended ? CompletableFuture.completedFuture(null) : new CompletableFuture<>();
            waiting = now;
        }
        return now;
    }

    /** Whether somebody waited and everything was polled. */
    boolean isOver() {
        CompletableFuture<Void> now = waiting;
        return now != null && now.isDone();
    }

    /** Something that counts may have changed; possibly with locks held. */
    void changed() {
        if (waiting != null && !check.schedule()) {
            check();
        }
    }

    /** The queue pair is gone: nobody waits any more, now or later. */
    void end() {
        synchronized (this) {
            ended = true;
        }
        complete();
    }

    private void complete() {
        CompletableFuture<Void> now = waiting;
        if (now != null) {
            now.complete(null);
        }
    }

    private void check() {
        if (isDrained.getAsBoolean()) {
            complete();
        }
    }
}
