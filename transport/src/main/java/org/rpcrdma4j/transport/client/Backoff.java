// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

/** The delays between attempts to connect: each twice the one before, up to a bound, until a reply was received. Used inside the monitor. */
final class Backoff {

    private final long firstNanos;
    private final long longestNanos;
    private long nextNanos;
    private int attempts;

    Backoff(long firstNanos, long longestNanos) {
        this.firstNanos = Math.min(firstNanos, longestNanos);
        this.longestNanos = longestNanos;
        nextNanos = this.firstNanos;
    }

    /** The delay before the next attempt, which it counts. */
    long next() {
        long delay = nextNanos;
        nextNanos = delay > longestNanos / 2 ? longestNanos : 2 * delay;
        attempts++;
        return delay;
    }

    /** Attempts since the last reset. */
    int attempts() {
        return attempts;
    }

    /** The server has answered something. */
    void reset() {
        nextNanos = firstNanos;
        attempts = 0;
    }
}
