// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import java.lang.foreign.MemorySegment;

/** A call that the server makes to the client over the client's own connection (RFC 8167). Answered once, from any thread. */
public interface ReverseCall {

    /** Its XID, of the server's own counting: it may be that of one of our calls too. */
    int xid();

    /** The RPC call message, from its XID on, in memory of its own. */
    MemorySegment message();

    /** Most bytes that {@link #reply} takes. RFC 8167, Section 4.2: the thresholds are those of the forward calls. */
    int maxReplyBytes();

    /**
     * Sends the RPC reply message; its bytes are copied. If the connection has ended meanwhile the reply is dropped: the server may ask
     * again on the next one.
     *
     * @throws IllegalArgumentException if it is longer than {@link #maxReplyBytes}, or its XID is not that of the call, or it is no
     *     reply
     * @throws IllegalStateException if it was answered already
     */
    void reply(MemorySegment message);
}
