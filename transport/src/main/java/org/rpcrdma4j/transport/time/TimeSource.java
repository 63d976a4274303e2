// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.time;

/** A clock that only goes forward, and timers on it: the system's, or that of a simulation. May be used by any thread. */
public interface TimeSource {

    /** Now, in nanoseconds from an origin of its own. Values are compared by their difference only. */
    long nanoTime();

    /**
     * Runs the task once, not before the delay has passed, on a thread of the source. The task must be short and must not block.
     *
     * @param delayNanos 0 or less for as soon as possible
     */
    Timer schedule(long delayNanos, Runnable task);

    /** A task that waits for its time. */
    interface Timer {

        /** The task will not begin any more, unless it has begun already. Doing it again changes nothing. */
        void cancel();
    }
}
