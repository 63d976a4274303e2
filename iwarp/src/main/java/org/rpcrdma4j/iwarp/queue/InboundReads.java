// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.queue;

import org.jspecify.annotations.Nullable;

/**
 * The Read Requests of the peer that wait for an answer: the buffers of DDP queue 1.
 *
 * <p>A Request takes one of the agreed slots (IRD) until the last segment of its Response was built. It keeps its place in the ring a
 * little longer, until TCP has accepted that segment, since a Response whose source is revoked meanwhile must still be named in a
 * Terminate. Guarded by the queue pair's lock.
 */
public final class InboundReads {
    /** Most Responses that are built and not yet accepted. */
    private final int maxBuilt;

    private InboundRead[] ring = {};
    private int limit;
    private long head;
    private long next;
    private long tail;

    /** @param maxBuilt most Responses that can be built and not yet accepted */
    public InboundReads(int maxBuilt) {
        this.maxBuilt = maxBuilt;
    }

    /** Sets how many may wait (IRD), when the connection is made. */
    public void setLimit(int ird) {
        limit = ird;
        ring = new InboundRead[Integer.highestOneBit(Math.max(1, 2 * (ird + maxBuilt) - 1))];
        for (int i = 0; i < ring.length; i++) {
            ring[i] = new InboundRead();
        }
    }

    /** A free slot to fill, or null if the peer has sent more than was agreed. {@link #arrived} follows. */
    public @Nullable InboundRead free() {
        return tail - next >= limit ? null : ring[(int) tail & (ring.length - 1)];
    }

    /** The slot given out by {@link #free} is filled. */
    public void arrived() {
        tail++;
    }

    /** The Request to answer now; null if there is none. */
    public @Nullable InboundRead oldest() {
        return next == tail ? null : ring[(int) next & (ring.length - 1)];
    }

    /** The Response to the oldest Request is built: its slot is the peer's again. */
    public void built() {
        // ORDER: before the Response is written, since the peer may send its next Request the moment it has it.
        next++;
    }

    /** The oldest Response that was built has been accepted by TCP. */
    public void accepted() {
        head++;
    }

    /** Whether nothing waits to be answered. */
    public boolean isEmpty() {
        return head == tail;
    }
}
