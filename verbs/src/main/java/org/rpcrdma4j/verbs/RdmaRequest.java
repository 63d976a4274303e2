// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs;

/**
 * What RDMA Writes and RDMA Reads have in common: a list of local pieces and one place at the peer.
 *
 * @param <R> the request itself, so that calls can be chained
 */
public abstract sealed class RdmaRequest<R extends RdmaRequest<R>> extends SendQueueRequest
        permits RdmaWriteRequest, RdmaReadRequest {

    private final SgeList sges = new SgeList();
    private int remoteKey;
    private long remoteAddress;

    RdmaRequest() {}

    /** This request, as what it is. */
    abstract R self();

    /** Sets {@link #id}. */
    public final R id(long value) {
        setId(value);
        return self();
    }

    /** Sets {@link #signaled()}. */
    public final R signaled(boolean value) {
        setSignaled(value);
        return self();
    }

    /** Sets {@link #fence()}. */
    public final R fence(boolean value) {
        setFence(value);
        return self();
    }

    /** Appends {@code length} bytes at {@code offset} of the local {@code region}. */
    public final R sge(MemoryRegion region, long offset, long length) {
        sges.add(region, offset, length);
        return self();
    }

    /** Empties the list. */
    public final R clearSges() {
        sges.clear();
        return self();
    }

    final R setRemote(int key, long address) {
        remoteKey = key;
        remoteAddress = address;
        return self();
    }

    /** The local pieces. */
    public final SgeList sges() {
        return sges;
    }

    /** The peer's key. */
    public final int remoteKey() {
        return remoteKey;
    }

    /** The peer's address, unsigned. */
    public final long remoteAddress() {
        return remoteAddress;
    }
}
