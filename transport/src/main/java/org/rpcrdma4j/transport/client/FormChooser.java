// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import org.rpcrdma4j.transport.wire.HeaderEncoder;

/**
 * Which form a call takes, by its sizes and the thresholds of its connection: pure arithmetic.
 *
 * <pre>
 *   results                                        offered
 *   target given                                   Write chunk over the target
 *   largest reply left does not fit a message      Reply chunk
 *
 *   arguments                                      sent as
 *   whole call fits a message                      RDMA_MSG, inline
 *   call without its item fits                     RDMA_MSG, item in a Read chunk
 *   else                                           RDMA_NOMSG, call in a Position-Zero Read chunk
 * </pre>
 *
 * RFC 8166, Section 3.5.2: reducing an eligible argument is the Requester's choice, so an item that fits goes inline. A result is not:
 * with a target it always goes there (Section 4.3.2).
 */
final class FormChooser {

    /** How the arguments travel. */
    enum ArgumentForm {
        /** All in the message. */
        INLINE,
        /** The item by a Read chunk. */
        READ_CHUNK,
        /** All by a Position-Zero Read chunk. */
        LONG_CALL
    }

    private final int sendThreshold;
    private final int receiveThreshold;

    /**
     * For one connection.
     *
     * @param sendThreshold longest message to the server
     * @param receiveThreshold longest message from the server
     */
    FormChooser(int sendThreshold, int receiveThreshold) {
        this.sendThreshold = sendThreshold;
        this.receiveThreshold = receiveThreshold;
    }

    int sendThreshold() {
        return sendThreshold;
    }

    int receiveThreshold() {
        return receiveThreshold;
    }

    /** RFC 8166, Section 4.3.3: a Reply chunk is offered whenever the largest reply, header included, may exceed the threshold. */
    boolean needsReplyChunk(long maxReplyBytes, int writeSegments) {
        int header = HeaderEncoder.length(0, writeSegments == 0 ? 0 : 1, writeSegments, HeaderEncoder.NO_REPLY_CHUNK);
        return header + replyCapacity(maxReplyBytes) > receiveThreshold;
    }

    /** Room that replies of up to so many bytes take: an RPC message has a multiple of 4 (RFC 4506, Section 3). */
    static long replyCapacity(long maxReplyBytes) {
        return maxReplyBytes & ~3L;
    }

    /** The form, as far as it is known before the item is registered: then {@link #fits} must be asked once more. */
    ArgumentForm argumentForm(CallMessage message, int writeSegments, int replySegments) {
        if (fits(0, writeSegments, replySegments, message.totalBytes())) {
            return ArgumentForm.INLINE;
        }
        return message.itemBytes() > 0 && fits(1, writeSegments, replySegments, reducedBytes(message))
                ? ArgumentForm.READ_CHUNK
                : ArgumentForm.LONG_CALL;
    }

    /** The call's length without its item. RFC 8166, Section 3.4.4.4: the item's pad is taken out with it. */
    static long reducedBytes(CallMessage message) {
        return message.head().byteSize() + message.tail().byteSize();
    }

    /** RFC 8166, Section 4.2.4: header and payload of one message together stay within the threshold. */
    boolean fits(int readSegments, int writeSegments, int replySegments, long payloadBytes) {
        return headerBytes(readSegments, writeSegments, replySegments) + payloadBytes <= sendThreshold;
    }

    private static int headerBytes(int readSegments, int writeSegments, int replySegments) {
        return HeaderEncoder.length(
                readSegments,
                writeSegments == 0 ? 0 : 1,
                writeSegments,
                replySegments == 0 ? HeaderEncoder.NO_REPLY_CHUNK : replySegments);
    }
}
