// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.util.ArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A connection's request slots: made when they are first needed, up to a bound, and used again last in, first out. In the monitor. */
final class SlotTable {

    private final ServerConnection connection;
    private final int capacity;
    private final ArrayList<RequestSlot> all = new ArrayList<>();
    private final ArrayList<RequestSlot> free = new ArrayList<>();

    SlotTable(ServerConnection connection, int capacity) {
        this.connection = connection;
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

    void giveBack(RequestSlot slot) {
        slot.state = RequestSlot.State.FREE;
        slot.generation++;
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
