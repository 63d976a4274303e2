// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.server;

import java.util.function.Consumer;
import org.rpcrdma4j.transport.event.Counters;

/**
 * What all connections of a server share.
 *
 * @param memory for records
 * @param results for results: memory of its own, so that calls that wait to be read don't keep those that were read from being answered
 * @param onClosed is told once of each connection that has ended
 */
record TcpServerContext(
        TcpServerOptions options,
        RecordService service,
        RecordMemory memory,
        RecordMemory results,
        Counters<TcpServerCounter> counters,
        Consumer<TcpServerConnection> onClosed) {}
