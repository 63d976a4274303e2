// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

/** The program behind a server. */
@FunctionalInterface
public interface RequestHandler {

    /**
     * A complete RPC call is there. Called on one of the server's handler threads, which it may block. The request is answered by {@link
     * ServerRequest#reply}, now or later, from any thread, exactly once.
     *
     * @throws Exception if the call cannot be served: it is answered with SYSTEM_ERR, unless it was answered already
     */
    void onRequest(ServerRequest request) throws Exception;

    /**
     * A connection ends, whoever ends it: replies to its calls, which are still to be given, go nowhere from here on. Called once, on some
     * thread of the server or its device; must not block.
     *
     * @param connectionId see {@link ServerRequest#connectionId}; also of connections on which no call came
     */
    default void onConnectionEnd(long connectionId) {}
}
