// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import java.util.Comparator;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/** What is to happen at a given virtual time; equal times in the order of scheduling. */
final class Timers {

    /** One entry; can be cancelled. */
    static final class Timer {
        private final long atNanos;
        private final long number;
        private final Runnable task;

        private Timer(long atNanos, long number, Runnable task) {
            this.atNanos = atNanos;
            this.number = number;
            this.task = task;
        }

        long atNanos() {
            return atNanos;
        }

        void run() {
            task.run();
        }
    }

    private final PriorityQueue<Timer> queue = new PriorityQueue<>(
            Comparator.<Timer>comparingLong(timer -> timer.atNanos).thenComparingLong(timer -> timer.number));
    private long next;

    Timer add(long atNanos, Runnable task) {
        Timer timer = new Timer(atNanos, next++, task);
        queue.add(timer);
        return timer;
    }

    void cancel(@Nullable Timer timer) {
        if (timer != null) {
            queue.remove(timer);
        }
    }

    @Nullable
    Timer peek() {
        return queue.peek();
    }

    @Nullable
    Timer poll() {
        return queue.poll();
    }
}
