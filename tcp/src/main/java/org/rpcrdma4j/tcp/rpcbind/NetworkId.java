// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.rpcbind;

import java.net.Inet4Address;
import java.net.InetAddress;

/** The network identifiers that matter here (RFC 5665, Section 5; RFC 8166, Section 9 for those of RDMA). */
public enum NetworkId {
    /** TCP over IPv4. */
    TCP("tcp"),
    /** TCP over IPv6. */
    TCP6("tcp6"),
    /** RPC-over-RDMA, IPv4 addresses. */
    RDMA("rdma"),
    /** RPC-over-RDMA, IPv6 addresses. */
    RDMA6("rdma6");

    private final String text;

    NetworkId(String text) {
        this.text = text;
    }

    /** As it is written in messages. */
    public String text() {
        return text;
    }

    /** That of TCP for the family of the address. */
    public static NetworkId tcpFor(InetAddress address) {
        return address instanceof Inet4Address ? TCP : TCP6;
    }

    /** That of RDMA for the family of the address. */
    public static NetworkId rdmaFor(InetAddress address) {
        return address instanceof Inet4Address ? RDMA : RDMA6;
    }
}
