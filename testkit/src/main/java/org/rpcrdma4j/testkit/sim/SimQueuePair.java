// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.PostResult.Reason;
import org.rpcrdma4j.verbs.PostResult.Refused;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.QueuePairOptions;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.WorkCompletion.Status;
import org.rpcrdma4j.verbs.cm.Disconnect.Cause;

/** A simulated queue pair: posting, states and the flush. What it sends is in {@link Outbound}, what it gets in {@link Inbound}. */
final class SimQueuePair implements QueuePair, Agenda.Actor {

    final WorkQueue sends;
    final WorkQueue receives;
    final Connection connection;

    private final SimulatedDevice device;
    private final SimulatedNetwork network;
    private final SimProtectionDomain domain;
    private final int number;
    private final SendPoster poster;
    private final Outbound outbound;
    private final Inbound inbound;
    private final List<CompletableFuture<Void>> drains = new ArrayList<>();
    private State state = State.IDLE;
    private boolean isDraining;
    private boolean isDrained;
    private boolean isClosed;

    SimQueuePair(SimProtectionDomain domain, QueuePairOptions options, WorkQueues queues, int number) {
        this.domain = domain;
        this.device = domain.device();
        this.network = device.network();
        this.number = number;
        sends = new WorkQueue(this, queues.send(), options.sendDepth());
        receives = new WorkQueue(this, queues.receive(), options.receiveDepth());
        poster = new SendPoster(device, options.maxSges());
        connection = new Connection(this);
        outbound = new Outbound(this);
        inbound = new Inbound(this, outbound);
    }

    /** The completion queues, known to be the device's. */
    record WorkQueues(SimCompletionQueue send, SimCompletionQueue receive) {}

    @Override
    public int number() {
        return number;
    }

    @Override
    public SimProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public State state() {
        return state;
    }

    void enter(State next) {
        network.note("state " + next, number, 0);
        state = next;
    }

    /** Whether there is a connection that could be lost. */
    boolean isJoined() {
        return state == State.CONNECTED || state == State.CLOSING;
    }

    @Override
    public PostResult postSend(SendQueueRequest request) {
        return postSend(List.of(request));
    }

    @Override
    public PostResult postReceive(ReceiveRequest request) {
        return postReceive(List.of(request));
    }

    @Override
    public PostResult postSend(List<? extends SendQueueRequest> chain) {
        int limit = limitOf(chain.size());
        for (int i = 0; i < chain.size(); i++) {
            Refused refused = refusal(i, limit, sends, state == State.CONNECTED || state == State.ERROR);
            if (refused != null) {
                return refused;
            }
            WorkEntry entry = poster.send(sends, chain.get(i), connection.outboundReads());
            if (entry == null) {
                return poster.refusal(i);
            }
            take(sends, entry);
        }
        return PostResult.posted();
    }

    @Override
    public PostResult postReceive(List<ReceiveRequest> chain) {
        int limit = limitOf(chain.size());
        for (int i = 0; i < chain.size(); i++) {
            Refused refused = refusal(i, limit, receives, state != State.CLOSING);
            if (refused != null) {
                return refused;
            }
            WorkEntry entry = poster.receive(receives, chain.get(i));
            if (entry == null) {
                return poster.refusal(i);
            }
            take(receives, entry);
        }
        return PostResult.posted();
    }

    private int limitOf(int length) {
        return length == 0 ? 0 : device.options().faults().acceptedOfChain(length);
    }

    private @Nullable Refused refusal(int index, int limit, WorkQueue queue, boolean stateAllows) {
        if (isClosed) {
            return new Refused(index, Reason.WRONG_STATE, "the queue pair is closed");
        }
        if (isDrained) {
            network.violation("post to queue pair " + number + " after its drain had ended");
            return new Refused(index, Reason.WRONG_STATE, "the queue pair was drained");
        }
        if (!stateAllows) {
            return new Refused(index, Reason.WRONG_STATE, "state " + state);
        }
        if (index >= limit) {
            return new Refused(index, device.options().faults().refusalReason(), "injected fault");
        }
        if (queue.isFull()) {
            return new Refused(index, Reason.QUEUE_FULL, queue.toString());
        }
        return null;
    }

    private void take(WorkQueue queue, WorkEntry entry) {
        network.note("posted " + entry.operation, number, entry.id);
        device.count("posted");
        if (state == State.ERROR) {
            queue.postFlushed(entry);
        } else {
            queue.post(entry);
        }
    }

    /** Ends an entry whose effect has taken place; its completion may be put off, or tell of a failure. */
    void succeed(WorkEntry entry) {
        FaultPlan.WorkFailure failure = entry.failure;
        if (failure != null) {
            outbound.fail(entry, failure.status());
            return;
        }
        entry.end(Status.SUCCESS);
        long delay = device.options().faults().completionDelayNanos(entry.operation);
        if (delay > 0) {
            entry.readyNanos = network.nanoTime() + delay;
            network.at(entry.readyNanos, () -> {});
        }
    }

    @Override
    public void offer(Agenda agenda) {
        long now = network.nanoTime();
        if (isJoined() && outbound.canExecute()) {
            agenda.add(ActionKind.EXECUTE, this);
        }
        if (isJoined() && outbound.canRespond()) {
            agenda.add(ActionKind.RESPOND, this);
        }
        if (state != State.ERROR && inbound.hasPacket()) {
            agenda.add(ActionKind.DELIVER, this);
        }
        // ORDER: in a drain the receive queue's completions are made before the send queue's.
        if (sends.canComplete(now) && !(isDraining && receives.hasUncompleted())) {
            agenda.add(ActionKind.COMPLETE_SEND, this);
        }
        if (receives.canComplete(now)) {
            agenda.add(ActionKind.COMPLETE_RECEIVE, this);
        }
        if (connection.hasEvent(!sends.hasUncompleted() && !receives.hasUncompleted())) {
            agenda.add(ActionKind.CONNECTION_EVENT, this);
        }
        if (!drains.isEmpty() && isEmpty()) {
            agenda.add(ActionKind.DRAINED, this);
        }
    }

    private boolean isEmpty() {
        return sends.isDrained() && receives.isDrained();
    }

    @Override
    public void act(ActionKind kind) {
        switch (kind) {
            case EXECUTE -> outbound.execute();
            case RESPOND -> outbound.respond();
            case DELIVER -> inbound.deliver();
            case COMPLETE_SEND ->
                outbound.checkMemoryUnchanged(sends.complete(device.options().faults()));
            case COMPLETE_RECEIVE -> receives.complete(device.options().faults());
            case CONNECTION_EVENT -> connection.tellNext();
            case DRAINED -> endDrains();
            default -> throw new AssertionError(kind);
        }
    }

    private void endDrains() {
        isDrained = true;
        List<CompletableFuture<Void>> ended = List.copyOf(drains);
        drains.clear();
        ended.forEach(drain -> drain.complete(null));
    }

    /** A packet of the peer arrives in this queue pair's row. */
    void arrive(Packet packet) {
        if (state != State.ERROR) {
            inbound.arrive(packet);
        }
    }

    /** The connection breaks without a word, and some of what was under way is lost. */
    void loseConnection() {
        connection.end(Cause.CONNECTION_LOST, "injected fault", null, new Packet.Reset());
    }

    /** To ERROR: everything outstanding is flushed. The connection has taken care of the peer. */
    void flush(boolean forgetful) {
        enter(State.ERROR);
        inbound.clear();
        outbound.clear();
        FaultPlan faults = device.options().faults();
        FaultPlan.Forgetting forgetting = faults.forgetting();
        long delay = faults.flushDelayNanos();
        sends.flush(forgetful ? forgetting : FaultPlan.Forgetting.NONE, network.random(), network.nanoTime() + delay);
        receives.flush(null, network.random(), network.nanoTime() + delay);
        if (delay > 0) {
            network.at(network.nanoTime() + delay, () -> {});
        }
        device.count("flushes");
    }

    void dropUnderWay() {
        inbound.dropSome();
    }

    void inboundReads(int limit) {
        inbound.limitReads(limit);
    }

    @Override
    public void disconnect() {
        switch (state) {
            case CONNECTED -> {
                enter(State.CLOSING);
                connection.beginClosing();
            }
            case IDLE, CONNECTING -> abort();
            case CLOSING, ERROR -> {}
        }
    }

    @Override
    public void abort() {
        connection.end(Cause.LOCAL_CLOSE, "aborted", null, new Packet.Reset());
    }

    @Override
    public CompletableFuture<Void> drain() {
        abort();
        isDraining = true;
        CompletableFuture<Void> drain = new CompletableFuture<>();
        if (isClosed) {
            drain.cancel(false);
        } else {
            drains.add(drain);
        }
        return drain;
    }

    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        abort();
        isClosed = true;
        network.removeActor(this);
        sends.close();
        receives.close();
        domain.remove(this);
        device.remove(this);
        // ORDER: told last, when the queue pair is gone; nothing is told after this method has returned.
        connection.tellAll();
        drains.forEach(drain -> drain.cancel(false));
        drains.clear();
    }

    @Override
    public SimulatedDevice device() {
        return device;
    }

    @Override
    public int traceId() {
        return number;
    }

    @Override
    public String toString() {
        return "QP " + number + " of " + device.name() + " " + state + ", send queue " + sends + ", receive queue "
                + receives + ", " + outbound + ", " + inbound;
    }
}
