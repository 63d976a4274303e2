// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import java.net.InetSocketAddress;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.client.TransportException.Kind;
import org.rpcrdma4j.transport.connection.DisconnectCause;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.event.ConnectionLabel;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.event.Gauge;
import org.rpcrdma4j.transport.event.Gauges;
import org.rpcrdma4j.transport.event.TransportEvents;
import org.rpcrdma4j.transport.frwr.SendQueuePlan;
import org.rpcrdma4j.transport.time.TimeSource;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;

/**
 * Keeps one connection to the server for as long as calls need it.
 *
 * <pre>
 *   IDLE --demand--> OPENING --made--> ACTIVE --closed, demand--> WAITING --delay over--> OPENING
 *    ^                  |                 |                          ^
 *    |                  +--device short---|--------------------------+
 *    +------------------- closed, no demand
 * </pre>
 *
 * There is demand when calls wait, or the server may call us. A new connection is begun only when nothing of the old one is left, so no
 * call is ever sent twice on one, nor open on two. The first connection, and the first after an idle end, is made at once; all others
 * after a delay, which doubles until the server has answered something.
 *
 * <p>Used inside the monitor.
 */
final class Connector {

    private enum State {
        IDLE,
        WAITING,
        OPENING,
        ACTIVE,
        CLOSED
    }

    private final ClientContext context;
    private final Requester requester;
    private final ClientOptions options;
    private final Counters<ClientCounter> counters;
    private final SendQueuePlan.Supported plan;
    private final Backoff backoff;
    private State state = State.IDLE;
    private @Nullable ClientConnection connection;
    private TimeSource.@Nullable Timer delayTimer;
    private TimeSource.@Nullable Timer idleTimer;
    private boolean isDelayDue;
    private boolean wasEverConnected;
    private int generation;
    private int failedAttempts;
    private long attemptNanos;
    private @Nullable ConnectionListener listener;
    private String lastFailure = "no attempt yet";
    private @Nullable ConnectRefusal refusal;

    Connector(ClientContext context, Requester requester) {
        this.context = context;
        this.requester = requester;
        options = context.options();
        counters = context.counters();
        plan = planFor(context);
        backoff = new Backoff(
                ClientOptions.nanos(options.reconnectDelay()), ClientOptions.nanos(options.maxReconnectDelay()));
    }

    private static SendQueuePlan.Supported planFor(ClientContext context) {
        ClientOptions options = context.options();
        SendQueuePlan plan = SendQueuePlan.of(
                context.device().attributes(),
                options.maxInFlight(),
                options.maxPayloadBytes(),
                options.reverseCredits(),
                options.regionPagesLimit());
        return switch (plan) {
            case SendQueuePlan.Supported supported -> supported;
            case SendQueuePlan.Unsupported unsupported ->
                throw new UnsupportedOperationException(
                        "device " + context.device().name() + ": " + unsupported.reason());
        };
    }

    /** Begins if there is demand without a call. */
    void start() {
        if (hasDemand()) {
            demand();
        }
    }

    /** Begins a connection for which there need be no demand. */
    void connect(ConnectionListener newListener) {
        listener = newListener;
        demand();
    }

    private void tell(Consumer<ConnectionListener> event) {
        ConnectionListener told = listener;
        if (told != null) {
            context.monitor().afterwards(() -> event.accept(told));
        }
    }

    private boolean hasDemand() {
        // RFC 8167, Section 5.4: the connection is kept while the server may call.
        return requester.waiting() > 0 || context.reverseHandler() != null;
    }

    /** Calls wait: they are sent, or there will be a connection for them. */
    void demand() {
        ClientConnection current = connection;
        if (current != null) {
            current.sendWaiting();
        } else if (state == State.IDLE) {
            begin();
        }
    }

    private void begin() {
        if (!isDelayDue) {
            open();
            return;
        }
        long delay = backoff.next();
        state = State.WAITING;
        TransportEvents.reconnectScheduled(labelOfNext(), delay, backoff.attempts());
        delayTimer = context.time().schedule(delay, () -> context.monitor().run(this::onDelayOver));
    }

    private ConnectionLabel labelOfNext() {
        return new ConnectionLabel(
                0,
                generation + 1,
                ConnectionLabel.Side.CLIENT,
                options.address().toString());
    }

    private void onDelayOver() {
        if (state == State.WAITING) {
            delayTimer = null;
            open();
        }
    }

    private void open() {
        state = State.OPENING;
        generation++;
        refusal = null;
        attemptNanos = context.time().nanoTime();
        // What the device allocates may take its time, so not in here.
        context.monitor().afterwards(() -> {
            try {
                context.worker().execute(this::make);
            } catch (RejectedExecutionException e) {
                context.monitor().run(() -> onNotMade(e));
            }
        });
    }

    private void make() {
        ClientConnection made;
        try {
            made = new ClientConnection(context, requester, this, plan, generation);
        } catch (RuntimeException | OutOfMemoryError e) {
            // Native memory has a limit of its own, so want of it is no worse than want of a queue.
            context.monitor().run(() -> onNotMade(e));
            return;
        }
        context.monitor().run(() -> onMade(made));
    }

    private void onMade(ClientConnection made) {
        connection = made;
        if (state == State.CLOSED) {
            made.abort(DisconnectCause.LOCAL_CLOSE, "client is closed");
            return;
        }
        state = State.ACTIVE;
        try {
            made.connect();
        } catch (IllegalStateException | IllegalArgumentException e) {
            // ORDER: what was made is given back before there is another attempt.
            made.abort(DisconnectCause.LOCAL_ERROR, "the device does not begin to connect: " + e.getMessage());
        }
    }

    private void onNotMade(Throwable cause) {
        tell(to -> to.onEnded(false, "no connection can be made: " + cause.getMessage()));
        if (state == State.CLOSED) {
            requester.onNothingLeft();
            return;
        }
        onAttemptFailed("no connection can be made: " + cause.getMessage());
        goOn();
    }

    void onEstablished(ClientConnection established, InetSocketAddress localAddress) {
        tell(to -> to.onConnected(localAddress));
        long took = context.time().nanoTime() - attemptNanos;
        counters.increment(ClientCounter.CONNECTS);
        counters.add(ClientCounter.CONNECT_NANOS, took);
        if (wasEverConnected) {
            counters.increment(ClientCounter.RECONNECTS);
        }
        TransportEvents.connectEnded(established.label(), took, true, "established");
        wasEverConnected = true;
        failedAttempts = 0;
        watchIdle();
    }

    /** The attempt that is under way has failed. */
    void onRefused(ConnectRefusal why) {
        refusal = why;
    }

    /** A valid reply has come. */
    void onReplyReceived() {
        backoff.reset();
    }

    void onDisconnecting(ClientConnection ending, DisconnectCause cause) {
        if (ending.wasEstablished()) {
            counters.increment(ClientCounter.DISCONNECTS);
            isDelayDue = cause != DisconnectCause.IDLE;
        }
        if (idleTimer != null) {
            idleTimer.cancel();
            idleTimer = null;
        }
    }

    private void onAttemptFailed(String detail) {
        lastFailure = detail;
        isDelayDue = true;
        failedAttempts++;
        counters.increment(ClientCounter.CONNECT_FAILURES);
        counters.add(ClientCounter.CONNECT_NANOS, context.time().nanoTime() - attemptNanos);
        if (options.connectAttempts() > 0 && failedAttempts >= options.connectAttempts()) {
            ConnectRefusal last = refusal;
            requester.failWaiting(
                    Kind.CONNECTION_LOST,
                    failedAttempts + " attempts to connect failed, the last: " + detail,
                    last == null ? null : ConnectFailedException.of(options.address(), last));
        }
    }

    /** Nothing of the connection is left. */
    void onClosed(ClientConnection gone) {
        tell(to -> to.onEnded(gone.wasEstablished(), gone.endDetail()));
        connection = null;
        if (state == State.CLOSED) {
            requester.onNothingLeft();
            return;
        }
        if (!gone.wasEstablished()) {
            TransportEvents.connectEnded(
                    gone.label(), context.time().nanoTime() - attemptNanos, false, gone.endDetail());
            onAttemptFailed(gone.endDetail());
        } else {
            lastFailure = "connection ended: " + gone.endDetail();
        }
        goOn();
    }

    private void goOn() {
        state = State.IDLE;
        if (hasDemand()) {
            begin();
        }
    }

    /**
     * A call had no reply in time. The connection is given up if the server has been silent since, for there is no other way to find out
     * that it has gone; or if calls without callers hold all credits, for then no further call could be sent.
     */
    void onCallTimedOut(@Nullable ClientConnection sentOn, long sentNanos) {
        ClientConnection current = connection;
        if (current == null || !current.endpoint().isConnected()) {
            return;
        }
        if (sentOn == current && current.lastReceivedNanos() - sentNanos < 0) {
            current.abort(
                    DisconnectCause.TIMED_OUT, "nothing received since a call was sent that had no reply in time");
        } else if (!current.credits().isOpen()
                && current.credits().withoutCaller() >= current.credits().limit()) {
            current.abort(DisconnectCause.TIMED_OUT, "calls that were given up hold all credits");
        }
    }

    private void watchIdle() {
        if (options.idleTimeout().isZero() || context.reverseHandler() != null) {
            return;
        }
        idleTimer = context.time()
                .schedule(
                        ClientOptions.nanos(options.idleTimeout()),
                        () -> context.monitor().run(this::onIdleTimer));
    }

    private void onIdleTimer() {
        ClientConnection current = connection;
        if (current == null || idleTimer == null || !current.endpoint().isConnected()) {
            return;
        }
        long idle = ClientOptions.nanos(options.idleTimeout());
        long silence = context.time().nanoTime() - current.lastReceivedNanos();
        if (!current.isIdle()) {
            watchIdle();
        } else if (silence >= idle) {
            current.disconnect(DisconnectCause.IDLE, "no call for " + options.idleTimeout());
        } else {
            idleTimer = context.time()
                    .schedule(idle - silence, () -> context.monitor().run(this::onIdleTimer));
        }
    }

    /** No further connection; the one there is ends in order. */
    void close() {
        State before = state;
        state = State.CLOSED;
        ClientConnection current = connection;
        if (delayTimer != null) {
            delayTimer.cancel();
            delayTimer = null;
        }
        if (current != null) {
            current.disconnect(DisconnectCause.LOCAL_CLOSE, "client is closed");
        } else if (before != State.OPENING) {
            requester.onNothingLeft();
        }
    }

    Gauges gauges() {
        Gauges gauges = new Gauges()
                .set(Gauge.CALLS_WAITING, requester.waiting())
                .set(context.device().ledger());
        ClientConnection current = connection;
        if (current == null) {
            return gauges.set(Gauge.CONNECTIONS, 0);
        }
        long now = context.time().nanoTime();
        long oldest = 0;
        for (ClientCall call : requester.callsOn(current)) {
            oldest = call.isAnswered() ? oldest : Math.max(oldest, now - call.sentNanos());
        }
        int zombies = current.credits().withoutCaller();
        return current.fill(gauges)
                .set(Gauge.CONNECTIONS, current.endpoint().isConnected() ? 1 : 0)
                .set(Gauge.CREDITS_GRANTED, current.credits().limit())
                .set(Gauge.CALLS_IN_FLIGHT, current.credits().unanswered() - zombies)
                .set(Gauge.CALLS_ZOMBIE, zombies)
                .set(Gauge.OLDEST_CALL_AGE_NANOS, oldest)
                .set(Gauge.RECEIVES_OUTSTANDING, current.endpoint().receivesOutstanding());
    }

    @Override
    public String toString() {
        ClientConnection current = connection;
        return current == null ? state + ", " + lastFailure : state + ", " + current;
    }
}
