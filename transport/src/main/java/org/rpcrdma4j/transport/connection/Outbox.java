// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.connection;

import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.SendQueueRequest;

/**
 * The one way to a connection's send queue: chains are appended inside the monitor and posted outside it, by one thread at a time, in
 * the order in which they were appended.
 *
 * <p>So a post, which may make a system call, holds up nobody who only wants to change state, and the order that the state machines
 * see is the order of the send queue: an invalidation that was appended after a registration is executed after it.
 */
public final class Outbox {

    /** A chain to be posted. Its requests belong to the outbox until their completions, or until it is refused. */
    public interface Entry {

        /** The chain; not empty, not changed any more. */
        List<? extends SendQueueRequest> chain();

        /** Called inside the monitor: requests from {@link PostResult.Refused#firstBad} on were not posted and will not be. */
        void onRefused(PostResult.Refused refused);
    }

    private final Monitor monitor;
    private final QueuePair queuePair;
    private final ArrayDeque<Object> waiting = new ArrayDeque<>();
    private final Runnable drainTask = this::drain;
    private boolean draining;

    Outbox(Monitor monitor, QueuePair queuePair) {
        this.monitor = monitor;
        this.queuePair = queuePair;
    }

    /** Appends, inside the monitor. The posting happens once the monitor is left. */
    void append(Entry entry) {
        appendItem(entry);
    }

    /** Does the action after everything that was appended before has been posted. */
    void appendAction(Runnable action) {
        appendItem(action);
    }

    private void appendItem(Object item) {
        monitor.requireHeld();
        waiting.add(item);
        if (!draining) {
            draining = true;
            monitor.afterwards(drainTask);
        }
    }

    private void drain() {
        Object item;
        while ((item = next()) != null) {
            if (item instanceof Entry entry) {
                if (queuePair.postSend(entry.chain()) instanceof PostResult.Refused refused) {
                    monitor.run(() -> entry.onRefused(refused));
                }
            } else {
                ((Runnable) item).run();
            }
        }
    }

    private @Nullable Object next() {
        monitor.enter();
        try {
            Object item = waiting.poll();
            draining = item != null;
            return item;
        } finally {
            monitor.leave();
        }
    }
}
