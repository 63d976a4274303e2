// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.client;

import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.time.Deadlines;
import org.rpcrdma4j.transport.time.TimeSource;

/** The deadlines of a client's calls, and the one timer for the earliest of them. In the requester's monitor, but for the timer's task. */
final class CallTimer {

    private final TimeSource time;
    private final Runnable onExpired;
    private final Deadlines<TcpCall> deadlines = new Deadlines<>();
    private TimeSource.@Nullable Timer timer;
    private long timerAt;

    /** The task is run outside the monitor when a deadline may have come; it asks {@link #nextExpired} until there is none. */
    CallTimer(TimeSource time, Runnable onExpired) {
        this.time = time;
        this.onExpired = onExpired;
    }

    void add(TcpCall call, long limitNanos) {
        deadlines.add(call, time.nanoTime() + limitNanos);
        arm();
    }

    void remove(TcpCall call) {
        deadlines.remove(call);
    }

    /** A call whose deadline has come, taken out; with null the timer is armed again. */
    @Nullable
    TcpCall nextExpired() {
        TcpCall expired = deadlines.pollExpired(time.nanoTime());
        if (expired == null) {
            timer = null;
            arm();
        }
        return expired;
    }

    private void arm() {
        TcpCall earliest = deadlines.earliest();
        TimeSource.Timer armed = timer;
        // A timer that is early only looks in vain; that is cheaper than one for each call.
        if (earliest == null || (armed != null && timerAt - earliest.deadlineNanos() <= 0)) {
            return;
        }
        if (armed != null) {
            armed.cancel();
        }
        timerAt = earliest.deadlineNanos();
        timer = time.schedule(timerAt - time.nanoTime(), onExpired);
    }
}
