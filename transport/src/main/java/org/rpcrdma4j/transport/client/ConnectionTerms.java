// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import org.rpcrdma4j.transport.event.ConnectionLabel;
import org.rpcrdma4j.transport.event.TransportEvents;
import org.rpcrdma4j.transport.wire.PrivateMessage;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.cm.ConnectOptions;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;

/**
 * What both ends said when they connected (RFC 8797). Holds for one connection: on the next one the server may say something else
 * (Section 4).
 */
record ConnectionTerms(PrivateMessage own, PrivateMessage peer) {

    private static final int MOST_READS = 255;

    /** What we say, in the form of options to connect with. */
    static ConnectOptions offer(ClientOptions options, RdmaDevice device) {
        // The server reads our memory, we never read its.
        int reads = Math.min(device.attributes().maxInboundReads(), MOST_READS);
        return ConnectOptions.DEFAULT
                .withPrivateData(own(options).encode())
                .withReads(reads, 0)
                .withTimeout(options.connectTimeout());
    }

    private static PrivateMessage own(ClientOptions options) {
        // RFC 8797, Section 4.1: only if any handle of any call may be invalidated, and that of the pad must stay.
        boolean remoteInvalidation = options.remoteInvalidation() && !options.offerWritePad();
        return new PrivateMessage(remoteInvalidation, options.inlineSendBytes(), options.inlineReceiveBytes());
    }

    /** What came of it. */
    static ConnectionTerms of(ClientOptions options, ConnectionInfo info) {
        return new ConnectionTerms(own(options), PrivateMessage.find(info.privateData()));
    }

    /** Chooses forms by these thresholds. */
    FormChooser chooser() {
        return new FormChooser(own.sendThreshold(peer), own.receiveThreshold(peer));
    }

    void report(ConnectionLabel label, ConnectionInfo info, int credits) {
        TransportEvents.connectionEstablished(
                label,
                info,
                own.sendThreshold(peer),
                own.receiveThreshold(peer),
                peer.sendBytes(),
                peer.receiveBytes(),
                credits,
                own.remoteInvalidation());
    }
}
