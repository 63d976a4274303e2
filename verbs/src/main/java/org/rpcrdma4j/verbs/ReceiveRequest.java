// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs;

/** Offers memory for one message of the peer. Receives are used in posting order. libibverbs: {@code struct ibv_recv_wr}. */
public final class ReceiveRequest extends WorkRequest {

    private final SgeList sges = new SgeList();

    /** A Receive without memory. */
    public ReceiveRequest() {}

    /** Sets {@link #id}. */
    public ReceiveRequest id(long value) {
        setId(value);
        return this;
    }

    /** Appends {@code length} bytes at {@code offset} of {@code region}; the region needs local write. */
    public ReceiveRequest sge(MemoryRegion region, long offset, long length) {
        sges.add(region, offset, length);
        return this;
    }

    /** Empties the scatter list. */
    public ReceiveRequest clearSges() {
        sges.clear();
        return this;
    }

    /** The scatter list. */
    public SgeList sges() {
        return sges;
    }
}
