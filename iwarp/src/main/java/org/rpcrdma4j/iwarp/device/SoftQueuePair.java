// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.device;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.net.Connection;
import org.rpcrdma4j.iwarp.net.EventLoop;
import org.rpcrdma4j.iwarp.queue.InboundReads;
import org.rpcrdma4j.iwarp.queue.ReceiveQueue;
import org.rpcrdma4j.iwarp.queue.SendQueue;
import org.rpcrdma4j.iwarp.rdmap.FpduBatch;
import org.rpcrdma4j.iwarp.rdmap.StreamContext;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.PostResult.Reason;
import org.rpcrdma4j.verbs.PostResult.Refused;
import org.rpcrdma4j.verbs.ProtectionDomain;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.QueuePairOptions;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.cm.Disconnect.Cause;

/**
 * A queue pair: its two queues, its state, and the connection that works on them once there is one.
 *
 * <p>State and queues are guarded by one lock, held shortly; flushing and posting use the same one, so a work request posted in ERROR
 * completes behind all that were posted before. The connection does the rest on whatever thread transmits or receives.
 */
final class SoftQueuePair implements QueuePair {
    /** What ends a set-up that is under way. */
    interface SetUp {
        void cancel();
    }

    private final SoftProtectionDomain domain;
    private final CompletionPlaces places;
    private final int number;
    private final EventLoop loop;
    private final ReentrantLock lock = new ReentrantLock();
    private final SendQueue sends;
    private final ReceiveQueue receives;
    private final InboundReads inboundReads = new InboundReads(FpduBatch.MAX_FPDUS);
    private final StreamContext context;
    private final DrainWatch drain;

    private volatile State state = State.IDLE;
    private volatile @Nullable Connection connection;
    private @Nullable SetUp setUp;
    private volatile @Nullable StreamHandOver handOver;
    private boolean flushed;
    private volatile boolean closed;
    private boolean gone;

    private SoftQueuePair(SoftProtectionDomain domain, QueuePairOptions options, CompletionPlaces places) {
        DeviceCompletionQueue sending = places.sending();
        DeviceCompletionQueue receiving = places.receiving();
        SoftIwarpDevice device = domain.softDevice();
        this.domain = domain;
        this.places = places;
        this.number = device.nextQueuePairNumber();
        this.loop = receiving.loop(device.loops()::next);
        sending.loop(() -> loop);
        this.drain = new DrainWatch(loop, this::isDrained);
        this.sends = new SendQueue(number, options.sendDepth(), options.maxSges(), sending.entries(), drain::changed);
        this.receives = new ReceiveQueue(
                number, options.receiveDepth(), options.maxSges(), receiving.entries(), drain::changed);
        this.context = new StreamContext(domain, number, device.regions(), lock, sends, receives, inboundReads);
    }

    static SoftQueuePair create(SoftProtectionDomain domain, QueuePairOptions options) {
        SoftQueuePair queuePair = new SoftQueuePair(domain, options, CompletionPlaces.reserve(options));
        try {
            domain.softDevice().add(queuePair);
        } catch (RuntimeException e) {
            queuePair.places.giveBack(queuePair.sends, queuePair.receives);
            throw e;
        }
        return queuePair;
    }

    private void leaveDevice() {
        lock.lock();
        try {
            if (!gone) {
                gone = true;
                places.giveBack(sends, receives);
                device().remove(this);
                domain.queuePairGone();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public State state() {
        return state;
    }

    EventLoop loop() {
        return loop;
    }

    SoftIwarpDevice device() {
        return domain.softDevice();
    }

    StreamContext context() {
        return context;
    }

    @Override
    public PostResult postSend(SendQueueRequest request) {
        Refused refused;
        lock.lock();
        try {
            refused = sendStateFault();
            if (refused == null) {
                refused = sends.post(request, 0);
                flushIfFlushed();
            }
        } finally {
            lock.unlock();
        }
        transmit();
        return refused == null ? PostResult.posted() : refused;
    }

    @Override
    public PostResult postSend(List<? extends SendQueueRequest> chain) {
        Refused refused;
        lock.lock();
        try {
            refused = sendStateFault();
            for (int i = 0; refused == null && i < chain.size(); i++) {
                refused = sends.post(chain.get(i), i);
            }
            flushIfFlushed();
        } finally {
            lock.unlock();
        }
        transmit();
        return refused == null ? PostResult.posted() : refused;
    }

    private @Nullable Refused sendStateFault() {
        return state == State.CONNECTED || (state == State.ERROR && !isOver()) ? null : wrongState();
    }

    private Refused wrongState() {
        return new Refused(0, Reason.WRONG_STATE, "the queue pair is " + (isOver() ? "drained or closed" : state));
    }

    /** Nothing may be posted any more: the owner was told that no completion follows. */
    private boolean isOver() {
        return closed || drain.isOver();
    }

    private void transmit() {
        Connection current = connection;
        if (current != null) {
            current.transmit();
        }
    }

    @Override
    public PostResult postReceive(ReceiveRequest request) {
        lock.lock();
        try {
            Refused refused = receiveStateFault();
            if (refused == null) {
                refused = receives.post(request, 0);
                flushIfFlushed();
            }
            return refused == null ? PostResult.posted() : refused;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public PostResult postReceive(List<ReceiveRequest> chain) {
        lock.lock();
        try {
            Refused refused = receiveStateFault();
            for (int i = 0; refused == null && i < chain.size(); i++) {
                refused = receives.post(chain.get(i), i);
            }
            flushIfFlushed();
            return refused == null ? PostResult.posted() : refused;
        } finally {
            lock.unlock();
        }
    }

    private @Nullable Refused receiveStateFault() {
        return state == State.CLOSING || isOver() ? wrongState() : null;
    }

    private void flushIfFlushed() {
        if (flushed) {
            sends.flush();
            receives.flush();
        }
    }

    /** IDLE to CONNECTING; the program is told by the given one. */
    void beginSetUp(StreamHandOver newHandOver) {
        lock.lock();
        try {
            if (state != State.IDLE) {
                throw new IllegalStateException("queue pair " + number + " is " + state + ", not IDLE");
            }
            state = State.CONNECTING;
            handOver = newHandOver;
        } finally {
            lock.unlock();
        }
    }

    /** The set-up has begun; if the queue pair was aborted meanwhile, it ends at once. */
    void setUpBegun(SetUp begun) {
        boolean cancel;
        lock.lock();
        try {
            cancel = state != State.CONNECTING;
            setUp = begun;
        } finally {
            lock.unlock();
        }
        if (cancel) {
            begun.cancel();
        }
    }

    /** CONNECTING to CONNECTED, unless the queue pair was aborted meanwhile. */
    boolean connected(Connection made, int ird, int ord) {
        lock.lock();
        try {
            if (state != State.CONNECTING) {
                return false;
            }
            sends.setMaxReads(ord);
            inboundReads.setLimit(ird);
            connection = made;
            setUp = null;
            state = State.CONNECTED;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** The connection's end has begun: posts are taken and completed as flushed. */
    void ending() {
        lock.lock();
        try {
            state = State.ERROR;
        } finally {
            lock.unlock();
        }
    }

    /** Nobody touches memory of work requests any more. */
    void flush() {
        lock.lock();
        try {
            state = State.ERROR;
            flushed = true;
            sends.flush();
            receives.flush();
        } finally {
            lock.unlock();
        }
        drain.changed();
    }

    /** To ERROR without a connection. */
    void fail() {
        SetUp pending;
        lock.lock();
        try {
            pending = setUp;
            setUp = null;
        } finally {
            lock.unlock();
        }
        flush();
        if (pending != null) {
            pending.cancel();
        }
    }

    @Override
    public void disconnect() {
        Connection current;
        lock.lock();
        try {
            if (state == State.CLOSING || state == State.ERROR) {
                return;
            }
            current = connectionOrError();
            if (current != null) {
                state = State.CLOSING;
            }
        } finally {
            lock.unlock();
        }
        if (current == null) {
            fail();
        } else {
            current.close();
        }
    }

    @Override
    public void abort() {
        Connection current;
        lock.lock();
        try {
            current = connectionOrError();
        } finally {
            lock.unlock();
        }
        if (current == null) {
            fail();
        } else {
            current.end(new Connection.Ending(Cause.LOCAL_CLOSE, "aborted", null));
            current.stop();
        }
    }

    /** ORDER: without a connection, the state is ERROR before the lock is given back: none comes about afterwards. */
    private @Nullable Connection connectionOrError() {
        if (connection == null) {
            state = State.ERROR;
        }
        return connection;
    }

    private boolean isDrained() {
        return state == State.ERROR && receives.outstanding() == 0 && sends.outstanding() == 0;
    }

    @Override
    public CompletableFuture<Void> drain() {
        CompletableFuture<Void> drained = drain.future();
        abort();
        if (closed) {
            drain.end();
        }
        drain.changed();
        return drained;
    }

    @Override
    public void close() {
        // ORDER: every caller goes through all steps, each of which waits for whoever is in it: no second one returns
        // before the first.
        lock.lock();
        try {
            closed = true;
        } finally {
            lock.unlock();
        }
        abort();
        StreamHandOver toTell = handOver;
        if (toTell != null) {
            toTell.tellNow();
        }
        leaveDevice();
        drain.end();
    }

    @Override
    public String toString() {
        return "QP " + number + " " + state;
    }
}
