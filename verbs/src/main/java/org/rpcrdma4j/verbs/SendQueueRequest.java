// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs;

/**
 * A work request for the send queue.
 *
 * <p>Signaled requests yield a completion on success; unsignaled ones only when they fail or are flushed. Fenced requests, and all
 * behind them, wait until every earlier RDMA Read of the queue is complete.
 */
public abstract sealed class SendQueueRequest extends WorkRequest
        permits SendRequest, RdmaRequest, RegisterRequest, LocalInvalidateRequest {

    private boolean signaled = true;
    private boolean fence;

    SendQueueRequest() {}

    /** Whether success is reported; true unless changed. libibverbs: {@code IBV_SEND_SIGNALED}. */
    public final boolean signaled() {
        return signaled;
    }

    /** Whether it waits for earlier RDMA Reads; false unless changed. libibverbs: {@code IBV_SEND_FENCE}. */
    public final boolean fence() {
        return fence;
    }

    final void setSignaled(boolean value) {
        signaled = value;
    }

    final void setFence(boolean value) {
        fence = value;
    }

    /** What a completion of this request reports as its operation. */
    public abstract WorkCompletion.Operation operation();
}
