// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.client;

import java.time.Duration;

/** The delays between attempts to connect: each twice the one before, up to a bound, until a reply was received. Used in the monitor. */
final class Backoff {

    private final long firstNanos;
    private final long longestNanos;
    private long nextNanos;
    private int attempts;

    Backoff(Duration first, Duration longest) {
        longestNanos = longest.toNanos();
        firstNanos = Math.min(first.toNanos(), longestNanos);
        nextNanos = firstNanos;
    }

    /** The delay before the next attempt. */
    long next() {
        long delay = nextNanos;
        nextNanos = delay > longestNanos / 2 ? longestNanos : 2 * delay;
        return delay;
    }

    /** One more attempt has failed; returns how many have since the last reset. */
    int failed() {
        return ++attempts;
    }

    /** An attempt has succeeded. */
    void connected() {
        attempts = 0;
    }

    /** The server has answered something. */
    void reset() {
        nextNanos = firstNanos;
        attempts = 0;
    }
}
