// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import java.time.Duration;

/**
 * Limits of time of a connection.
 *
 * @param closeNanos for sending what was posted when a close is asked for
 * @param drainNanos for the peer's end after ours, and for last words
 * @param kickNanos after which a peer that has not sent anything is woken; 0 for never
 * @param maxKicks how often at most
 */
public record ConnectionTimes(long closeNanos, long drainNanos, long kickNanos, int maxKicks) {

    /** 10 s, 2 s, 200 ms, 5. */
    public static final ConnectionTimes DEFAULT = new ConnectionTimes(
            Duration.ofSeconds(10).toNanos(),
            Duration.ofSeconds(2).toNanos(),
            Duration.ofMillis(200).toNanos(),
            5);

    /** The same with another time to the first kick; 0 for none. */
    public ConnectionTimes withKickMillis(int millis) {
        return new ConnectionTimes(
                closeNanos, drainNanos, Duration.ofMillis(millis).toNanos(), maxKicks);
    }
}
