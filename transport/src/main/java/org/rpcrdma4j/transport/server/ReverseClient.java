// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * Calls from the server to one client, over the client's connection (RFC 8167). Inline only: no chunks in this direction.
 *
 * <p>RFC 8167, Section 6: no call is made before the client has said that it takes some; only the program knows how it says so, and tells it
 * by {@link #enable}. With the connection all of this ends; the server cannot connect (Section 5.4).
 */
public interface ReverseClient {

    /** The client has said that it takes calls. */
    void enable();

    /** The client takes none any more. Calls that wait fail. */
    void disable();

    /** Bytes of the longest RPC call message. */
    int maxCallBytes();

    /**
     * Calls.
     *
     * @param message an RPC call message; copied before this returns. Its first word is replaced by an XID of this direction
     * @param timeout limit for the whole call
     * @return the RPC reply message, in memory of its own; fails with {@link ReverseCallException}
     */
    CompletableFuture<MemorySegment> call(MemorySegment message, Duration timeout);
}
