// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.queue;

import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.PostResult.Reason;
import org.rpcrdma4j.verbs.PostResult.Refused;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.WorkCompletion.Operation;
import org.rpcrdma4j.verbs.WorkCompletion.Status;

/**
 * The receive queue: a ring of Receives, used in posting order. At most the oldest is being filled; it stays in the ring until it is
 * complete. Guarded by the queue pair's lock.
 */
public final class ReceiveQueue extends WorkQueue {
    private final int maxSges;
    private final @Nullable ReceiveSlot[] ring;
    private long head;
    private long tail;
    private Status failure = Status.SUCCESS;

    public ReceiveQueue(int queuePair, int depth, int maxSges, SoftCompletionQueue completions, Runnable onEmpty) {
        super(queuePair, depth, completions, onEmpty);
        this.maxSges = maxSges;
        this.ring = new ReceiveSlot[Integer.highestOneBit(2 * depth - 1)];
    }

    /** Posts one Receive, or says why not. */
    public @Nullable Refused post(ReceiveRequest request, int index) {
        String fault = SendQueue.faultOf(request.sges(), maxSges);
        if (fault != null) {
            return new Refused(index, Reason.INVALID_REQUEST, fault);
        }
        if (!takePlace()) {
            return new Refused(index, Reason.QUEUE_FULL, "all " + depth() + " places of the receive queue are taken");
        }
        int i = (int) tail & (ring.length - 1);
        ReceiveSlot slot = ring[i];
        if (slot == null) {
            slot = new ReceiveSlot();
            ring[i] = slot;
        }
        slot.copy(request);
        tail++;
        return null;
    }

    /** The oldest Receive; null if none is posted. */
    public @Nullable ReceiveSlot oldest() {
        return head == tail ? null : ring[(int) head & (ring.length - 1)];
    }

    /** The oldest Receive has its message. */
    public void delivered(long bytes, boolean solicited) {
        completions().push(this, take().id(), Status.SUCCESS, Operation.RECEIVE, bytes, solicited);
    }

    /** The oldest Receive has its message, which invalidated a region. */
    public void deliveredWithInvalidate(long bytes, boolean solicited, int key) {
        completions().pushInvalidated(this, take().id(), bytes, solicited, key);
    }

    /** The oldest Receive failed: the flush will report it so. */
    public void failOldest(Status status) {
        failure = status;
    }

    private ReceiveSlot take() {
        ReceiveSlot slot = ring[(int) head & (ring.length - 1)];
        assert slot != null && head < tail : "nothing to take";
        head++;
        return slot;
    }

    /** Completes all that is left: the oldest with its own failure if it has one, the others as flushed. */
    public void flush() {
        while (head < tail) {
            Status status = failure == Status.SUCCESS ? Status.FLUSHED : failure;
            failure = Status.SUCCESS;
            completions().push(this, take().id(), status, Operation.RECEIVE, 0, false);
        }
    }
}
