// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.time;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The system's clock, and timers on one daemon thread of its own. A timer that is cancelled is taken out of the queue at once: what is
 * kept grows with the timers that wait, not with those that were ever made.
 *
 * <p>After {@link #close} no task begins, and what is scheduled then is never run.
 */
public final class SystemTime implements TimeSource, AutoCloseable {

    private static final System.Logger LOG = System.getLogger(SystemTime.class.getName());
    private static final Timer NEVER = () -> {};

    private final ScheduledThreadPoolExecutor executor;
    private volatile boolean closed;

    /** Starts the clock; its thread begins with the first timer. */
    public SystemTime() {
        executor = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "rpcrdma-timer");
            thread.setDaemon(true);
            return thread;
        });
        executor.setRemoveOnCancelPolicy(true);
        executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public Timer schedule(long delayNanos, Runnable task) {
        try {
            ScheduledFuture<?> scheduled =
                    executor.schedule(() -> runGuarded(task), Math.max(0, delayNanos), TimeUnit.NANOSECONDS);
            return () -> scheduled.cancel(false);
        } catch (RejectedExecutionException e) {
            return NEVER;
        }
    }

    private void runGuarded(Runnable task) {
        if (closed) {
            // The executor still runs what was due before its end.
            return;
        }
        try {
            task.run();
        } catch (RuntimeException e) {
            LOG.log(System.Logger.Level.WARNING, "timer task failed", e);
        }
    }

    /** How many timers wait. */
    int waiting() {
        return executor.getQueue().size();
    }

    /** Ends the thread; a task that is running is not interrupted. */
    @Override
    public void close() {
        closed = true;
        executor.shutdown();
    }
}
