// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.client;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.client.ConnectFailedException;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.client.TransportException;
import org.rpcrdma4j.transport.client.TransportException.Kind;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.time.TimeSource;

/**
 * The calls of one client and the connection that they go over: a monitor around a {@link CallBook}, and what time does to it.
 *
 * <p>What has ended inside is told outside of the monitor. ORDER: this monitor before that of a {@link TcpConnection}'s output.
 */
final class TcpRequester {

    private final TcpClientOptions options;
    private final TimeSource time;
    private final Counters<TcpClientCounter> counters;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final CallBook book;
    private final Backoff backoff;
    /** The connection, also while it is still being made. */
    private @Nullable TcpConnection attempt;

    private long sends;
    private boolean isPausing;
    private boolean isClosed;
    private boolean isGone;

    TcpRequester(TcpClientOptions options, TimeSource time, Counters<TcpClientCounter> counters) {
        this.options = options;
        this.time = time;
        this.counters = counters;
        book = new CallBook(options, counters, new CallTimer(time, this::expire));
        backoff = new Backoff(options.reconnectDelay(), options.maxReconnectDelay());
    }

    void count(TcpClientCounter counter, long amount) {
        counters.add(counter, amount);
    }

    CompletableFuture<Reply> send(CallMessage message) {
        TcpPendingReply future = new TcpPendingReply(this::cancel);
        TcpCall call = new TcpCall(message, future);
        future.bind(call);
        lock.lock();
        try {
            book.add(call, this, isClosed);
            counters.increment(TcpClientCounter.CALLS);
            sends++;
            if (book.current() == null) {
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
        tellOver();
        return future;
    }

    private void expire() {
        lock.lock();
        try {
            for (TcpCall call = book.nextExpired(); call != null; call = book.nextExpired()) {
                counters.increment(TcpClientCounter.TIMEOUTS);
                giveUp(call, CallBook.failure(Kind.TIMED_OUT, call, "no reply in time"));
            }
        } finally {
            lock.unlock();
        }
        tellOver();
    }

    private void cancel(TcpCall call) {
        lock.lock();
        try {
            giveUp(call, CallBook.failure(Kind.CANCELLED, call, "cancelled"));
        } finally {
            lock.unlock();
        }
        tellOver();
    }

    /** In the monitor. */
    private void giveUp(TcpCall call, TransportException failure) {
        TcpConnection connection = call.connection;
        if (book.giveUp(call, failure, this) && connection != null) {
            time.schedule(options.fenceGrace().toNanos(), () -> enforce(call, connection));
        }
    }

    /** If the call's memory is still in use, the connection goes, and with it the use. */
    private void enforce(TcpCall call, TcpConnection connection) {
        boolean used;
        lock.lock();
        try {
            used = call.isDecided() && !call.isOver();
        } finally {
            lock.unlock();
        }
        if (used) {
            connection.breakOff();
        }
    }

    /** Tells callers of calls that have ended. Outside the monitor; what they do then may send further calls. */
    private void tellOver() {
        boolean any = false;
        TcpCall call = pollOver();
        while (call != null) {
            any = true;
            call.tell();
            call = pollOver();
        }
        if (any) {
            noteIdle();
        }
    }

    private @Nullable TcpCall pollOver() {
        lock.lock();
        try {
            return book.pollOver();
        } finally {
            lock.unlock();
        }
    }

    private void noteIdle() {
        lock.lock();
        try {
            TcpConnection connection = book.current();
            if (book.isEmpty()) {
                changed.signalAll();
                if (connection != null && !options.idleTimeout().isZero() && !isClosed) {
                    long seen = sends;
                    time.schedule(options.idleTimeout().toNanos(), () -> endIdle(connection, seen));
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private void endIdle(TcpConnection connection, long seen) {
        boolean idle;
        lock.lock();
        try {
            idle = seen == sends && book.isEmpty();
        } finally {
            lock.unlock();
        }
        if (idle) {
            connection.breakOff();
        }
    }

    // ---- By the connection's threads.

    boolean beginWrite(TcpCall call, TcpConnection connection) {
        lock.lock();
        try {
            return book.beginWrite(call, connection);
        } finally {
            lock.unlock();
        }
    }

    void endWrite(TcpCall call) {
        lock.lock();
        try {
            book.endWrite(call, this);
        } finally {
            lock.unlock();
        }
        tellOver();
    }

    @Nullable
    TcpCall beginRead(int xid, TcpConnection connection) {
        lock.lock();
        try {
            connection.hadReply = true;
            backoff.reset();
            return book.beginRead(xid, connection);
        } finally {
            lock.unlock();
        }
    }

    void endRead(TcpCall call, TcpConnection connection, @Nullable Reply reply, @Nullable TransportException failure) {
        lock.lock();
        try {
            book.endRead(call, connection, reply, failure, this);
        } finally {
            lock.unlock();
        }
        tellOver();
    }

    // ---- By the keeper of the connection.

    /** Waits until there is something to send and the time for the next attempt has come; false if the client is closed. */
    boolean awaitWork() {
        lock.lock();
        try {
            while (!isClosed && (isPausing || !book.hasWaiting())) {
                changed.awaitUninterruptibly();
            }
            return !isClosed;
        } finally {
            lock.unlock();
        }
    }

    /** An attempt begins. */
    void onConnecting(TcpConnection connection) {
        boolean ends;
        lock.lock();
        try {
            attempt = connection;
            ends = isClosed;
        } finally {
            lock.unlock();
        }
        if (ends) {
            connection.breakOff();
        }
    }

    /** It has succeeded. If the client was closed meanwhile, the connection was broken off, and soon ends. */
    void onConnected(TcpConnection connection) {
        counters.increment(TcpClientCounter.CONNECTS);
        lock.lock();
        try {
            backoff.connected();
            book.connect(connection, this);
        } finally {
            lock.unlock();
        }
    }

    void onConnectFailed(IOException reason) {
        counters.increment(TcpClientCounter.CONNECT_FAILURES);
        lock.lock();
        try {
            attempt = null;
            int attempts = backoff.failed();
            if (options.connectAttempts() > 0 && attempts >= options.connectAttempts()) {
                backoff.connected();
                ConnectFailedException cause = ConnectFailedException.of(options.address(), reason);
                String detail = "no connection to " + options.address() + ": " + reason.getMessage();
                for (TcpCall call : book.allWaiting()) {
                    giveUp(call, CallBook.failure(Kind.CONNECTION_LOST, call, detail, cause));
                }
            }
            pause();
        } finally {
            lock.unlock();
        }
        tellOver();
    }

    /** The connection has ended, and nothing uses the memory of its calls. */
    void onLost(TcpConnection connection) {
        counters.increment(TcpClientCounter.DISCONNECTS);
        lock.lock();
        try {
            attempt = null;
            if (book.takeBack(connection, this) || !connection.hadReply) {
                pause();
            }
        } finally {
            lock.unlock();
        }
        tellOver();
    }

    private void pause() {
        isPausing = true;
        time.schedule(backoff.next(), this::resume);
    }

    private void resume() {
        lock.lock();
        try {
            isPausing = false;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** The keeper ends. */
    void onGone() {
        lock.lock();
        try {
            isGone = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Fails all calls and ends the connection; returns whether all was gone in time. */
    boolean close(Duration limit) throws InterruptedException {
        TcpConnection last;
        lock.lock();
        try {
            isClosed = true;
            last = attempt;
            for (TcpCall call : book.all()) {
                giveUp(call, CallBook.failure(Kind.CLOSED, call, "the client is closed"));
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        if (last != null) {
            last.breakOff();
        }
        tellOver();
        return awaitGone(limit.toNanos());
    }

    private boolean awaitGone(long nanos) throws InterruptedException {
        long left = nanos;
        lock.lock();
        try {
            while ((!isGone || !book.isEmpty()) && left > 0) {
                left = changed.awaitNanos(left);
            }
            return isGone && book.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public String toString() {
        lock.lock();
        try {
            return (isClosed ? "closed, " : "") + (book.current() != null ? "connected to " : "not connected to ")
                    + options.address() + ", " + book;
        } finally {
            lock.unlock();
        }
    }
}
