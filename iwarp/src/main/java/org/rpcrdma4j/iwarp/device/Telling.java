// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.device;

import java.lang.System.Logger.Level;
import java.util.concurrent.locks.ReentrantLock;
import org.rpcrdma4j.iwarp.net.Counter;
import org.rpcrdma4j.iwarp.net.Counters;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;
import org.rpcrdma4j.verbs.cm.ConnectionListener;
import org.rpcrdma4j.verbs.cm.Disconnect;

/**
 * Tells a program what becomes of one connection: refused, or established and later disconnected; each at most once, one after the other,
 * and nothing once {@link #finish} has returned. A listener that throws is counted and logged, nothing else.
 */
final class Telling {
    private enum Told {
        NOTHING,
        ESTABLISHED,
        ALL
    }

    private final ConnectionListener listener;
    private final Counters counters;
    private final ReentrantLock lock = new ReentrantLock();
    private Told told = Told.NOTHING;

    Telling(ConnectionListener listener, Counters counters) {
        this.listener = listener;
        this.counters = counters;
    }

    void established(ConnectionInfo info) {
        lock.lock();
        try {
            if (told == Told.NOTHING) {
                told = Told.ESTABLISHED;
                guarded(() -> listener.onEstablished(info));
            }
        } finally {
            lock.unlock();
        }
    }

    void refused(ConnectRefusal refusal) {
        lock.lock();
        try {
            if (told == Told.NOTHING) {
                told = Told.ALL;
                guarded(() -> listener.onRefused(refusal));
            }
        } finally {
            lock.unlock();
        }
    }

    void disconnected(Disconnect disconnect) {
        lock.lock();
        try {
            if (told == Told.ESTABLISHED) {
                told = Told.ALL;
                guarded(() -> listener.onDisconnected(disconnect));
            }
        } finally {
            lock.unlock();
        }
    }

    /** The queue pair was closed. */
    void finish() {
        refused(new ConnectRefusal(ConnectRefusal.Reason.LOCAL, "the queue pair was closed"));
        disconnected(new Disconnect(Disconnect.Cause.LOCAL_CLOSE, "the queue pair was closed", null));
    }

    private void guarded(Runnable call) {
        try {
            call.run();
        } catch (RuntimeException | Error e) {
            counters.increment(Counter.TASK_ERRORS);
            SoftIwarpDevice.LOG.log(Level.ERROR, "a connection listener failed", e);
        }
    }
}
