// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.rpcrdma4j.transport.xdr.XdrReader;

/**
 * The reply to a call: the RPC reply without the result that was placed, and how much was placed. Nobody else refers to its memory any
 * more, save the caller's own reply buffer.
 */
public final class Reply {

    private static final ValueLayout.OfInt XDR_INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final MemorySegment memory;
    private final int messageBytes;
    private final long placedBytes;
    private final int transmissions;

    Reply(MemorySegment memory, long messageBytes, long placedBytes, int transmissions) {
        this.memory = memory;
        this.messageBytes = (int) messageBytes;
        this.placedBytes = placedBytes;
        this.transmissions = transmissions;
    }

    /**
     * A reply that came over another transport, for its implementations of {@link RpcClient}.
     *
     * @param message the RPC reply without the placed result; becomes the reply's
     * @param placedBytes what lies in the call's target
     * @param transmissions how often the call was sent
     */
    public static Reply of(MemorySegment message, long placedBytes, int transmissions) {
        return new Reply(message, message.byteSize(), placedBytes, transmissions);
    }

    /** The call's XID. */
    public int xid() {
        return memory.get(XDR_INT, 0);
    }

    /**
     * The RPC reply message, from its XID on. A result that went to the call's target is left out with its pad; its count word is
     * there. Lies in the call's reply buffer if it has one.
     */
    public MemorySegment message() {
        return memory.byteSize() == messageBytes ? memory : memory.asSlice(0, messageBytes);
    }

    /** Has a reader begin with {@link #message}, which is not made for it. */
    public void readWith(XdrReader reader) {
        reader.reset(memory, messageBytes);
    }

    /** Length of {@link #message}. */
    public int messageBytes() {
        return messageBytes;
    }

    /** {@link #message} as a buffer. */
    public ByteBuffer toByteBuffer() {
        return message().asByteBuffer();
    }

    /**
     * Bytes that the server placed in the call's target, in the order of its pieces. RFC 8166, Section 4.3.2.2: 0 says that nothing was
     * returned there; the target may have been changed nevertheless.
     */
    public long placedBytes() {
        return placedBytes;
    }

    /**
     * How often the call was sent. If more than once, on several connections, the server may have executed it more than once, unless it
     * keeps the replies of calls that it must not repeat.
     */
    public int transmissions() {
        return transmissions;
    }

    @Override
    public String toString() {
        return "Reply[xid 0x" + Integer.toHexString(xid()) + ", " + messageBytes + " bytes, " + placedBytes
                + " placed]";
    }
}
