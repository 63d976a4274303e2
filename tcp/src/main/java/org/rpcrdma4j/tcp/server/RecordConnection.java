// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.server;

import java.net.InetSocketAddress;

/** A connection of a {@link TcpRpcServer}, as its {@link RecordHandler} sees it. Any thread may call any method. */
public interface RecordConnection {

    /** Identifies the connection in logs. */
    long id();

    /** The client's address. */
    InetSocketAddress remoteAddress();

    /** Breaks the connection off: what was taken of it gets no reply. Doing it again changes nothing. */
    void abort(String reason);
}
