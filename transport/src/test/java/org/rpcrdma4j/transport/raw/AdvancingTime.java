// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import java.time.Duration;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.time.TimeSource;

/** The system's clock, which a test may move forward. Tasks run on one daemon thread, in the order of their times. */
public final class AdvancingTime implements TimeSource, AutoCloseable {

    private static final class Waiting implements Timer {
        private final AdvancingTime owner;
        private final long atNanos;
        private final long number;
        private final Runnable task;

        Waiting(AdvancingTime owner, long atNanos, long number, Runnable task) {
            this.owner = owner;
            this.atNanos = atNanos;
            this.number = number;
            this.task = task;
        }

        @Override
        public void cancel() {
            owner.remove(this);
        }
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final PriorityQueue<Waiting> queue = new PriorityQueue<>(
            Comparator.<Waiting>comparingLong(waiting -> waiting.atNanos).thenComparingLong(waiting -> waiting.number));
    private final long origin = System.nanoTime();
    private long advanced;
    private long next;
    private boolean isClosed;

    public AdvancingTime() {
        Thread.ofPlatform().name("advancing time").daemon().start(this::run);
    }

    @Override
    public long nanoTime() {
        lock.lock();
        try {
            return System.nanoTime() - origin + advanced;
        } finally {
            lock.unlock();
        }
    }

    /** Moves the clock forward; tasks that are due then begin at once. */
    public void advance(Duration duration) {
        lock.lock();
        try {
            advanced += duration.toNanos();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Timer schedule(long delayNanos, Runnable task) {
        lock.lock();
        try {
            Waiting waiting = new Waiting(this, nanoTime() + Math.max(0, delayNanos), next++, task);
            queue.add(waiting);
            changed.signalAll();
            return waiting;
        } finally {
            lock.unlock();
        }
    }

    /** Tasks that have neither begun nor been cancelled. */
    public int pending() {
        lock.lock();
        try {
            return queue.size();
        } finally {
            lock.unlock();
        }
    }

    private void remove(Waiting waiting) {
        lock.lock();
        try {
            queue.remove(waiting);
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        Runnable task;
        while ((task = awaitTask()) != null) {
            task.run();
        }
    }

    private @Nullable Runnable awaitTask() {
        lock.lock();
        try {
            while (!isClosed) {
                Waiting first = queue.peek();
                long delay = first == null ? TimeUnit.DAYS.toNanos(1) : first.atNanos - nanoTime();
                if (first != null && delay <= 0) {
                    queue.remove();
                    return first.task;
                }
                changed.awaitNanos(delay);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
        return null;
    }

    @Override
    public void close() {
        lock.lock();
        try {
            isClosed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
