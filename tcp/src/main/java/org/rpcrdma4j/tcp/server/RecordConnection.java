// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.server;

import org.rpcrdma4j.transport.rpc.CallerConnection;

/** A connection of a {@link TcpRpcServer}, as its {@link RecordHandler} sees it. Any thread may call any method. */
public interface RecordConnection extends CallerConnection {

    /** Identifies the connection in logs. */
    long id();

    /** Breaks the connection off: what was taken of it gets no reply. Doing it again changes nothing. */
    void abort(String reason);
}
