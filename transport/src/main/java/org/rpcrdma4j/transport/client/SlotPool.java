// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The slots of one connection: made when they are first needed, as many as the plan has. Used inside the monitor. */
final class SlotPool {

    private final ClientConnection connection;
    private final int limit;
    private final List<RequestSlot> slots = new ArrayList<>();
    private final ArrayDeque<RequestSlot> free = new ArrayDeque<>();
    private @Nullable RequestSlot waiting;
    private @Nullable ClientCall waitingCall;

    SlotPool(ClientConnection connection, int limit) {
        this.connection = connection;
        this.limit = limit;
    }

    /** A slot for the first waiting call; null if it has to wait on. The one whose call waits for regions goes first. */
    @Nullable
    RequestSlot take(ClientCall call) {
        RequestSlot reserved = waiting;
        if (reserved == null) {
            return takeFree();
        }
        if (reserved.regions().isWaiting()) {
            if (waitingCall == call) {
                return null;
            }
            connection.registrar().cancelWait(reserved.regions());
        }
        waiting = null;
        waitingCall = null;
        return reserved;
    }

    private @Nullable RequestSlot takeFree() {
        RequestSlot slot = free.poll();
        if (slot == null && slots.size() < limit) {
            slot = new RequestSlot(
                    connection, slots.size(), connection.endpoint().takeSendBuffer());
            slots.add(slot);
        }
        return slot;
    }

    /** The call waits for regions, and its slot with it. */
    void reserve(RequestSlot slot, ClientCall call) {
        waiting = slot;
        waitingCall = call;
    }

    /** Whether the first waiting call has a slot, but no regions. */
    boolean isReserved() {
        return waiting != null;
    }

    /** Neither call nor Send needs it. */
    void giveBack(RequestSlot slot) {
        free.push(slot);
    }

    /** The slot of this index; null if it was never made. */
    @Nullable
    RequestSlot get(int index) {
        return index < slots.size() ? slots.get(index) : null;
    }

    /** How many send buffers are with Sends. */
    long sendsOutstanding() {
        return slots.stream().filter(RequestSlot::isSendOutstanding).count();
    }

    /** The connection is over: no call and no Send has a slot any more. */
    void abandonAll() {
        for (RequestSlot slot : slots) {
            slot.abandon();
        }
    }

    @Override
    public String toString() {
        return free.size() + " of " + slots.size() + " slots free" + (waiting == null ? "" : ", one waits for regions");
    }
}
