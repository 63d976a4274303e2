// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.contract;

/**
 * Two connected endpoints.
 *
 * @param client the one that connected
 * @param server the one that accepted
 */
record ConnectedPair(Endpoint client, Endpoint server) {

    void poll() {
        client.poll();
        server.poll();
    }

    String describe() {
        return "client: " + client.describe() + System.lineSeparator() + "server: " + server.describe();
    }
}
