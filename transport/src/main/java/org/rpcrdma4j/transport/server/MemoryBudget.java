// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The bytes that all connections of a server together may have in use for arguments and results, and who may have them. A request
 * reserves what it may need before it is pulled, so that none that has begun is stopped by another.
 *
 * <p>How long a call holds its bytes is up to its client, which may serve no Read for as long as the pull timeout lasts. So no host may
 * have all of them. Hosts are told apart by their addresses alone; of what clients send nothing counts:
 *
 * <ul>
 *   <li>A host has at most three times what is left: alone three quarters, as one of two three sevenths, and when one sits on what it has,
 *       the next may still have three quarters of the rest. A host that has nothing is let in if its call fits at all.
 *   <li>When there is too little, the host that has least goes first, and among equals who came first. Nobody passes one who waits and has
 *       no more than he, so a large call waits no longer than others hold what they have.
 *   <li>Calls that have begun may go beyond, to seven times what is left, since they cannot wait.
 * </ul>
 *
 * <p>Any thread. Nothing is called while the lock is held; {@link #wakeWaiters} is called with no lock held.
 */
final class MemoryBudget {

    private static final int TIMES_LEFT = 3;
    private static final int TIMES_LEFT_ONCE_BEGUN = 7;

    private final long limit;
    private final Map<@Nullable InetAddress, Host> hosts = new HashMap<>();
    /** In the order in which they came. */
    private final List<Share> waiting = new ArrayList<>();

    private long reserved;

    MemoryBudget(long limit) {
        this.limit = limit;
    }

    /** One client host: there as long as it has a connection, or a call has bytes. */
    private static final class Host {
        private final @Nullable InetAddress address;
        private int connections;
        private long bytes;

        private Host(@Nullable InetAddress address) {
            this.address = address;
        }
    }

    /** One connection's way to the budget. Its calls wait one at a time, in their order. */
    final class Share {
        private final Host host;
        private final Runnable wake;
        /** What its call waits for; 0 if none waits. */
        private long wanted;
        /** What was reserved for the call that waited, until it tries again. */
        private long granted;

        private Share(Host host, Runnable wake) {
            this.host = host;
            this.wake = wake;
        }

        /** Reserves, or has the task run once the bytes are reserved; then the same call has to try again. */
        boolean reserveOrWait(long bytes) {
            return MemoryBudget.this.reserveOrWait(this, bytes);
        }

        /** Reserves more for a call that has begun. */
        boolean reserveMore(long bytes) {
            return MemoryBudget.this.reserveMore(host, bytes);
        }

        /** Gives back. Returns whether somebody waits: then {@link #wakeWaiters} is due. */
        boolean release(long bytes) {
            return MemoryBudget.this.release(host, bytes);
        }

        /** The connection ends: none of its calls waits any more. What they have is given back as they end. Returns as {@link #release}. */
        boolean leave() {
            return MemoryBudget.this.leave(this);
        }
    }

    /**
     * For a new connection.
     *
     * @param wake run with no lock held when bytes have been reserved for the call that waits
     */
    synchronized Share share(@Nullable InetAddress address, Runnable wake) {
        Host host = hosts.computeIfAbsent(address, Host::new);
        host.connections++;
        return new Share(host, wake);
    }

    private synchronized boolean reserveOrWait(Share share, long bytes) {
        if (share.granted > 0) {
            share.granted = 0;
            return true;
        }
        if (share.wanted > 0) {
            return false;
        }
        if (bytes == 0 || (mayPassAll(share.host) && fits(share.host, bytes, TIMES_LEFT))) {
            take(share.host, bytes);
            return true;
        }
        share.wanted = bytes;
        waiting.add(share);
        return false;
    }

    private synchronized boolean reserveMore(Host host, long bytes) {
        if (!fits(host, bytes, TIMES_LEFT_ONCE_BEGUN)) {
            return false;
        }
        take(host, bytes);
        return true;
    }

    private boolean fits(Host host, long bytes, int timesLeft) {
        long left = limit - reserved - bytes;
        return left >= 0 && (host.bytes == 0 || (host.bytes + bytes) / timesLeft <= left);
    }

    private void take(Host host, long bytes) {
        host.bytes += bytes;
        reserved += bytes;
    }

    private boolean mayPassAll(Host host) {
        for (int i = 0; i < waiting.size(); i++) {
            if (waiting.get(i).host.bytes <= host.bytes) {
                return false;
            }
        }
        return true;
    }

    private synchronized boolean release(Host host, long bytes) {
        giveBack(host, bytes);
        return !waiting.isEmpty();
    }

    private void giveBack(Host host, long bytes) {
        host.bytes -= bytes;
        reserved -= bytes;
        if (host.bytes == 0 && host.connections == 0) {
            hosts.remove(host.address, host);
        }
    }

    private synchronized boolean leave(Share share) {
        waiting.remove(share);
        share.host.connections--;
        giveBack(share.host, share.granted);
        share.granted = 0;
        return !waiting.isEmpty();
    }

    /** Reserves for those who wait, as far as it goes, and tells them. */
    void wakeWaiters() {
        List<Runnable> woken = new ArrayList<>();
        synchronized (this) {
            Share next = first();
            while (next != null && fits(next.host, next.wanted, TIMES_LEFT)) {
                waiting.remove(next);
                take(next.host, next.wanted);
                next.granted = next.wanted;
                next.wanted = 0;
                woken.add(next.wake);
                next = first();
            }
        }
        woken.forEach(Runnable::run);
    }

    /** Of those who wait the one whose host has least; among equals the one who came first. */
    private @Nullable Share first() {
        Share first = null;
        for (int i = 0; i < waiting.size(); i++) {
            Share share = waiting.get(i);
            if (first == null || share.host.bytes < first.host.bytes) {
                first = share;
            }
        }
        return first;
    }

    synchronized long reserved() {
        return reserved;
    }

    /** Hosts with a connection, or a call that has bytes. */
    synchronized int hosts() {
        return hosts.size();
    }
}
