// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.util.ArrayDeque;
import java.util.List;
import org.rpcrdma4j.transport.connection.Endpoint;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.transport.event.TransportEvents;
import org.rpcrdma4j.transport.time.TimeSource;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;

/**
 * Posts the chains of replies, Writes before their Send, and keeps account of the send queue's places, so that it never overflows. Places
 * are taken for a whole chain or not at all; a chain that finds too few waits, and so do all behind it. One that is longer than the queue goes
 * in parts, the last work request of each part signaled.
 *
 * <p>In the monitor. RDMA Reads have places of their own, which are not counted here.
 */
final class ReplySender {

    private final ServerConnection connection;
    private final TimeSource time;
    private final Endpoint endpoint;
    private final Counters<ServerCounter> counters;
    private final ArrayDeque<RequestSlot> waiting = new ArrayDeque<>();
    private final int capacity;
    private int places;
    private boolean stopped;

    ReplySender(ServerConnection connection, ServerContext context, Endpoint endpoint, int capacity) {
        this.connection = connection;
        this.time = context.time();
        this.endpoint = endpoint;
        this.capacity = capacity;
        this.places = capacity;
        this.counters = context.counters();
    }

    /** Takes one place for a work request that is not a reply's. */
    boolean takePlace() {
        if (places == 0 || !waiting.isEmpty()) {
            return false;
        }
        places--;
        return true;
    }

    void returnPlace() {
        places++;
        pump();
    }

    /** Posts the reply's chain, now or when there is room. */
    void add(RequestSlot slot) {
        if (!waiting.isEmpty() || !fits(slot)) {
            counters.increment(ServerCounter.SEND_QUEUE_FULL);
            slot.waitBegan = time.nanoTime();
            waiting.add(slot);
            return;
        }
        post(slot);
    }

    private boolean fits(RequestSlot slot) {
        return places >= Math.min(slot.chain.size() - slot.chainPosted, capacity);
    }

    private void pump() {
        while (!stopped && !waiting.isEmpty() && fits(waiting.element())) {
            RequestSlot slot = waiting.remove();
            long waited = time.nanoTime() - slot.waitBegan;
            counters.add(ServerCounter.SEND_QUEUE_WAIT_NANOS, waited);
            TransportEvents.sendQueueFull(connection.label(), slot.chain.size(), capacity, waited);
            post(slot);
        }
    }

    private void post(RequestSlot slot) {
        int left = slot.chain.size() - slot.chainPosted;
        int count = Math.min(left, places);
        if (count < slot.chain.size()) {
            List<SendQueueRequest> part = List.copyOf(slot.chain.subList(slot.chainPosted, slot.chainPosted + count));
            if (count < left && part.getLast() instanceof RdmaWriteRequest write) {
                write.signaled(true);
            }
            slot.posting = part;
        }
        slot.chainPosted += count;
        slot.placesTaken = count;
        places -= count;
        endpoint.post(slot);
    }

    /** The last work request of what was posted of the slot's chain is complete. Returns whether that was all of the chain. */
    boolean onPartComplete(RequestSlot slot) {
        places += slot.placesTaken;
        slot.placesTaken = 0;
        boolean all = slot.chainPosted == slot.chain.size();
        if (!all && !stopped) {
            // Its rest goes before all others: the order of replies stays.
            slot.waitBegan = time.nanoTime();
            waiting.addFirst(slot);
        }
        pump();
        return all;
    }

    int free() {
        return places;
    }

    /** The connection ends: nothing more is posted. */
    void stop() {
        stopped = true;
        waiting.clear();
    }
}
