// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.connection.DisconnectCause;
import org.rpcrdma4j.transport.server.RequestSlot.State;
import org.rpcrdma4j.transport.time.TimeSource;

/**
 * Looks at a connection from time to time: Reads and Sends that do not come to their end, a client that has gone silent, memory that is not
 * used. Time is counted in looks, so that no call has to read the clock; the timer stands still while there is nothing to look for.
 *
 * <p>In the monitor, but for the timer's own task.
 */
final class ConnectionWatch {

    private static final long SHORTEST_NANOS = 1_000_000;
    private static final int LOOKS_PER_LIMIT = 4;

    private final ServerConnection connection;
    private final ServerContext context;
    private final SlotTable slots;
    private final ConnectionMemory memory;
    private final long intervalNanos;
    private final int pullLooks;
    private final int sendLooks;
    private final int idleLooks;
    private final int trimLooks;
    private TimeSource.@Nullable Timer timer;
    private boolean running;
    private int looks;
    private int lastTraffic;
    private int lastTrim;

    ConnectionWatch(ServerConnection connection, ServerContext context, SlotTable slots, ConnectionMemory memory) {
        this.connection = connection;
        this.context = context;
        this.slots = slots;
        this.memory = memory;
        ServerOptions options = context.options();
        long shortest =
                Math.min(options.pullTimeout().toNanos(), options.sendTimeout().toNanos());
        if (!options.idleTimeout().isZero()) {
            shortest = Math.min(shortest, options.idleTimeout().toNanos());
        }
        shortest = Math.min(shortest, options.trimDelay().toNanos());
        intervalNanos = Math.max(SHORTEST_NANOS, shortest / LOOKS_PER_LIMIT);
        pullLooks = looks(options.pullTimeout());
        sendLooks = looks(options.sendTimeout());
        idleLooks = looks(options.idleTimeout());
        trimLooks = looks(options.trimDelay());
    }

    private int looks(Duration limit) {
        return (int) Math.min(Integer.MAX_VALUE / 2, (limit.toNanos() + intervalNanos - 1) / intervalNanos);
    }

    /** The connection is there. */
    void start() {
        running = true;
        if (idleLooks > 0) {
            arm();
        }
    }

    void stop() {
        running = false;
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }

    void onTraffic() {
        lastTraffic = looks;
    }

    /** The slot begins to pull or to send. */
    void stamp(RequestSlot slot) {
        slot.stamp = looks;
        if (timer == null) {
            arm();
        }
    }

    private void arm() {
        if (running) {
            timer = context.time().schedule(intervalNanos, this::look);
        }
    }

    private void look() {
        connection.monitor().run(this::lookInside);
    }

    private void lookInside() {
        timer = null;
        if (!running) {
            return;
        }
        looks++;
        slots.forEach(this::check);
        boolean idle = slots.allFree();
        if (!idle) {
            lastTraffic = looks;
        } else if (idleLooks > 0 && looks - lastTraffic > idleLooks) {
            connection.disconnect(
                    DisconnectCause.IDLE, "no call for " + context.options().idleTimeout());
        }
        if (looks - lastTrim >= trimLooks) {
            lastTrim = looks;
            connection.onWorker(memory::trim);
        }
        if (!idle || idleLooks > 0 || !memory.isEmpty()) {
            arm();
        }
    }

    private void check(RequestSlot slot) {
        if (slot.state == State.PULLING && looks - slot.stamp > pullLooks) {
            connection.abort(DisconnectCause.TIMED_OUT, "the arguments of " + slot + " could not be read in time");
        } else if (slot.state == State.REPLYING && looks - slot.stamp > sendLooks) {
            connection.abort(DisconnectCause.TIMED_OUT, "the reply of " + slot + " could not be sent in time");
        }
    }
}
