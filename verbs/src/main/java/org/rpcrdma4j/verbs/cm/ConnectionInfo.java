// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs.cm;

import java.net.InetSocketAddress;

/**
 * What was agreed.
 *
 * @param localAddress our end
 * @param remoteAddress the peer's end
 * @param privateData what the peer sent with its request or answer
 * @param inboundReads RDMA Reads of the peer that we serve at a time (our IRD)
 * @param outboundReads RDMA Reads of ours outstanding at a time (our ORD)
 * @param peerInboundReads the peer's IRD as it said
 * @param peerOutboundReads the peer's ORD as it said
 * @param details in words, device by device: revision, digest, segment size
 */
public record ConnectionInfo(
        InetSocketAddress localAddress,
        InetSocketAddress remoteAddress,
        Octets privateData,
        int inboundReads,
        int outboundReads,
        int peerInboundReads,
        int peerOutboundReads,
        String details) {}
