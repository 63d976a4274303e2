// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs;

/**
 * Sends a message that takes one Receive of the peer; optionally invalidates a region there, optionally as a solicited event.
 *
 * <p>libibverbs: {@code IBV_WR_SEND}, {@code IBV_WR_SEND_WITH_INV}, {@code IBV_SEND_SOLICITED}.
 */
public final class SendRequest extends SendQueueRequest {

    private final SgeList sges = new SgeList();
    private boolean solicited;
    private boolean invalidates;
    private int invalidateKey;

    /** An empty, signaled Send. */
    public SendRequest() {}

    /** Sets {@link #id}. */
    public SendRequest id(long value) {
        setId(value);
        return this;
    }

    /** Sets {@link #signaled()}. */
    public SendRequest signaled(boolean value) {
        setSignaled(value);
        return this;
    }

    /** Sets {@link #fence()}. */
    public SendRequest fence(boolean value) {
        setFence(value);
        return this;
    }

    /** Appends {@code length} bytes at {@code offset} of {@code region} to the message. */
    public SendRequest sge(MemoryRegion region, long offset, long length) {
        sges.add(region, offset, length);
        return this;
    }

    /** Empties the gather list. An empty message is legal and takes a Receive too. */
    public SendRequest clearSges() {
        sges.clear();
        return this;
    }

    /** Whether it wakes a peer that armed its completion queue for solicited events only. */
    public SendRequest solicited(boolean value) {
        solicited = value;
        return this;
    }

    /** Asks the peer to invalidate the region with this key of its own when the message is delivered. */
    public SendRequest invalidate(int remoteKey) {
        invalidates = true;
        invalidateKey = remoteKey;
        return this;
    }

    /** Takes {@link #invalidate} back. */
    public SendRequest withoutInvalidate() {
        invalidates = false;
        invalidateKey = 0;
        return this;
    }

    /** The message's gather list. */
    public SgeList sges() {
        return sges;
    }

    /** See {@link #solicited(boolean)}. */
    public boolean isSolicited() {
        return solicited;
    }

    /** Whether it carries a key to invalidate. */
    public boolean invalidates() {
        return invalidates;
    }

    /** The key to invalidate. */
    public int invalidateKey() {
        return invalidateKey;
    }

    @Override
    public WorkCompletion.Operation operation() {
        return WorkCompletion.Operation.SEND;
    }
}
