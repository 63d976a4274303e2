// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

/** Serves what the server asks of the client (RFC 8167). */
@FunctionalInterface
public interface ReverseHandler {

    /**
     * Called on the client's callback executor for each call. May answer later, but must answer: each call takes one of the reverse
     * credits until then. If this throws, SYSTEM_ERR is answered.
     */
    void onCall(ReverseCall call);
}
