// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs;

/**
 * Reads from one region of the peer into a local range: one entry on iWARP ({@link DeviceAttributes#maxReadSges}).
 *
 * <p>The sink needs local write; portable callers also give remote write where {@link
 * DeviceAttributes#readSinkNeedsRemoteWrite}. libibverbs: {@code IBV_WR_RDMA_READ}.
 */
public final class RdmaReadRequest extends RdmaRequest<RdmaReadRequest> {

    /** An empty, signaled RDMA Read. */
    public RdmaReadRequest() {}

    /** Where the first byte is read: a key and an unsigned address of the peer. */
    public RdmaReadRequest source(int key, long address) {
        return setRemote(key, address);
    }

    @Override
    RdmaReadRequest self() {
        return this;
    }

    @Override
    public WorkCompletion.Operation operation() {
        return WorkCompletion.Operation.RDMA_READ;
    }
}
