// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.connection.Monitor;
import org.rpcrdma4j.transport.time.Deadlines;
import org.rpcrdma4j.transport.time.TimeSource;

/**
 * The deadlines of all calls of one client, and the one timer that stands for the earliest. A call that ends in time does not touch the
 * timer: it goes off in vain and is set again. Used inside the monitor.
 */
final class CallDeadlines {

    private final Monitor monitor;
    private final TimeSource time;
    private final Consumer<ClientCall> onDeadline;
    private final Deadlines<ClientCall> deadlines = new Deadlines<>();
    private final Runnable timerTask = this::onTimer;
    private TimeSource.@Nullable Timer timer;
    private long timerNanos;

    /** Calls whose deadline is reached are taken out and shown to {@code onDeadline}, inside the monitor. */
    CallDeadlines(Monitor monitor, TimeSource time, Consumer<ClientCall> onDeadline) {
        this.monitor = monitor;
        this.time = time;
        this.onDeadline = onDeadline;
    }

    /** Puts a call in that is not in. */
    void add(ClientCall call, long nanos) {
        deadlines.add(call, nanos);
        armTimer();
    }

    /** Takes a call out, if it is in. */
    void remove(ClientCall call) {
        deadlines.remove(call);
    }

    private void armTimer() {
        ClientCall earliest = deadlines.earliest();
        if (earliest == null || (timer != null && timerNanos - earliest.deadlineNanos() <= 0)) {
            return;
        }
        if (timer != null) {
            timer.cancel();
        }
        timerNanos = earliest.deadlineNanos();
        timer = time.schedule(Math.max(0, timerNanos - time.nanoTime()), timerTask);
    }

    private void onTimer() {
        monitor.enter();
        try {
            timer = null;
            ClientCall call;
            while ((call = deadlines.pollExpired(time.nanoTime())) != null) {
                onDeadline.accept(call);
            }
            armTimer();
        } finally {
            monitor.leave();
        }
    }

    /** No timer goes off any more. */
    void stop() {
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }
}
