// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.connection;

import java.util.ArrayDeque;
import java.util.List;
import java.util.function.Consumer;
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
 *
 * <p>Once it is closed nothing is posted any more: each entry is refused, in its turn.
 */
public final class Outbox {

    /** A chain to be posted. Its requests belong to the outbox until their completions, or until it is refused. */
    public interface Entry {

        /** The chain; not empty, not changed any more. */
        List<? extends SendQueueRequest> chain();

        /**
         * Called inside the monitor: requests from {@link PostResult.Refused#firstBad} on were not posted and will not be. Those before
         * it were, and have their completions.
         */
        void onRefused(PostResult.Refused refused);
    }

    private static final PostResult.Refused CLOSED =
            new PostResult.Refused(0, PostResult.Reason.WRONG_STATE, "the connection has ended");

    private final Monitor monitor;
    private final QueuePair queuePair;
    private final Consumer<Throwable> onFault;
    private final ArrayDeque<Object> waiting = new ArrayDeque<>();
    private final Runnable drainTask = this::drain;
    private boolean draining;
    private boolean closed;

    /**
     * An empty one.
     *
     * @param onFault told, outside the monitor, of what an entry or action threw; the connection is of no use then, for it is not known
     *     what was posted
     */
    Outbox(Monitor monitor, QueuePair queuePair, Consumer<Throwable> onFault) {
        this.monitor = monitor;
        this.queuePair = queuePair;
        this.onFault = onFault;
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

    /**
     * Closes it once everything that was appended before has been posted, and then does the action.
     *
     * <p>ORDER: closed before the action, so that whatever the action drains gets nothing more.
     */
    void closeThen(Runnable action) {
        appendItem((Runnable) () -> {
            monitor.run(this::close);
            action.run();
        });
    }

    /** Posts nothing from now on, also of what was appended before. */
    void close() {
        monitor.requireHeld();
        closed = true;
    }

    private void drain() {
        Object item;
        while ((item = next()) != null) {
            try {
                perform(item);
            } catch (RuntimeException | Error e) {
                onFault.accept(e);
            }
        }
    }

    private void perform(Object item) {
        if (item instanceof Entry entry) {
            if (queuePair.postSend(entry.chain()) instanceof PostResult.Refused refused) {
                monitor.run(() -> entry.onRefused(refused));
            }
        } else {
            ((Runnable) item).run();
        }
    }

    private @Nullable Object next() {
        monitor.enter();
        try {
            Object item = waiting.poll();
            draining = item != null;
            return closed && item instanceof Entry entry ? refusal(entry) : item;
        } finally {
            monitor.leave();
        }
    }

    private Runnable refusal(Entry entry) {
        return () -> monitor.run(() -> entry.onRefused(CLOSED));
    }
}
