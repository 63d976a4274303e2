// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.util.ArrayDeque;

/**
 * The bytes that all connections of a server together may have in use for arguments and results. A request reserves what it may need
 * before it is pulled, so that none that has begun is stopped by another.
 *
 * <p>Any thread. Nothing is called while the lock is held; {@link #wakeWaiters} is called with no lock held.
 */
final class MemoryBudget {

    private final long limit;
    private final ArrayDeque<Runnable> waiters = new ArrayDeque<>();
    private long reserved;

    MemoryBudget(long limit) {
        this.limit = limit;
    }

    /** Reserves, or leaves the task to be run once when some has been released; then it has to try again. */
    synchronized boolean reserveOrWait(long bytes, Runnable wake) {
        if (tryReserve(bytes)) {
            return true;
        }
        if (!waiters.contains(wake)) {
            waiters.add(wake);
        }
        return false;
    }

    synchronized boolean tryReserve(long bytes) {
        if (bytes > limit - reserved) {
            return false;
        }
        reserved += bytes;
        return true;
    }

    /** Gives back. Returns whether somebody waits: then {@link #wakeWaiters} is due. */
    synchronized boolean release(long bytes) {
        reserved -= bytes;
        return !waiters.isEmpty();
    }

    /** Has all who wait try again. */
    void wakeWaiters() {
        Runnable[] all;
        synchronized (this) {
            all = waiters.toArray(Runnable[]::new);
            waiters.clear();
        }
        for (Runnable wake : all) {
            wake.run();
        }
    }

    synchronized void forget(Runnable wake) {
        waiters.remove(wake);
    }

    synchronized long reserved() {
        return reserved;
    }
}
