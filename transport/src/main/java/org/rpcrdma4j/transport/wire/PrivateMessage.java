// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.wire;

import java.nio.ByteBuffer;
import org.rpcrdma4j.verbs.cm.Octets;

/**
 * What the two ends tell each other in the private data of the connection set-up (RFC 8797). Holds for one connection; the next
 * may bring other values (Section 4).
 *
 * <pre>
 * byte 0  f6 ab 0e 18    names the format
 *      4  1              version
 *      5  flags          0x01: the sender's memory may be invalidated by Send With Invalidate; others 0, ignored
 *      6  send size      the largest Send of this end: (byte + 1) * 1024
 *      7  receive size   the receive buffers of this end: (byte + 1) * 1024
 * </pre>
 *
 * Sizes are multiples of 1024; the constructor rounds down, and takes more than {@link #MAX_BYTES} for that.
 *
 * @param remoteInvalidation whether this end supports remote invalidation
 * @param sendBytes the largest message that it will Send
 * @param receiveBytes the largest message that it can receive
 */
public record PrivateMessage(boolean remoteInvalidation, int sendBytes, int receiveBytes) {
    /** Bytes of the block. */
    public static final int BYTES = 8;

    /** The smallest size: every receiver takes as much (RFC 8166, Section 3.3.3). */
    public static final int MIN_BYTES = 1024;

    /** The largest size that can be told. */
    public static final int MAX_BYTES = 256 * 1024;

    /** RFC 8797, Section 5.1: what holds for a peer that says nothing, or nothing that can be understood. */
    public static final PrivateMessage DEFAULT = new PrivateMessage(false, MIN_BYTES, MIN_BYTES);

    private static final int IDENTIFIER = 0xF6AB0E18;
    private static final int VERSION = 1;
    private static final int REMOTE_INVALIDATION = 0x01;
    private static final int UNIT = 1024;
    private static final int VERSION_OFFSET = 4;
    private static final int FLAGS_OFFSET = 5;
    private static final int SEND_OFFSET = 6;
    private static final int RECEIVE_OFFSET = 7;

    /** Rounds the sizes to what can be told; refuses those below {@link #MIN_BYTES}. */
    public PrivateMessage {
        sendBytes = rounded(sendBytes);
        receiveBytes = rounded(receiveBytes);
    }

    private static int rounded(int bytes) {
        if (bytes < MIN_BYTES) {
            throw new IllegalArgumentException("messages have at least %d bytes, not %d".formatted(MIN_BYTES, bytes));
        }
        return Math.min(bytes, MAX_BYTES) / UNIT * UNIT;
    }

    /** The block as it is sent. */
    public Octets encode() {
        return Octets.of(ByteBuffer.allocate(BYTES)
                .putInt(IDENTIFIER)
                .put((byte) VERSION)
                .put((byte) (remoteInvalidation ? REMOTE_INVALIDATION : 0))
                .put((byte) (sendBytes / UNIT - 1))
                .put((byte) (receiveBytes / UNIT - 1))
                .array());
    }

    /**
     * Looks for the block in private data, which may hold other things before and behind it (RFC 8797, Section 5.2: at any byte).
     * One that is cut or has an unknown version is none; the search goes on behind it.
     *
     * @return the block's content, or {@link #DEFAULT}
     */
    public static PrivateMessage find(Octets privateData) {
        ByteBuffer data = ByteBuffer.wrap(privateData.toByteArray());
        for (int at = 0; at <= data.limit() - BYTES; at++) {
            if (data.getInt(at) == IDENTIFIER && data.get(at + VERSION_OFFSET) == VERSION) {
                return new PrivateMessage(
                        (data.get(at + FLAGS_OFFSET) & REMOTE_INVALIDATION) != 0,
                        size(data.get(at + SEND_OFFSET)),
                        size(data.get(at + RECEIVE_OFFSET)));
            }
        }
        return DEFAULT;
    }

    private static int size(byte units) {
        return (Byte.toUnsignedInt(units) + 1) * UNIT;
    }

    /** The largest message that this end may Send to that peer (RFC 8797, Section 4.2). */
    public int sendThreshold(PrivateMessage peer) {
        return Math.min(sendBytes, peer.receiveBytes);
    }

    /** The largest message that this end must expect from that peer. */
    public int receiveThreshold(PrivateMessage peer) {
        return Math.min(receiveBytes, peer.sendBytes);
    }

    /** Whether Send With Invalidate is allowed: RFC 8797, Section 4.1: only if both ends support it. */
    public boolean allowsRemoteInvalidation(PrivateMessage peer) {
        return remoteInvalidation && peer.remoteInvalidation;
    }
}
