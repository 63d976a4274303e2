// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.device;

import java.lang.System.Logger.Level;
import java.util.concurrent.locks.ReentrantLock;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;
import org.rpcrdma4j.verbs.cm.ConnectionListener;
import org.rpcrdma4j.verbs.cm.Disconnect;

/**
 * Tells a program what becomes of one connection: refused, or established and later disconnected; each at most once, one after the other,
 * and nothing once {@link #finish} has returned. A listener that throws is logged, nothing else.
 */
final class Telling {
    private enum Told {
        NOTHING,
        ESTABLISHED,
        ALL
    }

    private final ConnectionListener listener;
    private final ReentrantLock lock = new ReentrantLock();
    private Told told = Told.NOTHING;

    Telling(ConnectionListener listener) {
        this.listener = listener;
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

    private static void guarded(Runnable call) {
        try {
            call.run();
        } catch (RuntimeException | Error e) {
            SoftIwarpDevice.LOG.log(Level.ERROR, "a connection listener failed", e);
        }
    }
}
