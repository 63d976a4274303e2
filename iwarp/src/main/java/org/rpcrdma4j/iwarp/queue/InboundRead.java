// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.queue;

/** A Read Request of the peer, as it arrived. Constant from its arrival until its place in the ring is used again. */
public final class InboundRead {
    private int msn;
    private int sinkStag;
    private long sinkOffset;
    private long size;
    private int sourceStag;
    private long sourceOffset;

    InboundRead() {}

    /** Fills all fields. */
    public void set(
            int newMsn, int newSinkStag, long newSinkOffset, long newSize, int newSourceStag, long newSourceOffset) {
        msn = newMsn;
        sinkStag = newSinkStag;
        sinkOffset = newSinkOffset;
        size = newSize;
        sourceStag = newSourceStag;
        sourceOffset = newSourceOffset;
    }

    public int msn() {
        return msn;
    }

    public int sinkStag() {
        return sinkStag;
    }

    public long sinkOffset() {
        return sinkOffset;
    }

    public long size() {
        return size;
    }

    public int sourceStag() {
        return sourceStag;
    }

    public long sourceOffset() {
        return sourceOffset;
    }
}
