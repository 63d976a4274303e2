// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs;

/** Writes a gather list to one region of the peer. The peer's program is not told. Without bytes, key and address are not looked at. libibverbs: {@code IBV_WR_RDMA_WRITE}. */
public final class RdmaWriteRequest extends SendQueueRequest {

    private final SgeList sges = new SgeList();
    private int remoteKey;
    private long remoteAddress;

    /** An empty, signaled RDMA Write. */
    public RdmaWriteRequest() {}

    /** Sets {@link #id}. */
    public RdmaWriteRequest id(long value) {
        setId(value);
        return this;
    }

    /** Sets {@link #signaled()}. */
    public RdmaWriteRequest signaled(boolean value) {
        setSignaled(value);
        return this;
    }

    /** Sets {@link #fence()}. */
    public RdmaWriteRequest fence(boolean value) {
        setFence(value);
        return this;
    }

    /** Appends {@code length} bytes at {@code offset} of {@code region}. */
    public RdmaWriteRequest sge(MemoryRegion region, long offset, long length) {
        sges.add(region, offset, length);
        return this;
    }

    /** Empties the gather list. */
    public RdmaWriteRequest clearSges() {
        sges.clear();
        return this;
    }

    /** Where the first byte goes: a key and an unsigned address of the peer. */
    public RdmaWriteRequest target(int key, long address) {
        remoteKey = key;
        remoteAddress = address;
        return this;
    }

    /** The gather list. */
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
        return WorkCompletion.Operation.RDMA_WRITE;
    }
}
