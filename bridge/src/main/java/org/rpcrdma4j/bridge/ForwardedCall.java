// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.bridge;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.server.ReplyPieces;

/**
 * A call that came from a client, with the way back. Exactly one of {@link #reply}, {@link #replyHeader}, {@link #dropDuplicate} and {@link
 * #dropConnection} ends it; its memory is not to be used afterwards.
 */
interface ForwardedCall {

    /** The RPC message, unreduced, in pieces. */
    List<MemorySegment> message();

    /**
     * Memory for the reply, from which it goes on without being copied.
     *
     * @throws IllegalArgumentException if none is so large
     * @throws IllegalStateException if it is used up
     */
    MemorySegment allocate(long bytes);

    /** Whether large replies are better received in memory of {@link #allocate} than in their own. */
    boolean sendsFromAllocated();

    /** Passes the reply on. Its memory stays as it is; doesn't block. */
    void reply(ReplyPieces reply);

    /** Answers with a header alone. */
    void replyHeader(ReplyHeader header);

    /** A call of this XID is under way on the same connection. */
    void dropDuplicate();

    /** Ends the client's connection, so that it sends its calls again. */
    void dropConnection(String reason);
}
