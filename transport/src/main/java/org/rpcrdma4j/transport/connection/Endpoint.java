// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.connection;

import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.concurrent.Executor;
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

    private final Monitor monitor;
    private final TimeSource time;
    private final Release release;
    private final EndpointListener listener;
    private final EndpointOptions options;
    private final RdmaDevice device;
    private final EndpointObjects objects;
    private final QueuePair queuePair;
    private final BufferSlab receives;
    private final PostedReceives posted;
    private final BufferSlab sends;
    private final Outbox outbox;
    private final CompletionPump pump;
    private State state = State.NEW;
    private boolean endTold;
    private boolean established;
    private boolean aborting;
    private boolean drainBegun;
    private TimeSource.@Nullable Timer endTimer;

    /**
     * Makes the device's objects.
     *
     * @param worker runs the release at the end, which may wait for threads of the device
     * @throws IllegalStateException if the device is short of something; nothing is left behind then
     * @throws OutOfMemoryError if there is no native memory for the buffers; nothing is left behind then
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
        this.listener = listener;
        objects = EndpointObjects.create(device, options, this::onCompletion);
        queuePair = objects.queuePair();
        receives = objects.receives();
        sends = objects.sends();
        posted = new PostedReceives(queuePair, receives);
        release = new Release(objects, monitor, worker, () -> tell(listener::onQueuePairClosed), this::onReleased);
        outbox = new Outbox(monitor, queuePair, fault -> monitor.run(() -> onFault(fault)));
        pump = new CompletionPump(monitor, objects.completions(), outbox, this::mayPoll, this::handle, this::onFault);
        pump.pollAndArm();
    }

    /** The domain for regions of this connection. */
    public ProtectionDomain domain() {
        return objects.domain();
    }

    /** The state now. */
    public State state() {
        return state;
    }

    /** Identifies the connection in logs and events. */
    public int number() {
        return queuePair.number();
    }

    /**
     * Connects. {@link #ensureReceives} should have been called.
     *
     * @throws IllegalArgumentException if the options exceed the device's limits; the endpoint is as before
     */
    public void connect(InetSocketAddress remote, ConnectOptions connectOptions) {
        begin(() -> device.connectionManager().connect(queuePair, remote, connectOptions, new Events()));
    }

    /**
     * Accepts. {@link #ensureReceives} should have been called.
     *
     * @throws IllegalStateException if the request was answered already; the endpoint is as before
     */
    public void accept(ConnectRequest request, ConnectOptions connectOptions) {
        begin(() -> request.accept(queuePair, connectOptions, new Events()));
    }

    /** If the device does not even try, nothing has begun: the endpoint can be aborted, or tried again. */
    private void begin(Runnable attempt) {
        monitor.requireHeld();
        if (state != State.NEW) {
            throw new IllegalStateException("endpoint is " + state);
        }
        state = State.CONNECTING;
        try {
            attempt.run();
        } catch (RuntimeException e) {
            state = State.NEW;
            throw e;
        }
    }

    /** Whether posts are of use. */
    public boolean isConnected() {
        return state == State.CONNECTED;
    }

    /** Has a chain posted, after all that was given before, or refused; see {@link Outbox}. */
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
        posted.release(buffer, state == State.CONNECTED || state == State.CONNECTING);
    }

    /** Ends the connection in order: what was given to {@link #post} before is still sent. Once it is ending, nothing happens. */
    public void disconnect(DisconnectCause cause, String detail) {
        monitor.requireHeld();
        if (state == State.CONNECTED) {
            beginClosing(cause, detail);
            outbox.appendAction(queuePair::disconnect);
        } else if (state == State.NEW || state == State.CONNECTING) {
            abort(cause, detail);
        }
    }

    /** Ends the connection at once, also one that is not there yet, or is ending too slowly. The second time nothing happens. */
    public void abort(DisconnectCause cause, String detail) {
        monitor.requireHeld();
        if (aborting || isGone()) {
            return;
        }
        aborting = true;
        boolean neverBegun = state == State.NEW;
        beginClosing(cause, detail);
        if (neverBegun) {
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
            // What came before the connection was told of was left lying.
            monitor.afterwards(pump::pollAll);
        }
        if (!endTold) {
            endTold = true;
            tell(() -> listener.onDisconnecting(cause, detail));
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

    /**
     * ORDER: what was given to the outbox is posted, then the outbox is closed, then both queues are drained, then the queue pair is
     * closed. So nothing is posted to drained queues, and replies that had arrived are still delivered.
     */
    private void beginDrain() {
        if (!drainBegun && state == State.CLOSING) {
            drainBegun = true;
            outbox.closeThen(this::drain);
        }
    }

    private void drain() {
        var _ = queuePair.drain().whenComplete((nothing, failure) -> monitor.run(this::beginRelease));
    }

    private void beginRelease() {
        if (state != State.CLOSING) {
            return;
        }
        state = State.RELEASING;
        outbox.close();
        if (endTimer != null) {
            endTimer.cancel();
        }
        release.begin();
    }

    private void onReleased() {
        state = State.CLOSED;
        tell(listener::onClosed);
    }

    private void tell(Runnable call) {
        try {
            call.run();
        } catch (RuntimeException | Error e) {
            onFault(e);
        }
    }

    /** Something of ours threw: the connection's state cannot be relied on, the program lives on. */
    private void onFault(Throwable fault) {
        LOG.log(Level.WARNING, "connection " + number() + " is given up", fault);
        abort(DisconnectCause.LOCAL_ERROR, "fault in this program: " + fault);
    }

    /** A message may come before the word that the connection is there: it waits for that. */
    private boolean mayPoll() {
        return state == State.CONNECTED || state == State.CLOSING;
    }

    private void onCompletion(CompletionQueue queue) {
        pump.pollAndArm();
    }

    private void handle(WorkCompletion completion) {
        if (WorkIds.kind(completion.id()) != WorkIds.Kind.RECEIVE) {
            listener.onSendQueueCompletion(completion);
            return;
        }
        int buffer = WorkIds.index(completion.id());
        boolean isForListener = completion.isSuccess() && established;
        posted.completed(buffer, isForListener);
        if (isForListener) {
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
                    established = true;
                    tell(() -> listener.onEstablished(info));
                }
            });
            pump.pollAll();
        }

        @Override
        public void onRefused(ConnectRefusal refusal) {
            monitor.run(() -> {
                if (isGone()) {
                    return;
                }
                if (!endTold) {
                    endTold = true;
                    tell(() -> listener.onRefused(refusal));
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
