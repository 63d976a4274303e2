// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.connection;

import java.util.ArrayDeque;
import java.util.ArrayList;
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
 * <p>Chains that wait at the same time are posted by one call, so that the device can send them together. {@link #hold} has them wait
 * while one batch of completions is handled, which may be answered by as many chains.
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
    private final Joined joined = new Joined();
    private final Runnable drainTask = this::drain;
    private @Nullable Thread holder;
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
        if (holder != Thread.currentThread() || !isSmall(item)) {
            beginDrain();
        }
    }

    /** A Send alone. What moves payload is worth a call of its own, and its bytes are still in the caches now. */
    private static boolean isSmall(Object item) {
        return item instanceof Entry entry && entry.chain().size() == 1;
    }

    private void beginDrain() {
        if (!draining && !waiting.isEmpty()) {
            draining = true;
            monitor.afterwards(drainTask);
        }
    }

    /**
     * Has chains of one request that the calling thread appends from now on wait for {@link #release}, or for what another thread appends:
     * nobody's work is held up by what this thread does meanwhile. If another thread holds already, nothing changes. Inside the monitor.
     */
    void hold() {
        monitor.requireHeld();
        if (holder == null) {
            holder = Thread.currentThread();
        }
    }

    /** The opposite of {@link #hold}: has what waits posted, once the monitor is left. */
    void release() {
        monitor.requireHeld();
        if (holder == Thread.currentThread()) {
            holder = null;
        }
        beginDrain();
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
            if (closed && item instanceof Entry entry) {
                return refusal(entry);
            }
            return item instanceof Entry entry && waiting.peek() instanceof Entry ? joined.of(entry) : item;
        } finally {
            monitor.leave();
        }
    }

    private Runnable refusal(Entry entry) {
        return () -> monitor.run(() -> entry.onRefused(CLOSED));
    }

    /** Entries that are posted by one call. There is one, of the thread that drains. */
    private final class Joined implements Entry {

        private static final int MOST = 64;

        private final ArrayList<Entry> entries = new ArrayList<>();
        private final ArrayList<SendQueueRequest> requests = new ArrayList<>();

        /** This, with the entry and those that wait behind it, up to an action. */
        Joined of(Entry first) {
            entries.clear();
            requests.clear();
            join(first);
            while (entries.size() < MOST && waiting.peek() instanceof Entry next) {
                waiting.remove();
                join(next);
            }
            return this;
        }

        private void join(Entry entry) {
            entries.add(entry);
            List<? extends SendQueueRequest> chain = entry.chain();
            for (int i = 0; i < chain.size(); i++) {
                requests.add(chain.get(i));
            }
        }

        @Override
        public List<SendQueueRequest> chain() {
            return requests;
        }

        /** Those before the refused one were posted; those behind it are tried again, in their order. */
        @Override
        public void onRefused(PostResult.Refused refused) {
            int index = 0;
            int begin = 0;
            while (refused.firstBad() >= begin + entries.get(index).chain().size()) {
                begin += entries.get(index++).chain().size();
            }
            for (int behind = entries.size() - 1; behind > index; behind--) {
                waiting.addFirst(entries.get(behind));
            }
            entries.get(index)
                    .onRefused(new PostResult.Refused(refused.firstBad() - begin, refused.reason(), refused.detail()));
        }
    }
}
