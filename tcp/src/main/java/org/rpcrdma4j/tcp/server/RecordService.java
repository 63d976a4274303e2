// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.server;

import java.io.IOException;

/** What is behind a server of whole records: makes a handler for each connection. For programs there is {@link TcpRpcServer#builder}. */
@FunctionalInterface
public interface RecordService {

    /**
     * A connection is there; none of its records has been read. Called on a thread of the connection, which it may block.
     *
     * @throws IOException to have the connection closed
     */
    RecordHandler accept(RecordConnection connection) throws IOException;
}
