// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds a call by its XID: a hash table with open addressing, which allocates nothing while it does not grow. Used inside the monitor.
 *
 * <p>An entry lies at the first free place from its home on; when one is removed, those behind that could lie nearer to their homes move
 * up, so a search may end at the first free place.
 */
final class CallTable {

    private static final int LEAST_CAPACITY = 16;

    private final Comparator<ClientCall> byOrder;
    private @Nullable ClientCall[] places;
    private int mask;
    private int size;
    private int walks;

    /** An empty table, which asks the comparator which of two calls is older. */
    CallTable(int expected, Comparator<ClientCall> byOrder) {
        this.byOrder = byOrder;
        int capacity = LEAST_CAPACITY;
        while (capacity < 2L * expected && capacity < 1 << 20) {
            capacity <<= 1;
        }
        places = new ClientCall[capacity];
        mask = capacity - 1;
    }

    int size() {
        return size;
    }

    /** The call of this XID, or null. */
    @Nullable
    ClientCall get(int xid) {
        return places[find(xid)];
    }

    /** Enters a call; returns false, and does nothing, if its XID is there already. */
    boolean add(ClientCall call) {
        int place = find(call.xid());
        if (places[place] != null) {
            return false;
        }
        places[place] = call;
        size++;
        if (size > places.length / 2) {
            grow();
        }
        return true;
    }

    /** Takes a call out, if it is there. */
    void remove(ClientCall call) {
        int hole = find(call.xid());
        if (places[hole] != call) {
            return;
        }
        size--;
        int place = hole;
        while (true) {
            place = (place + 1) & mask;
            ClientCall moved = places[place];
            if (moved == null) {
                places[hole] = null;
                return;
            }
            int distanceFromHome = (place - home(moved.xid())) & mask;
            if (distanceFromHome >= ((place - hole) & mask)) {
                places[hole] = moved;
                hole = place;
            }
        }
    }

    /** The calls that were sent on the connection, the oldest first. Goes through all calls, so not to be done for each of them. */
    @SuppressWarnings("ReferenceEquality") // this very connection
    List<ClientCall> sentOn(ClientConnection connection) {
        walks++;
        List<ClientCall> calls = new ArrayList<>();
        for (ClientCall call : places) {
            if (call != null && call.connection() == connection) {
                calls.add(call);
            }
        }
        calls.sort(byOrder);
        return calls;
    }

    /** How often somebody has gone through all calls. */
    int walks() {
        return walks;
    }

    private int find(int xid) {
        int place = home(xid);
        ClientCall call;
        while ((call = places[place]) != null && call.xid() != xid) {
            place = (place + 1) & mask;
        }
        return place;
    }

    /** XIDs are mostly consecutive, but a caller may count in steps: the multiplication spreads both. */
    private int home(int xid) {
        return ((xid * 0x9E37_79B9) >>> 12) & mask;
    }

    private void grow() {
        @Nullable ClientCall[] old = places;
        places = new ClientCall[2 * old.length];
        mask = places.length - 1;
        for (ClientCall call : old) {
            if (call != null) {
                places[find(call.xid())] = call;
            }
        }
    }
}
