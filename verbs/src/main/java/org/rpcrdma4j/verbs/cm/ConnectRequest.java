// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs.cm;

import java.net.InetSocketAddress;
import org.rpcrdma4j.verbs.QueuePair;

/**
 * A peer's wish to connect: answered exactly once, by {@link #accept} or {@link #reject}. One that is not answered in time is
 * rejected.
 */
public interface ConnectRequest {

    /** The peer's address. */
    InetSocketAddress remoteAddress();

    /** The address that it came to. */
    InetSocketAddress localAddress();

    /** The peer's private data; possibly with trailing bytes, by some devices. */
    Octets privateData();

    /** How many RDMA Reads the peer can serve at a time (its IRD): bounds our ORD. */
    int peerInboundReads();

    /** How many RDMA Reads the peer wants to have outstanding (its ORD): wants our IRD. */
    int peerOutboundReads();

    /**
     * Accepts on an idle queue pair, which should have its Receives posted. The listener gets {@link
     * ConnectionListener#onEstablished}, or {@link ConnectionListener#onRefused} if the connection was lost meanwhile.
     *
     * @throws IllegalStateException if the request was answered already or the queue pair is not idle
     */
    void accept(QueuePair queuePair, ConnectOptions options, ConnectionListener listener);

    /**
     * Refuses.
     *
     * @param privateData for the peer; may be empty
     * @throws IllegalStateException if the request was answered already
     */
    void reject(Octets privateData);
}
