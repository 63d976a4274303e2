// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Calls that wait to be sent, the oldest first: linked through the calls themselves. Used inside the monitor. */
final class CallQueue {

    private final Comparator<ClientCall> byOrder;
    private @Nullable ClientCall first;
    private @Nullable ClientCall last;
    private int size;

    /** An empty queue, which asks the comparator which of two calls is older. */
    CallQueue(Comparator<ClientCall> byOrder) {
        this.byOrder = byOrder;
    }

    @Nullable
    ClientCall first() {
        return first;
    }

    int size() {
        return size;
    }

    boolean isEmpty() {
        return size == 0;
    }

    void addLast(ClientCall call) {
        insert(call, last, null);
    }

    /**
     * Puts calls that were sent before back among those that were given to the client after them. One walk for all of them: there may be
     * thousands.
     *
     * @param earlier the oldest first
     */
    void addInOrder(List<ClientCall> earlier) {
        ClientCall next = first;
        for (ClientCall call : earlier) {
            while (next != null && byOrder.compare(next, call) < 0) {
                next = next.nextInQueue;
            }
            insert(call, next == null ? last : next.previousInQueue, next);
        }
    }

    private void insert(ClientCall call, @Nullable ClientCall previous, @Nullable ClientCall next) {
        call.previousInQueue = previous;
        call.nextInQueue = next;
        if (previous == null) {
            first = call;
        } else {
            previous.nextInQueue = call;
        }
        if (next == null) {
            last = call;
        } else {
            next.previousInQueue = call;
        }
        size++;
    }

    /** Takes out a call that is in. */
    void remove(ClientCall call) {
        ClientCall previous = call.previousInQueue;
        ClientCall next = call.nextInQueue;
        if (previous == null) {
            first = next;
        } else {
            previous.nextInQueue = next;
        }
        if (next == null) {
            last = previous;
        } else {
            next.previousInQueue = previous;
        }
        call.previousInQueue = null;
        call.nextInQueue = null;
        size--;
    }
}
