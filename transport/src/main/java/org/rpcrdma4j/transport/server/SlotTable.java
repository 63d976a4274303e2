// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.util.ArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.connection.Endpoint;
import org.rpcrdma4j.verbs.MemoryRegion;

/**
 * A connection's request slots: made when they are first needed, up to a bound, and used again last in, first out; and the release of what
 * a slot holds. In the monitor.
 */
final class SlotTable {

    private final ServerConnection connection;
    private final Endpoint endpoint;
    private final ConnectionMemory memory;
    private final int capacity;
    private final ArrayList<RequestSlot> all = new ArrayList<>();
    private final ArrayList<RequestSlot> free = new ArrayList<>();

    SlotTable(ServerConnection connection, Endpoint endpoint, ConnectionMemory memory, int capacity) {
        this.connection = connection;
        this.endpoint = endpoint;
        this.memory = memory;
        this.capacity = capacity;
    }

    /** A free slot, or null if all are in use. */
    @Nullable
    RequestSlot take() {
        if (!free.isEmpty()) {
            return free.removeLast();
        }
        if (all.size() == capacity) {
            return null;
        }
        RequestSlot slot = new RequestSlot(connection, all.size());
        all.add(slot);
        return slot;
    }

    /** Gives back all that the slot holds. */
    void release(RequestSlot slot) {
        releaseReceive(slot);
        slot.message.clear();
        if (slot.pulled != null) {
            memory.giveBack(slot.pulled);
            slot.pulled = null;
        }
        for (int i = 0; i < slot.results.size(); i++) {
            memory.giveBack(slot.results.get(i));
        }
        slot.results.clear();
        slot.resultBytes = 0;
        slot.copyBuffer = null;
        releaseForeign(slot);
        connection.admission().unreserve(slot);
        slot.usesChunks = false;
        slot.hasInvalidateKey = false;
        slot.error = RequestSlot.ErrorReply.NONE;
        boolean hadSendBuffer = slot.sendBuffer != RequestSlot.NONE;
        if (hadSendBuffer) {
            endpoint.returnSendBuffer(slot.sendBuffer);
            slot.sendBuffer = RequestSlot.NONE;
        }
        giveBack(slot);
        if (hadSendBuffer) {
            connection.admission().retry();
        }
    }

    private void releaseForeign(RequestSlot slot) {
        Runnable released = slot.released;
        slot.released = null;
        if (slot.foreign.isEmpty()) {
            if (released != null) {
                connection.monitor().afterwards(released);
            }
            return;
        }
        MemoryRegion[] regions = slot.foreign.toArray(MemoryRegion[]::new);
        slot.foreign.clear();
        connection.onWorker(() -> {
            for (MemoryRegion region : regions) {
                memory.deregister(region);
            }
            if (released != null) {
                released.run();
            }
        });
    }

    void releaseReceive(RequestSlot slot) {
        if (slot.receiveBuffer != RequestSlot.NONE) {
            int buffer = slot.receiveBuffer;
            slot.receiveBuffer = RequestSlot.NONE;
            endpoint.releaseReceive(buffer);
        }
    }

    private void giveBack(RequestSlot slot) {
        slot.state = RequestSlot.State.FREE;
        slot.nextUse();
        free.add(slot);
    }

    RequestSlot get(int index) {
        return all.get(index);
    }

    boolean allFree() {
        return free.size() == all.size();
    }

    int inUse() {
        return all.size() - free.size();
    }

    void forEach(Consumer<RequestSlot> action) {
        all.forEach(action);
    }
}
