// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import java.nio.ByteBuffer;
import org.rpcrdma4j.iwarp.ddp.DdpHeader;

/**
 * The header of an RDMA Read Request behind DDP's, read and written in place (RFC 5040, Section 4.4). Buffers are
 * big-endian; {@code at} is the absolute index of this header, 18 bytes into the ULPDU.
 *
 * <pre>
 *    0 | data sink STag        32 |   the requester's buffer: copied to the Response as it is
 *    4 | data sink TO          64 |
 *   12 | RDMA Read message size 32 |  unsigned
 *   16 | data source STag      32 |   the responder's buffer
 *   20 | data source TO        64 |
 * </pre>
 */
public final class ReadRequestHeader {
    public static final int BYTES = 28;

    /** The length of every Read Request's ULPDU: there is no payload. */
    public static final int ULPDU_BYTES = DdpHeader.UNTAGGED_BYTES + BYTES;

    private static final int SINK_STAG = 0;
    private static final int SINK_OFFSET = 4;
    private static final int SIZE = 12;
    private static final int SOURCE_STAG = 16;
    private static final int SOURCE_OFFSET = 20;

    private ReadRequestHeader() {}

    public static int sinkStag(ByteBuffer header, int at) {
        return header.getInt(at + SINK_STAG);
    }

    public static long sinkOffset(ByteBuffer header, int at) {
        return header.getLong(at + SINK_OFFSET);
    }

    /** 0 to 2<sup>32</sup> - 1. */
    public static long size(ByteBuffer header, int at) {
        return Integer.toUnsignedLong(header.getInt(at + SIZE));
    }

    public static int sourceStag(ByteBuffer header, int at) {
        return header.getInt(at + SOURCE_STAG);
    }

    public static long sourceOffset(ByteBuffer header, int at) {
        return header.getLong(at + SOURCE_OFFSET);
    }

    /** Writes the header; returns its size. */
    public static int put(
            ByteBuffer target, int at, int sinkStag, long sinkOffset, long size, int sourceStag, long sourceOffset) {
        target.putInt(at + SINK_STAG, sinkStag);
        target.putLong(at + SINK_OFFSET, sinkOffset);
        target.putInt(at + SIZE, (int) size);
        target.putInt(at + SOURCE_STAG, sourceStag);
        target.putLong(at + SOURCE_OFFSET, sourceOffset);
        return BYTES;
    }

    /** Moves a Read that was served in part to where it stands: the form in which a Terminate quotes it. */
    public static void advance(ByteBuffer header, int at, long servedBytes) {
        // RFC 5040, Section 4.8: both offsets advanced, the size reduced, the STags unchanged.
        header.putLong(at + SINK_OFFSET, sinkOffset(header, at) + servedBytes);
        header.putInt(at + SIZE, (int) (size(header, at) - servedBytes));
        header.putLong(at + SOURCE_OFFSET, sourceOffset(header, at) + servedBytes);
    }
}
