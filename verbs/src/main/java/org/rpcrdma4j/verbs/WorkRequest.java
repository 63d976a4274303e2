// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs;

/**
 * A work request: what a queue is asked to do. A mutable carrier that its owner fills, posts and uses again: the device copies it
 * while posting. Not safe for use by two threads at a time.
 */
public abstract sealed class WorkRequest permits SendQueueRequest, ReceiveRequest {

    private long id;

    WorkRequest() {}

    /** The caller's own number; comes back in the completion and is not interpreted. Put a generation in it. */
    public final long id() {
        return id;
    }

    final void setId(long value) {
        id = value;
    }
}
