// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs;

/** Writes a gather list to one region of the peer. The peer's program is not told. Without bytes, key and address are not looked at. libibverbs: {@code IBV_WR_RDMA_WRITE}. */
public final class RdmaWriteRequest extends RdmaRequest<RdmaWriteRequest> {

    /** An empty, signaled RDMA Write. */
    public RdmaWriteRequest() {}

    /** Where the first byte goes: a key and an unsigned address of the peer. */
    public RdmaWriteRequest target(int key, long address) {
        return setRemote(key, address);
    }

    @Override
    RdmaWriteRequest self() {
        return this;
    }

    @Override
    public WorkCompletion.Operation operation() {
        return WorkCompletion.Operation.RDMA_WRITE;
    }
}
