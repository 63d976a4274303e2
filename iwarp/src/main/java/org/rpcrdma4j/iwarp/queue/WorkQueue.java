// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.queue;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * What a send queue and a receive queue share: a number of places, each taken from the post of a work request until its completion
 * was polled. So a completion queue that has room for the places of its queues cannot overflow.
 *
 * <p>Places are counted apart from the ring of slots: a slot is free once its request is complete, a place only when the consumer
 * knows. Taking places is guarded by the queue pair's lock; giving them back may come from any thread.
 */
public abstract sealed class WorkQueue permits SendQueue, ReceiveQueue {
    private final int queuePair;
    private final int depth;
    private final SoftCompletionQueue completions;
    private final Runnable onEmpty;
    private final AtomicInteger taken = new AtomicInteger();

    /**
     * @param queuePair number of the queue pair
     * @param onEmpty called, possibly with locks held, when the last place was given back
     */
    WorkQueue(int queuePair, int depth, SoftCompletionQueue completions, Runnable onEmpty) {
        this.queuePair = queuePair;
        this.depth = depth;
        this.completions = completions;
        this.onEmpty = onEmpty;
    }

    /** Most outstanding work requests. */
    public final int depth() {
        return depth;
    }

    /** Where it reports. */
    public final SoftCompletionQueue completions() {
        return completions;
    }

    final int queuePair() {
        return queuePair;
    }

    /** Work requests whose completion was not polled yet. */
    public final int outstanding() {
        return taken.get();
    }

    /** Takes a place, if there is one. */
    final boolean takePlace() {
        if (taken.get() >= depth) {
            return false;
        }
        taken.incrementAndGet();
        return true;
    }

    /** Gives a place back. */
    final void giveBackPlace() {
        if (taken.decrementAndGet() == 0) {
            onEmpty.run();
        }
    }
}
