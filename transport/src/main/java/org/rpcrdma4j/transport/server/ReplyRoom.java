// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.wire.HeaderEncoder;
import org.rpcrdma4j.transport.wire.TransportHeader;
import org.rpcrdma4j.transport.wire.WriteList;

/**
 * Whether a client has left room for a reply to its call. What can be told before the call is executed is told before: the reply's
 * transport header has all Write chunks and the Reply chunk of the call in it (RFC 8166, Sections 4.3.2 and 4.3.3) and must fit inline
 * whatever the form, and a call that succeeds has results of a certain size at the least. Of a call that is refused nothing is executed, so
 * its client knows where it stands. How long the reply really is turns out later: see {@link ReplyPlanner}.
 *
 * <p>Pure; any thread.
 */
final class ReplyRoom {

    private static final ValueLayout.OfInt WORD = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    // Of an RPC call: RFC 5531, Section 9.
    private static final int PROGRAM = 12;
    private static final int VERSION = 16;
    private static final int PROCEDURE = 20;
    private static final int NAMED = 24;

    private final int threshold;
    private final Bindings bindings;

    /**
     * For one connection.
     *
     * @param threshold longest message that the client receives and we send
     */
    ReplyRoom(int threshold, Bindings bindings) {
        this.threshold = threshold;
        this.bindings = bindings;
    }

    /** Bytes that a reply message may have beside its Write chunks; 0 if not even the header fits. */
    long bytes(TransportHeader header) {
        WriteList writes = header.writeList();
        int headerBytes = HeaderEncoder.length(
                0,
                writes.chunks(),
                writes.segments().size(),
                header.hasReplyChunk() ? header.replyChunk().size() : HeaderEncoder.NO_REPLY_CHUNK);
        return headerBytes > threshold
                ? 0
                : Math.max(threshold - headerBytes, header.replyChunk().totalLength());
    }

    /**
     * Whether there is room for the smallest reply that a call can have if it succeeds.
     *
     * @param header the call's
     * @param memory holds the beginning of the RPC call message
     * @param offset where that begins
     * @param length its bytes there; if they are too few to tell the procedure, what all replies have must fit
     */
    boolean suffices(TransportHeader header, MemorySegment memory, long offset, long length) {
        long least = ReplyHeader.MIN_SUCCESS_LENGTH;
        if (length >= NAMED) {
            least += bindings.smallestResults(
                    memory.get(WORD, offset + PROGRAM),
                    memory.get(WORD, offset + VERSION),
                    memory.get(WORD, offset + PROCEDURE));
        }
        return least <= bytes(header);
    }
}
