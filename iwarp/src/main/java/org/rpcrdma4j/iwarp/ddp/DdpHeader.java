// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.ddp;

import java.nio.ByteBuffer;

/**
 * The header of a DDP segment, read and written in place (RFC 5041, Section 4). Buffers are big-endian; {@code at} is
 * the absolute index of the ULPDU. The caller has checked that the header lies inside the ULPDU.
 *
 * <pre>
 *   tagged, 14 bytes                          untagged, 18 bytes
 *    0 | T=1 | L | 0000 | DV |                 0 | T=0 | L | 0000 | DV |
 *    1 | RDMAP control       |                 1 | RDMAP control       |
 *    2 | STag             32 |                 2 | invalidate STag  32 |  zero unless the operation invalidates
 *    6 | tagged offset    64 |                 6 | queue number     32 |
 *   14   payload                              10 | MSN              32 |
 *                                             14 | message offset   32 |
 *                                             18   payload
 * </pre>
 *
 * <p>All numbers are unsigned: an MSN is compared for equality only, a tagged offset with the unsigned methods of
 * {@link Long}.
 */
public final class DdpHeader {
    public static final int TAGGED_BYTES = 14;
    public static final int UNTAGGED_BYTES = 18;

    /** RFC 5041, Section 4.1: the only version there is. */
    public static final int VERSION = 1;

    /** RFC 5040, Section 3.1: the queue of all Sends. */
    public static final int SEND_QUEUE = 0;

    /** RFC 5040, Section 3.1: the queue of RDMA Read Requests. */
    public static final int READ_REQUEST_QUEUE = 1;

    /** RFC 5040, Section 3.1: the queue of Terminates. */
    public static final int TERMINATE_QUEUE = 2;

    /** RFC 5041, Section 4.3: the MSN of the first message in each queue and direction. */
    public static final int FIRST_MSN = 1;

    private static final int TAGGED = 0x80;
    private static final int LAST = 0x40;
    private static final int VERSION_MASK = 0x03;

    private static final int RDMAP_CONTROL = 1;
    private static final int STAG = 2;
    private static final int TAGGED_OFFSET = 6;
    private static final int QUEUE_NUMBER = 6;
    private static final int MSN = 10;
    private static final int MESSAGE_OFFSET = 14;

    private DdpHeader() {}

    /** The first octet, as it is. */
    public static int control(ByteBuffer segment, int at) {
        return Byte.toUnsignedInt(segment.get(at));
    }

    public static boolean isTagged(ByteBuffer segment, int at) {
        return (segment.get(at) & TAGGED) != 0;
    }

    public static boolean isLast(ByteBuffer segment, int at) {
        return (segment.get(at) & LAST) != 0;
    }

    /** The DDP version. RFC 5041, Section 4.1: the four reserved bits above it are not checked. */
    public static int version(ByteBuffer segment, int at) {
        return segment.get(at) & VERSION_MASK;
    }

    /** 14 or 18, by the T bit. */
    public static int headerBytes(ByteBuffer segment, int at) {
        return isTagged(segment, at) ? TAGGED_BYTES : UNTAGGED_BYTES;
    }

    /** The octet that DDP carries for RDMAP. */
    public static int rdmapControl(ByteBuffer segment, int at) {
        return Byte.toUnsignedInt(segment.get(at + RDMAP_CONTROL));
    }

    public static int taggedStag(ByteBuffer segment, int at) {
        return segment.getInt(at + STAG);
    }

    public static long taggedOffset(ByteBuffer segment, int at) {
        return segment.getLong(at + TAGGED_OFFSET);
    }

    public static int invalidateStag(ByteBuffer segment, int at) {
        return segment.getInt(at + STAG);
    }

    public static int queueNumber(ByteBuffer segment, int at) {
        return segment.getInt(at + QUEUE_NUMBER);
    }

    public static int msn(ByteBuffer segment, int at) {
        return segment.getInt(at + MSN);
    }

    public static int messageOffset(ByteBuffer segment, int at) {
        return segment.getInt(at + MESSAGE_OFFSET);
    }

    /** Writes a tagged header; returns its size. */
    public static int putTagged(ByteBuffer target, int at, boolean last, int rdmapControl, int stag, long to) {
        target.put(at, (byte) (TAGGED | (last ? LAST : 0) | VERSION));
        target.put(at + RDMAP_CONTROL, (byte) rdmapControl);
        target.putInt(at + STAG, stag);
        target.putLong(at + TAGGED_OFFSET, to);
        return TAGGED_BYTES;
    }

    /** Sets the L bit of a header: its segment is the last of the message. */
    public static void markLast(ByteBuffer target, int at) {
        target.put(at, (byte) (target.get(at) | LAST));
    }

    /** Writes an untagged header; returns its size. */
    public static int putUntagged(
            ByteBuffer target, int at, boolean last, int rdmapControl, int invalidateStag, int qn, int msn, int mo) {
        target.put(at, (byte) ((last ? LAST : 0) | VERSION));
        target.put(at + RDMAP_CONTROL, (byte) rdmapControl);
        target.putInt(at + STAG, invalidateStag);
        target.putInt(at + QUEUE_NUMBER, qn);
        target.putInt(at + MSN, msn);
        target.putInt(at + MESSAGE_OFFSET, mo);
        return UNTAGGED_BYTES;
    }
}
