// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import org.rpcrdma4j.transport.connection.EndpointOptions;
import org.rpcrdma4j.transport.event.ConnectionLabel;
import org.rpcrdma4j.transport.event.TransportEvents;
import org.rpcrdma4j.transport.wire.PrivateMessage;
import org.rpcrdma4j.verbs.DeviceAttributes;
import org.rpcrdma4j.verbs.cm.ConnectRequest;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;

/**
 * What one connection is dimensioned by: the server's options, as far as device and client allow.
 *
 * @param credits calls that the client may have unanswered
 * @param reverseCredits calls that we may have unanswered
 * @param outboundReads RDMA Reads outstanding at a time
 * @param maxSges entries of one work request
 * @param sendThreshold longest message that we send and the client receives
 * @param mayInvalidate whether replies may invalidate
 */
record ConnectionSizes(
        int credits, int reverseCredits, int outboundReads, int maxSges, int sendThreshold, boolean mayInvalidate) {

    static ConnectionSizes of(ServerContext context, ConnectRequest request) {
        ServerOptions options = context.options();
        DeviceAttributes device = context.device().attributes();
        int reads = Math.min(Math.min(options.outboundReads(), device.maxOutboundReads()), request.peerInboundReads());
        if (reads < 1) {
            throw new IllegalArgumentException("the client serves " + request.peerInboundReads()
                    + " RDMA Reads at a time, and the device makes " + device.maxOutboundReads()
                    + ": at least 1 is needed");
        }
        int reverse = options.reverseCredits();
        // Depths: receives are credits + reverse + 1; sends are twice that and the Reads.
        int most = Math.min(device.maxWorkRequests() - reads, (device.maxCompletions() - reads) / 3) - reverse - 2;
        int credits = Math.min(options.credits(), Math.max(1, most));
        PrivateMessage peer = PrivateMessage.find(request.privateData());
        PrivateMessage own = privateMessage(options);
        return new ConnectionSizes(
                credits,
                reverse,
                reads,
                Math.min(device.maxSges(), 16),
                own.sendThreshold(peer),
                own.allowsRemoteInvalidation(peer));
    }

    EndpointOptions endpoint(ServerOptions options, DeviceAttributes device) {
        int buffers = credits + reverseCredits;
        return new EndpointOptions(
                Math.min(device.maxWorkRequests(), sendPlaces() + outboundReads),
                receives(),
                buffers,
                options.sendBytes(),
                options.receiveBytes(),
                maxSges,
                options.drainTimeout().toNanos());
    }

    /** Work requests of replies and reverse calls. */
    int sendPlaces() {
        return 2 * (credits + reverseCredits) + 2;
    }

    int receives() {
        return credits + reverseCredits + 1;
    }

    /** Tells what was agreed on an established connection. */
    void tell(ConnectionLabel label, ConnectionInfo info, ServerOptions options) {
        PrivateMessage peer = PrivateMessage.find(info.privateData());
        TransportEvents.connectionEstablished(
                label,
                info,
                sendThreshold,
                options.receiveBytes(),
                peer.sendBytes(),
                peer.receiveBytes(),
                credits,
                mayInvalidate);
    }

    /** What we tell the client of us. */
    static PrivateMessage privateMessage(ServerOptions options) {
        return new PrivateMessage(options.remoteInvalidation(), options.sendBytes(), options.receiveBytes());
    }

    /**
     * The credits for a reply. RFC 8166, Section 3.3.1: never 0, and never more than there are Receives for. Of those posted, one is kept to
     * see an overrun, and some are for replies to reverse calls.
     *
     * @param receives posted, and those that hold calls
     */
    int grant(int receives) {
        return Math.max(1, Math.min(credits, receives - reverseCredits - 1));
    }
}
