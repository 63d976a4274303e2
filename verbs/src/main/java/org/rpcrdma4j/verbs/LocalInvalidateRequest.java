// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs;

/**
 * Invalidates a registration of our own: once complete, no access of the peer under the key runs or can succeed (O9).
 *
 * <p>Names the whole key: one of an earlier registration of the region fails with {@link
 * WorkCompletion.Status#LOCAL_QP_OPERATION_ERROR}, which ends the connection. A region that is INVALID already, with this very key as
 * its last one, counts as success, since the peer may have been first. Does not wait for earlier RDMA Reads into the region: set
 * the fence for that.
 */
public final class LocalInvalidateRequest extends SendQueueRequest {

    private int key;

    /** A signaled invalidation of key 0. */
    public LocalInvalidateRequest() {}

    /** Sets {@link #id}. */
    public LocalInvalidateRequest id(long value) {
        setId(value);
        return this;
    }

    /** Sets {@link #signaled()}. */
    public LocalInvalidateRequest signaled(boolean value) {
        setSignaled(value);
        return this;
    }

    /** Sets {@link #fence()}. */
    public LocalInvalidateRequest fence(boolean value) {
        setFence(value);
        return this;
    }

    /** The key to invalidate. */
    public LocalInvalidateRequest key(int value) {
        key = value;
        return this;
    }

    /** The key to invalidate. */
    public int key() {
        return key;
    }

    @Override
    public WorkCompletion.Operation operation() {
        return WorkCompletion.Operation.LOCAL_INVALIDATE;
    }
}
