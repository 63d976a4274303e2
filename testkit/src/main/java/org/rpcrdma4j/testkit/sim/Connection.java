// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.QueuePair.State;
import org.rpcrdma4j.verbs.cm.ConnectOptions;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;
import org.rpcrdma4j.verbs.cm.ConnectionListener;
import org.rpcrdma4j.verbs.cm.Disconnect;
import org.rpcrdma4j.verbs.cm.Disconnect.Cause;
import org.rpcrdma4j.verbs.cm.ErrorReport;
import org.rpcrdma4j.verbs.cm.Octets;

/** The connection of one queue pair: its peer, what was agreed, and what its listener is still to be told. */
final class Connection {

    private static final long CLOSE_NANOS = 2_000_000_000L;

    /** One thing to tell. */
    private record Event(Runnable call, boolean afterFlush) {}

    private final SimQueuePair queuePair;
    private final SimulatedNetwork network;
    private final ArrayDeque<Event> events = new ArrayDeque<>();
    private @Nullable ConnectionListener listener;
    private @Nullable SimQueuePair peer;
    private ConnectOptions options = ConnectOptions.DEFAULT;
    private InetSocketAddress local = new InetSocketAddress(0);
    private InetSocketAddress remote = new InetSocketAddress(0);
    private Timers.@Nullable Timer timer;

    /** Our ORD; until it is known, a number that refuses nothing. */
    private int outboundReads = 1;

    private boolean finSent;

    Connection(SimQueuePair queuePair) {
        this.queuePair = queuePair;
        network = queuePair.device().network();
    }

    int outboundReads() {
        return outboundReads;
    }

    @Nullable
    SimQueuePair peer() {
        return peer;
    }

    boolean isFinSent() {
        return finSent;
    }

    InetSocketAddress local() {
        return local;
    }

    ConnectOptions options() {
        return options;
    }

    void begin(ConnectOptions wanted, ConnectionListener told, InetSocketAddress from, InetSocketAddress to) {
        options = wanted;
        listener = told;
        local = from;
        remote = to;
        queuePair.enter(State.CONNECTING);
    }

    void refuseAfter(long nanos) {
        timer = network.at(
                network.nanoTime() + nanos,
                () -> refuse(new ConnectRefusal(ConnectRefusal.Reason.TIMED_OUT, "no answer in time")));
    }

    /** The attempt has failed. */
    void refuse(ConnectRefusal refusal) {
        if (queuePair.state() != State.CONNECTING) {
            return;
        }
        finish(new Packet.Reset(), true);
        tell(listener -> listener.onRefused(refusal), false);
    }

    void join(SimQueuePair other) {
        peer = other;
    }

    /** Both queues work from now on. */
    void establish(Octets privateData, int peerInbound, int peerOutbound) {
        network.cancel(timer);
        outboundReads = Math.min(options.outboundReads(), peerInbound);
        queuePair.inboundReads(options.inboundReads());
        queuePair.enter(State.CONNECTED);
        queuePair.device().count("connections");
        ConnectionInfo info = new ConnectionInfo(
                local,
                remote,
                privateData,
                options.inboundReads(),
                outboundReads,
                peerInbound,
                peerOutbound,
                "simulated");
        tell(told -> told.onEstablished(info), false);
    }

    void send(Packet packet) {
        if (peer != null) {
            peer.arrive(packet);
        }
    }

    void beginClosing() {
        timer = network.at(
                network.nanoTime() + CLOSE_NANOS,
                () -> end(Cause.LOCAL_CLOSE, "the peer did not end in time", null, new Packet.Reset()));
    }

    void sendFin() {
        finSent = true;
        send(new Packet.Fin());
    }

    /** Ends whatever there is: an attempt, a connection, or the wait for one. Does nothing in ERROR. */
    void end(Cause cause, String detail, @Nullable ErrorReport report, @Nullable Packet farewell) {
        State before = queuePair.state();
        if (before == State.ERROR) {
            return;
        }
        boolean orderly = cause == Cause.LOCAL_CLOSE && before == State.CLOSING;
        finish(farewell, !orderly && cause != Cause.REMOTE_CLOSE);
        if (before == State.CONNECTING) {
            ConnectRefusal.Reason reason =
                    cause == Cause.LOCAL_CLOSE ? ConnectRefusal.Reason.LOCAL : ConnectRefusal.Reason.CLOSED_BY_PEER;
            tell(told -> told.onRefused(new ConnectRefusal(reason, detail)), true);
        } else if (before != State.IDLE) {
            Disconnect end = new Disconnect(cause, detail, report);
            tell(told -> told.onDisconnected(end), true);
        }
    }

    private void finish(@Nullable Packet farewell, boolean forgetful) {
        network.cancel(timer);
        queuePair.flush(forgetful);
        if (peer != null && farewell != null) {
            if (farewell instanceof Packet.Reset) {
                peer.dropUnderWay();
            }
            peer.arrive(farewell);
        }
    }

    private void tell(Consumer<ConnectionListener> call, boolean afterFlush) {
        ConnectionListener told = Objects.requireNonNull(listener, "listener");
        events.add(new Event(() -> call.accept(told), afterFlush));
    }

    boolean hasEvent(boolean isFlushed) {
        Event next = events.peek();
        return next != null && (isFlushed || !next.afterFlush());
    }

    void tellNext() {
        queuePair.device().guarded(events.remove().call());
    }

    void tellAll() {
        while (!events.isEmpty()) {
            tellNext();
        }
    }
}
