// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs.cm;

/** Told of peers that want to connect. */
@FunctionalInterface
public interface ConnectRequestHandler {

    /** Called on a thread of the device; must not block. The request may be answered later, from any thread. */
    void onConnectRequest(ConnectRequest request);
}
