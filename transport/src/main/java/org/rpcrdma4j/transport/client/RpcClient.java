// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;

/**
 * Sends RPC calls to one server, over whatever transport. Each call ends exactly once, with a reply or a {@link TransportException}, and
 * never before its memory is the caller's again.
 *
 * <p>All methods may be called from any thread.
 */
public interface RpcClient extends AutoCloseable {

    /** An XID that this client has not given out before, within 2^32. */
    int nextXid();

    /**
     * Sends a call. {@link CompletableFuture#cancel} gives it up; the future then completes when the call's memory is the caller's again.
     * It completes on a thread of the client, so dependents must not block.
     *
     * @throws IllegalArgumentException if a call of the same XID has not ended, or the message does not fit the client's bindings
     */
    CompletableFuture<Reply> send(CallMessage message);

    /**
     * Sends a call and waits for its reply. If the thread is interrupted, the call is given up, and the thread's interrupt status set.
     *
     * @throws TransportException if the call ends without a reply
     */
    Reply call(CallMessage message) throws TransportException;

    /** The server's address. */
    InetSocketAddress remoteAddress();

    /** Ends the client; calls without reply fail. Waits until nothing of them is left, for a bounded time. */
    @Override
    void close();
}
