// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.connection;

import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.time.TimeSource;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.ProtectionDomain;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.cm.ConnectOptions;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectRequest;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;
import org.rpcrdma4j.verbs.cm.ConnectionListener;
import org.rpcrdma4j.verbs.cm.Disconnect;

/**
 * One connection's verbs objects: queue pair, completion queue, protection domain, receive and send buffers, from before the set-up
 * to after the end. Used once; a reconnect takes a new one, so nothing of one connection is ever met on the next.
 *
 * <pre>
 *   NEW --connect/accept--> CONNECTING --> CONNECTED --disconnect, the peer's end--> CLOSING --drained--> RELEASING --> CLOSED
 *    |                          |                                                      ^
 *    +-------- abort -----------+--------------------- refused, abort -----------------+
 * </pre>
 *
 * <p>The end goes in this order: the listener is told to post nothing new; the device ends the connection; both queues are drained,
 * and messages that had arrived are still delivered; if completions stay away, a time limit ends the wait; the queue pair is closed,
 * which shuts all memory to peer and device; the listener gives its regions back; buffers and domain are freed.
 *
 * <p>All methods are called inside the {@link Monitor}, and so is the listener.
 */
public final class Endpoint {

    /** The life of an endpoint. */
    public enum State {
        NEW,
        CONNECTING,
        CONNECTED,
        /** Ending: what is outstanding is drained. */
        CLOSING,
        /** The worker gives the device's objects back. */
        RELEASING,
        CLOSED
    }

    private static final System.Logger LOG = System.getLogger(Endpoint.class.getName());
    private static final int POLL_BATCH = 32;

    private final Monitor monitor;
    private final TimeSource time;
    private final Executor worker;
    private final EndpointListener listener;
    private final EndpointOptions options;
    private final RdmaDevice device;
    private final ProtectionDomain domain;
    private final CompletionQueue completions;
    private final QueuePair queuePair;
    private final BufferSlab receives;
    private final PostedReceives posted;
    private final BufferSlab sends;
    private final Outbox outbox;
    private final WorkCompletion[] polled = new WorkCompletion[POLL_BATCH];
    private State state = State.NEW;
    private boolean endTold;
    private @Nullable CompletableFuture<Void> drained;
    private TimeSource.@Nullable Timer endTimer;

    /**
     * Makes the device's objects.
     *
     * @param worker runs the release at the end, which may wait for threads of the device
     * @throws IllegalStateException if the device is short of something; nothing is left behind then
     */
    public Endpoint(
            RdmaDevice device,
            EndpointOptions options,
            Monitor monitor,
            TimeSource time,
            Executor worker,
            EndpointListener listener) {
        this.device = device;
        this.options = options;
        this.monitor = monitor;
        this.time = time;
        this.worker = worker;
        this.listener = listener;
        EndpointObjects objects = EndpointObjects.create(device, options, this::onCompletion);
        domain = objects.domain();
        completions = objects.completions();
        queuePair = objects.queuePair();
        receives = objects.receives();
        sends = objects.sends();
        posted = new PostedReceives(queuePair, receives);
        outbox = new Outbox(monitor, queuePair);
        for (int i = 0; i < POLL_BATCH; i++) {
            polled[i] = new WorkCompletion();
        }
        completions.requestNotify(CompletionQueue.Notify.ANY);
    }

    /** The domain for regions of this connection. */
    public ProtectionDomain domain() {
        return domain;
    }

    /** The state now. */
    public State state() {
        return state;
    }

    /** Identifies the connection in logs and events. */
    public int number() {
        return queuePair.number();
    }

    /** Connects. {@link #ensureReceives} should have been called. */
    public void connect(InetSocketAddress remote, ConnectOptions connectOptions) {
        begin();
        device.connectionManager().connect(queuePair, remote, connectOptions, new Events());
    }

    /** Accepts. {@link #ensureReceives} should have been called. */
    public void accept(ConnectRequest request, ConnectOptions connectOptions) {
        begin();
        request.accept(queuePair, connectOptions, new Events());
    }

    private void begin() {
        monitor.requireHeld();
        if (state != State.NEW) {
            throw new IllegalStateException("endpoint is " + state);
        }
        state = State.CONNECTING;
    }

    /** Whether posts are of use. */
    public boolean isConnected() {
        return state == State.CONNECTED;
    }

    /** Has a chain posted, after all that was given before; see {@link Outbox}. */
    public void post(Outbox.Entry entry) {
        outbox.append(entry);
    }

    /** A free send buffer's number, or -1. It is the caller's until {@link #returnSendBuffer}. */
    public int takeSendBuffer() {
        return sends.take();
    }

    /** Gives a send buffer back: no Send that names it is outstanding. */
    public void returnSendBuffer(int buffer) {
        sends.giveBack(buffer);
    }

    /** A send buffer's memory. */
    public MemorySegment sendMemory(int buffer) {
        return sends.memory(buffer);
    }

    /** The region that all send buffers lie in. */
    public MemoryRegion sendRegion() {
        return sends.region();
    }

    /** Where a send buffer begins in {@link #sendRegion}. */
    public long sendOffset(int buffer) {
        return sends.offset(buffer);
    }

    /**
     * Keeps so many Receives outstanding from now on, as far as there are buffers: posts what is missing now, and again whenever a
     * buffer is released.
     *
     * @return whether so many are outstanding
     */
    public boolean ensureReceives(int wanted) {
        monitor.requireHeld();
        return posted.ensure(wanted);
    }

    /** How many Receives are outstanding. */
    public int receivesOutstanding() {
        return posted.outstanding();
    }

    /** A receive buffer's memory. */
    public MemorySegment receiveMemory(int buffer) {
        return receives.memory(buffer);
    }

    /** Gives a receive buffer back; it is posted again if Receives are missing. */
    public void releaseReceive(int buffer) {
        monitor.requireHeld();
        posted.release(buffer, !isGone());
    }

    /** Ends the connection in order: what was given to {@link #post} before is still sent. Once it is ending, nothing happens. */
    public void disconnect(DisconnectCause cause, String detail) {
        monitor.requireHeld();
        if (state != State.CONNECTED) {
            abort(cause, detail);
            return;
        }
        beginClosing(cause, detail);
        outbox.appendAction(queuePair::disconnect);
    }

    /** Ends the connection at once, also one that is not there yet, or is ending too slowly. */
    public void abort(DisconnectCause cause, String detail) {
        monitor.requireHeld();
        boolean neverConnected = state == State.NEW;
        if (isGone()) {
            return;
        }
        beginClosing(cause, detail);
        if (neverConnected) {
            beginDrain();
        } else {
            monitor.afterwards(queuePair::abort);
        }
    }

    private boolean isGone() {
        return state == State.RELEASING || state == State.CLOSED;
    }

    private void beginClosing(DisconnectCause cause, String detail) {
        state = State.CLOSING;
        if (endTimer == null) {
            endTimer = time.schedule(options.drainTimeoutNanos(), this::onEndTimeout);
        }
        if (!endTold) {
            endTold = true;
            listener.onDisconnecting(cause, detail);
        }
    }

    private void onEndTimeout() {
        monitor.run(() -> {
            if (state == State.CLOSING) {
                LOG.log(Level.WARNING, "connection {0}: completions missing at its end, not waited for", number());
                beginRelease();
            }
        });
    }

    /** ORDER: drain before the queue pair is closed, so that replies that had arrived are still delivered. */
    private void beginDrain() {
        if (drained != null || state != State.CLOSING) {
            return;
        }
        drained = queuePair.drain().whenComplete((nothing, failure) -> monitor.run(this::beginRelease));
    }

    private void beginRelease() {
        if (state != State.CLOSING) {
            return;
        }
        state = State.RELEASING;
        if (endTimer != null) {
            endTimer.cancel();
        }
        monitor.afterwards(this::startRelease);
    }

    private void startRelease() {
        try {
            worker.execute(this::release);
        } catch (RejectedExecutionException e) {
            release();
        }
    }

    /** On the worker, outside the monitor: the device may wait here for its own threads. */
    private void release() {
        // ORDER: the queue pair first; no access under it is possible afterwards, whatever state regions are in.
        queuePair.close();
        monitor.run(listener::onQueuePairClosed);
        completions.close();
        receives.close();
        sends.close();
        try {
            domain.close();
        } catch (IllegalStateException e) {
            LOG.log(Level.WARNING, "connection " + number() + ": its domain still holds a region", e);
        }
        monitor.run(() -> {
            state = State.CLOSED;
            listener.onClosed();
        });
    }

    /** On a thread of the device. Each batch is handled in a turn of its own, so that what it leaves for afterwards is not put off. */
    private void onCompletion(CompletionQueue queue) {
        while (handleBatch()) {}
        queue.requestNotify(CompletionQueue.Notify.ANY);
        while (handleBatch()) {}
    }

    private boolean handleBatch() {
        monitor.enter();
        try {
            if (isGone()) {
                return false;
            }
            int count = completions.poll(polled);
            for (int i = 0; i < count; i++) {
                handle(polled[i]);
            }
            return count > 0;
        } finally {
            monitor.leave();
        }
    }

    private void handle(WorkCompletion completion) {
        if (WorkIds.kind(completion.id()) != WorkIds.Kind.RECEIVE) {
            listener.onSendQueueCompletion(completion);
            return;
        }
        int buffer = WorkIds.index(completion.id());
        posted.completed(buffer, completion.isSuccess());
        if (completion.isSuccess()) {
            listener.onReceive(
                    buffer, (int) completion.byteLength(), completion.isWithInvalidate(), completion.invalidatedKey());
        }
    }

    @Override
    public String toString() {
        return "connection " + number() + " " + state + ", " + posted.outstanding() + " Receives outstanding";
    }

    /** What the device tells about the connection. */
    private final class Events implements ConnectionListener {

        @Override
        public void onEstablished(ConnectionInfo info) {
            monitor.run(() -> {
                if (state == State.CONNECTING) {
                    state = State.CONNECTED;
                    listener.onEstablished(info);
                }
            });
        }

        @Override
        public void onRefused(ConnectRefusal refusal) {
            monitor.run(() -> {
                if (!endTold) {
                    endTold = true;
                    listener.onRefused(refusal);
                }
                beginClosing(DisconnectCause.CONNECTION_LOST, refusal.detail());
                beginDrain();
            });
        }

        @Override
        public void onDisconnected(Disconnect disconnect) {
            monitor.run(() -> {
                if (!isGone()) {
                    beginClosing(DisconnectCause.of(disconnect), disconnect.detail());
                    beginDrain();
                }
            });
        }
    }
}
