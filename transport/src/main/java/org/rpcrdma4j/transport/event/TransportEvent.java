// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/** What all events of the flight recorder have. Off unless a recording's settings say otherwise. */
@Category("RPC/RDMA")
@Enabled(false)
@StackTrace(false)
abstract class TransportEvent extends Event {

    @Label("Connection Id")
    @Description("Number of the endpoint; with the work request id it joins posts and completions")
    long connectionId;

    @Label("Generation")
    @Description("How many connections this client, or server, has had with this one")
    int generation;

    @Label("Side")
    @Nullable
    String side;

    @Label("Peer")
    @Nullable
    String peer;

    final void label(ConnectionLabel connection) {
        connectionId = connection.connectionId();
        generation = connection.generation();
        side = connection.side().name();
        peer = connection.peer();
    }
}
