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
    private short control;
    private int unusedStag;

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

    /** Keeps what has no meaning in a Request's DDP header, since a Terminate quotes the header as it came. */
    public void keepHeader(short newControl, int newUnusedStag) {
        control = newControl;
        unusedStag = newUnusedStag;
    }

    /** The two control octets as they came. */
    public short control() {
        return control;
    }

    /** The header's field for an STag to invalidate, as it came. */
    public int unusedStag() {
        return unusedStag;
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
