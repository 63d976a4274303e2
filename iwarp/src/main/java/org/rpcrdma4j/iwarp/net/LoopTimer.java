// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Work at a point in time, done once on the loop's thread unless cancelled before. Pending, then either fired or cancelled,
 * for good.
 *
 * <p>Threads: {@link #cancel} from any thread. The place in the heap belongs to the loop's thread.
 */
public final class LoopTimer {
    private static final int PENDING = 0;
    private static final int FIRED = 1;
    private static final int CANCELLED = 2;

    private final EventLoop loop;
    private final AtomicInteger state = new AtomicInteger(PENDING);
    private @Nullable Runnable work;

    final long deadlineNanos;
    long sequence;
    int index = -1;

    LoopTimer(EventLoop loop, long deadlineNanos, Runnable work) {
        this.loop = loop;
        this.deadlineNanos = deadlineNanos;
        this.work = work;
    }

    /**
     * Prevents the work.
     *
     * @return true if it will not be done thanks to this call; false if it was done, is being done or was cancelled before
     */
    public boolean cancel() {
        if (!state.compareAndSet(PENDING, CANCELLED)) {
            return false;
        }
        work = null;
        loop.timerCancelled(this);
        return true;
    }

    /** Whether it has neither fired nor been cancelled. */
    public boolean isPending() {
        return state.get() == PENDING;
    }

    /** Claims the work for a run; null if it was cancelled. */
    @Nullable
    Runnable fire() {
        if (!state.compareAndSet(PENDING, FIRED)) {
            return null;
        }
        Runnable claimed = work;
        work = null;
        return claimed;
    }
}
