// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.contract;

import org.rpcrdma4j.verbs.cm.ConnectOptions;

/**
 * How a test's endpoint is made.
 *
 * @param sendDepth depth of its send queue
 * @param receiveDepth depth of its receive queue
 * @param maxSges most entries of a work request
 * @param oneQueue whether both queues report to the same completion queue
 * @param receives how many Receives of {@link Endpoint#RECEIVE_BYTES} are posted before the connection is made
 * @param connect how to connect or accept
 */
record EndpointOptions(
        int sendDepth, int receiveDepth, int maxSges, boolean oneQueue, int receives, ConnectOptions connect) {

    static final EndpointOptions DEFAULT =
            new EndpointOptions(32, 32, 2, false, 0, ConnectOptions.DEFAULT.withPeerToPeer(true));

    EndpointOptions withDepths(int send, int receive) {
        return new EndpointOptions(send, receive, maxSges, oneQueue, receives, connect);
    }

    EndpointOptions withMaxSges(int value) {
        return new EndpointOptions(sendDepth, receiveDepth, value, oneQueue, receives, connect);
    }

    EndpointOptions withOneQueue() {
        return new EndpointOptions(sendDepth, receiveDepth, maxSges, true, receives, connect);
    }

    EndpointOptions withReceives(int count) {
        return new EndpointOptions(sendDepth, receiveDepth, maxSges, oneQueue, count, connect);
    }

    EndpointOptions withConnect(ConnectOptions value) {
        return new EndpointOptions(sendDepth, receiveDepth, maxSges, oneQueue, receives, value);
    }
}
