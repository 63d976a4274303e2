// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.bridge;

import java.net.InetSocketAddress;

/**
 * One end of a bridge: where it listens, or what it connects to.
 *
 * @param kind how RPC is carried there
 * @param address where; port 0 to listen on any that is free
 */
public record BridgeEnd(Kind kind, InetSocketAddress address) {

    /** How RPC is carried. */
    public enum Kind {
        /** Over TCP with record marking (RFC 5531, Section 11). */
        TCP,
        /** Over RPC-over-RDMA version 1 (RFC 8166). */
        RDMA
    }

    /** An end over TCP. */
    public static BridgeEnd tcp(InetSocketAddress address) {
        return new BridgeEnd(Kind.TCP, address);
    }

    /** An end over RDMA. */
    public static BridgeEnd rdma(InetSocketAddress address) {
        return new BridgeEnd(Kind.RDMA, address);
    }
}
