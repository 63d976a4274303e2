// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.client.TransportException.Kind;
import org.rpcrdma4j.transport.connection.DisconnectCause;
import org.rpcrdma4j.transport.connection.Monitor;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.event.ClientEvents;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.event.Gauges;
import org.rpcrdma4j.transport.time.TimeSource;

/**
 * The calls of one client: those that wait, those that are sent, their deadlines, and how each ends. Decides about the transitions of
 * {@link ClientCall}; outlives connections, of which {@link Connector} keeps one.
 *
 * <p>{@link #send}, {@link #cancel} and {@link #close} are called by any thread, all else inside the monitor.
 */
final class Requester {
    private final ClientContext context;
    private final Monitor monitor;
    private final TimeSource time;
    private final Counters<ClientCounter> counters;
    private final ClientOptions options;
    private final Connector connector;
    private final CallTable table;
    private final CallQueue queue;
    private final CallDeadlines deadlines;
    private final ArrayDeque<ClientCall> idleCalls = new ArrayDeque<>();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private long nextOrder;
    private boolean closing;

    Requester(ClientContext context) {
        this.context = context;
        monitor = context.monitor();
        time = context.time();
        counters = context.counters();
        options = context.options();
        table = new CallTable(options.maxInFlight(), context.byOrder());
        queue = new CallQueue(context.byOrder());
        deadlines = new CallDeadlines(monitor, time, this::onDeadline);
        connector = new Connector(context, this);
        monitor.run(connector::start);
    }

    void connect(ConnectionListener listener) {
        monitor.run(() -> connector.connect(listener));
    }

    Counters<ClientCounter> counters() {
        return counters;
    }

    PendingReply send(CallMessage message) {
        PendingReply pending = new PendingReply(this);
        monitor.enter();
        try {
            counters.increment(ClientCounter.CALLS);
            if (closing) {
                refuse(pending, Kind.CLOSED, "client is closed");
            } else if (queue.size() >= options.maxQueued()) {
                refuse(pending, Kind.TOO_MANY_CALLS, queue.size() + " calls wait already");
            } else {
                admit(message, pending);
            }
        } finally {
            monitor.leave();
        }
        return pending;
    }

    private void refuse(PendingReply pending, Kind kind, String detail) {
        counters.increment(ClientCounter.CALLS_FAILED);
        monitor.afterwards(
                new CallEnd(null).set(pending, null, null, null, new TransportException(kind, false, detail)));
    }

    private void admit(CallMessage message, PendingReply pending) {
        if (table.get(message.xid()) != null) {
            throw new IllegalArgumentException(
                    "XID 0x" + Integer.toHexString(message.xid()) + " is that of a call without reply");
        }
        ClientCall call = idleCalls.poll();
        if (call == null) {
            call = new ClientCall(context.bounces());
        }
        long timeout =
                message.timeoutNanos() == 0 ? ClientOptions.nanos(options.callTimeout()) : message.timeoutNanos();
        long now = time.nanoTime();
        call.begin(message, pending, nextOrder++, now, now + timeout);
        pending.bind(call);
        table.add(call);
        deadlines.add(call, call.endNanos());
        queue.addLast(call);
        connector.demand();
    }

    /** The oldest call that waits; null if none does. */
    @Nullable
    ClientCall firstWaiting() {
        return queue.first();
    }

    int waiting() {
        return queue.size();
    }

    /** The call of this XID that has not ended, or has not been answered; or null. */
    @Nullable
    ClientCall find(int xid) {
        return table.get(xid);
    }

    /** The first waiting call was appended to the connection's send queue. */
    void onSent(ClientCall call, ClientConnection connection) {
        queue.remove(call);
        if (call.transmissions() > 0) {
            counters.increment(ClientCounter.RETRANSMISSIONS);
        }
        call.sent(connection, time.nanoTime());
    }

    /** The first waiting call cannot be sent, now or ever. */
    void onUnsendable(ClientCall call, Kind kind, String detail, @Nullable ConnectFailedException cause) {
        queue.remove(call);
        end(call, null, new TransportException(kind, call.transmissions() > 0, call.name() + ": " + detail, cause));
    }

    /** A reply with a message that is whole; its memory is shut next. */
    void onReply(ClientCall call, MemorySegment replyMemory, long replyBytes, long placedBytes) {
        deadlines.remove(call);
        call.replied(replyMemory, replyBytes, placedBytes);
        shut(call);
    }

    /** A reply that ends the call without a message. */
    void onFailureReply(ClientCall call, Kind kind, String detail) {
        deadlines.remove(call);
        // RFC 8267, Section 4: an error of the transport does not say whether the call was executed.
        boolean undecided = kind != Kind.PEER_ERROR_VERSION;
        call.repliedBy(new TransportException(kind, undecided, call.name() + ": " + detail));
        shut(call);
    }

    /** A reply to a call that was given up: its credit is back, and that is all. */
    void onLateReply(ClientCall call) {
        call.answeredLate();
        if (call.state() == ClientCall.State.UNANSWERED) {
            retire(call);
        }
    }

    /** ORDER: the memory is shut to the server before the caller hears of the end (RFC 8166, Section 4.4.1). */
    private void shut(ClientCall call) {
        RequestSlot slot = call.slot();
        if (slot == null) {
            throw new IllegalStateException(call + " is not in flight");
        }
        long now = time.nanoTime();
        call.answerNanos(now);
        slot.shut(call.state() == ClientCall.State.GIVEN_UP);
        if (call.slot() == slot) {
            deadlines.add(call, now + ClientOptions.nanos(options.fenceGrace()));
        }
    }

    /** The call's memory is shut, by invalidation. */
    void onFenced(ClientCall call) {
        deadlines.remove(call);
        TransportException failure = call.failure();
        if (call.state() == ClientCall.State.REPLIED && failure == null) {
            succeed(call);
        } else if (call.isAnswered() || call.state() == ClientCall.State.REPLIED) {
            end(call, null, failure);
        } else {
            counters.increment(ClientCounter.CALLS_FENCED);
            tell(call, null, failure);
            call.remainsUnanswered();
            if (call.endNanos() - time.nanoTime() > 0) {
                // Its credit is missed if no late reply comes: see onDeadline.
                deadlines.add(call, call.endNanos());
            }
        }
    }

    private void succeed(ClientCall call) {
        MemorySegment replyMemory = call.replyMemory();
        if (replyMemory == null) {
            throw new IllegalStateException(call + " succeeds without a reply");
        }
        Reply reply;
        try {
            MemorySegment settled = call.memory().settle(call.message(), replyMemory, call.replyBytes());
            reply = new Reply(settled, call.replyBytes(), call.placedBytes(), call.transmissions());
            int xid = reply.xid();
            if (xid != call.xid()) {
                // RFC 8166, Section 4.2.1. Seen this late only in a Long reply, unreadable before its memory is shut.
                fail(call, Kind.BAD_REPLY, "the reply's message has XID 0x" + Integer.toHexString(xid));
                return;
            }
        } catch (IllegalStateException | IllegalArgumentException | WrongThreadException e) {
            fail(call, Kind.REGISTRATION_FAILED, "its reply buffer cannot be used: " + e.getMessage());
            return;
        }
        end(call, reply, null);
    }

    private void fail(ClientCall call, Kind kind, String detail) {
        end(call, null, new TransportException(kind, true, call.name() + ": " + detail));
    }

    /** The memory of all calls that were sent on the connection is shut, because it has gone: each ends, or is sent again. */
    void onConnectionLost(ClientConnection connection, String detail) {
        List<ClientCall> again = new ArrayList<>();
        for (ClientCall call : table.sentOn(connection)) {
            deadlines.remove(call);
            if (endsWithConnection(call, detail)) {
                continue;
            }
            call.enterQueue();
            deadlines.add(call, call.endNanos());
            again.add(call);
        }
        queue.addInOrder(again);
    }

    /** Ends the call, unless it is to be sent again. A reply that had come is not trusted to be whole. */
    private boolean endsWithConnection(ClientCall call, String detail) {
        TransportException failure = call.failure();
        switch (call.state()) {
            case UNANSWERED -> retire(call);
            case GIVEN_UP -> end(call, null, failure);
            case SENT, REPLIED -> {
                if (failure != null) {
                    end(call, null, failure);
                } else if (closing) {
                    fail(call, Kind.CLOSED, "client is closed");
                } else if (call.transmissions() >= options.maxTransmissions()) {
                    // Bounded, or one call that its server cannot bear would end connections for ever.
                    String sent = "sent on " + call.transmissions() + " connections, the last lost: " + detail;
                    fail(call, Kind.CONNECTION_LOST, sent);
                } else {
                    return false;
                }
            }
            case IDLE, QUEUED -> throw new IllegalStateException(call + " has no connection");
        }
        return true;
    }

    /** Every waiting call fails. */
    void failWaiting(Kind kind, String detail, @Nullable ConnectFailedException cause) {
        ClientCall call;
        while ((call = queue.first()) != null) {
            onUnsendable(call, kind, detail, cause);
        }
    }

    /** For {@link PendingReply#cancel}. */
    boolean cancel(PendingReply pending) {
        monitor.enter();
        try {
            ClientCall call = pending.boundCall();
            if (call == null || !call.canBeGivenUp()) {
                return false;
            }
            counters.increment(ClientCounter.CANCELS);
            giveUp(call, Kind.CANCELLED, "given up by its caller");
            return true;
        } finally {
            monitor.leave();
        }
    }

    private void giveUp(ClientCall call, Kind kind, String detail) {
        deadlines.remove(call);
        TransportException failure =
                new TransportException(kind, call.transmissions() > 0, call.name() + ": " + detail);
        if (call.state() == ClientCall.State.QUEUED) {
            queue.remove(call);
            end(call, null, failure);
        } else {
            call.givenUp(failure);
            shut(call);
        }
    }

    private void end(ClientCall call, @Nullable Reply reply, @Nullable TransportException failure) {
        tell(call, reply, failure);
        retire(call);
    }

    private void tell(ClientCall call, @Nullable Reply reply, @Nullable TransportException failure) {
        if (failure != null) {
            counters.increment(ClientCounter.CALLS_FAILED);
        }
        ClientConnection connection = call.connection();
        if (connection != null) {
            long now = time.nanoTime();
            Enum<?> outcome = failure == null ? ClientCall.State.REPLIED : failure.kind();
            ClientEvents.callEnded(
                    connection.label(), call.xid(), outcome, now - call.beginNanos(), now - call.answerNanos(), 0);
        }
        PendingReply pending = call.pending();
        pending.bind(null);
        Landing landing = call.memory().land(call.message(), reply);
        monitor.afterwards(call.nextEnd(context.eligibility()).set(pending, call.message(), reply, landing, failure));
    }

    private void retire(ClientCall call) {
        deadlines.remove(call);
        table.remove(call);
        call.ended();
        if (idleCalls.size() < options.maxInFlight()) {
            idleCalls.push(call);
        }
    }

    private void onDeadline(ClientCall call) {
        ClientConnection connection = call.connection();
        long sentNanos = call.sentNanos();
        switch (call.state()) {
            case QUEUED, SENT -> {
                counters.increment(ClientCounter.TIMEOUTS);
                giveUp(call, Kind.TIMED_OUT, call.timeoutDetail(connector));
                connector.onCallTimedOut(connection, sentNanos);
            }
            case UNANSWERED -> connector.onCallTimedOut(connection, sentNanos);
            case REPLIED, GIVEN_UP -> {
                if (connection != null) {
                    connection.abort(DisconnectCause.FENCE, call + ": its memory was not shut in time");
                }
            }
            case IDLE -> throw new IllegalStateException("deadline of " + call);
        }
    }

    long bounceBytesTaken() {
        return context.bounces().takenBytes();
    }

    CompletableFuture<Void> close() {
        monitor.enter();
        try {
            if (!closing) {
                closing = true;
                failWaiting(Kind.CLOSED, "client is closed", null);
                connector.close();
            }
        } finally {
            monitor.leave();
        }
        return closed;
    }

    /** No connection is left, and none will come. */
    void onNothingLeft() {
        deadlines.stop();
        monitor.afterwards(() -> closed.complete(null));
    }

    /** The calls that were sent on the connection and have not ended, the oldest first. Goes through all calls. */
    List<ClientCall> callsOn(ClientConnection connection) {
        return table.sentOn(connection);
    }

    /** How often somebody has gone through all calls. */
    int walks() {
        return table.walks();
    }

    Gauges gauges() {
        monitor.enter();
        try {
            return connector.gauges();
        } finally {
            monitor.leave();
        }
    }

    @Override
    public String toString() {
        monitor.enter();
        try {
            return "client of " + context.options().address() + ", " + queue.size() + " calls waiting, "
                    + (table.size() - queue.size()) + " sent, " + connector;
        } finally {
            monitor.leave();
        }
    }
}
