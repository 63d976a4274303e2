// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs.cm;

import java.time.Duration;
import java.util.Objects;

/**
 * How to connect or accept.
 *
 * @param privateData for the peer
 * @param inboundReads RDMA Reads of the peer that we serve at a time (IRD)
 * @param outboundReads RDMA Reads of ours outstanding at a time (ORD)
 * @param peerToPeer whether either side may send first (RFC 6581). Without it, on iWARP, what the accepting side posts waits until
 *     the connecting side has sent something; some cards demand it. Only for connect
 * @param timeout limit for the whole set-up
 */
public record ConnectOptions(
        Octets privateData, int inboundReads, int outboundReads, boolean peerToPeer, Duration timeout) {

    /** No private data, 16 reads each way, 10 seconds. */
    public static final ConnectOptions DEFAULT =
            new ConnectOptions(Octets.EMPTY, 16, 16, false, Duration.ofSeconds(10));

    public ConnectOptions {
        Objects.requireNonNull(privateData, "privateData");
        Objects.requireNonNull(timeout, "timeout");
        if (inboundReads < 0 || outboundReads < 0) {
            throw new IllegalArgumentException(
                    "inboundReads " + inboundReads + ", outboundReads " + outboundReads + ": must not be negative");
        }
        if (timeout.isNegative() || timeout.isZero()) {
            throw new IllegalArgumentException("timeout " + timeout + " must be positive");
        }
    }

    /** The same with other private data. */
    public ConnectOptions withPrivateData(Octets data) {
        return new ConnectOptions(data, inboundReads, outboundReads, peerToPeer, timeout);
    }

    /** The same with other read limits. */
    public ConnectOptions withReads(int inbound, int outbound) {
        return new ConnectOptions(privateData, inbound, outbound, peerToPeer, timeout);
    }

    /** The same with peer-to-peer set-up on or off. */
    public ConnectOptions withPeerToPeer(boolean value) {
        return new ConnectOptions(privateData, inboundReads, outboundReads, value, timeout);
    }

    /** The same with another limit. */
    public ConnectOptions withTimeout(Duration value) {
        return new ConnectOptions(privateData, inboundReads, outboundReads, peerToPeer, value);
    }
}
