// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs;

/**
 * Reads from one region of the peer into a local range: one entry on iWARP ({@link DeviceAttributes#maxReadSges}).
 *
 * <p>The sink needs local write; portable callers also give remote write where {@link
 * DeviceAttributes#readSinkNeedsRemoteWrite}. libibverbs: {@code IBV_WR_RDMA_READ}.
 */
public final class RdmaReadRequest extends SendQueueRequest {

    private final SgeList sges = new SgeList();
    private int remoteKey;
    private long remoteAddress;

    /** An empty, signaled RDMA Read. */
    public RdmaReadRequest() {}

    /** Sets {@link #id}. */
    public RdmaReadRequest id(long value) {
        setId(value);
        return this;
    }

    /** Sets {@link #signaled()}. */
    public RdmaReadRequest signaled(boolean value) {
        setSignaled(value);
        return this;
    }

    /** Sets {@link #fence()}. */
    public RdmaReadRequest fence(boolean value) {
        setFence(value);
        return this;
    }

    /** Appends the sink: {@code length} bytes at {@code offset} of {@code region}. */
    public RdmaReadRequest sge(MemoryRegion region, long offset, long length) {
        sges.add(region, offset, length);
        return this;
    }

    /** Empties the scatter list. */
    public RdmaReadRequest clearSges() {
        sges.clear();
        return this;
    }

    /** Where the first byte is read: a key and an unsigned address of the peer. */
    public RdmaReadRequest source(int key, long address) {
        remoteKey = key;
        remoteAddress = address;
        return this;
    }

    /** The scatter list. */
    public SgeList sges() {
        return sges;
    }

    /** The peer's key. */
    public int remoteKey() {
        return remoteKey;
    }

    /** The peer's address. */
    public long remoteAddress() {
        return remoteAddress;
    }

    @Override
    public WorkCompletion.Operation operation() {
        return WorkCompletion.Operation.RDMA_READ;
    }
}
