// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.WorkCompletion.Status;

/**
 * A send or receive queue.
 *
 * <p>An entry is in {@code places} until its own completion, or that of a later signaled one, was polled; in {@code uncompleted}
 * until its completion was made; in {@code unexecuted} until its execution has ended or, for an RDMA Read, begun.
 */
final class WorkQueue {

    final SimCompletionQueue completions;
    final int depth;

    private final SimQueuePair queuePair;
    private final ArrayDeque<WorkEntry> places = new ArrayDeque<>();
    private final ArrayDeque<WorkEntry> uncompleted = new ArrayDeque<>();
    private final ArrayDeque<WorkEntry> unexecuted = new ArrayDeque<>();
    private int unpolled;
    private boolean hasLostCompletion;

    WorkQueue(SimQueuePair queuePair, SimCompletionQueue completions, int depth) {
        this.queuePair = queuePair;
        this.completions = completions;
        this.depth = depth;
        completions.reserve(depth);
    }

    int queuePairNumber() {
        return queuePair.number();
    }

    int traceId() {
        return queuePair.number();
    }

    boolean isFull() {
        return places.size() >= depth;
    }

    void post(WorkEntry entry) {
        entry.hold();
        places.add(entry);
        uncompleted.add(entry);
        unexecuted.add(entry);
    }

    /** Takes an entry that is flushed at once. */
    void postFlushed(WorkEntry entry) {
        post(entry);
        unexecuted.clear();
        entry.end(Status.FLUSHED);
    }

    @Nullable
    WorkEntry head() {
        return unexecuted.peek();
    }

    /** The oldest entry leaves the row of those that wait for execution. */
    void executed() {
        unexecuted.remove();
    }

    boolean hasUnexecuted() {
        return !unexecuted.isEmpty();
    }

    boolean hasUncompleted() {
        return !uncompleted.isEmpty();
    }

    boolean isDrained() {
        return uncompleted.isEmpty() && unpolled == 0 && !hasLostCompletion;
    }

    boolean canComplete(long nowNanos) {
        WorkEntry head = uncompleted.peek();
        return head != null && head.isDone() && head.readyNanos <= nowNanos;
    }

    /** Makes the completion of the oldest entry; a success without signal leaves silently. */
    WorkEntry complete(FaultPlan faults) {
        WorkEntry head = uncompleted.remove();
        if (!head.signaled && head.isSuccess()) {
            return head;
        }
        if (faults.losesCompletion(head.operation)) {
            hasLostCompletion = true;
        } else {
            unpolled++;
            completions.add(head);
        }
        return head;
    }

    /** Frees the places up to the entry that was polled. */
    void polled(WorkEntry entry) {
        unpolled--;
        while (!places.isEmpty()) {
            WorkEntry freed = places.remove();
            freed.release();
            if (freed == entry) {
                return;
            }
        }
    }

    /**
     * Ends all entries that have not ended. Of the send queue, those behind such a one or behind a failure are flushed even if
     * they were executed, and what is forgotten of the others.
     *
     * @param forgetting what of the send queue is forgotten; null for the receive queue
     */
    void flush(FaultPlan.@Nullable Forgetting forgetting, SplittableRandom random, long readyNanos) {
        boolean flushing = false;
        Iterator<WorkEntry> all = uncompleted.iterator();
        while (all.hasNext()) {
            WorkEntry entry = all.next();
            boolean forgotten = forgetting != null && (flushing || forgets(forgetting, random));
            if (!entry.isDone() || (entry.isSuccess() && forgotten)) {
                entry.end(Status.FLUSHED);
                entry.readyNanos = readyNanos;
            }
            flushing |= !entry.isSuccess();
        }
        unexecuted.clear();
    }

    private static boolean forgets(FaultPlan.Forgetting forgetting, SplittableRandom random) {
        return switch (forgetting) {
            case SOME -> random.nextInt(4) == 0;
            case ALL -> true;
            case NONE -> false;
        };
    }

    /** Gives everything back; completions that were not polled are gone. */
    void close() {
        flush(FaultPlan.Forgetting.NONE, new SplittableRandom(0), 0);
        completions.discard(this);
        places.forEach(WorkEntry::release);
        places.clear();
        uncompleted.clear();
        unpolled = 0;
        completions.release(depth);
    }

    @Override
    public String toString() {
        return places.size() + " places taken of " + depth + ", " + uncompleted.size() + " not completed, " + unpolled
                + " not polled";
    }
}
