// SPDX-License-Identifier: Apache-2.0

import org.jspecify.annotations.NullMarked;

/** RPC-over-RDMA version 1: client, server, and the memory registration below them. Knows no device: those are found by name. */
@NullMarked
module org.rpcrdma4j.transport {
    requires transitive org.rpcrdma4j.verbs;
    requires jdk.jfr;
    requires static transitive org.jspecify;

    exports org.rpcrdma4j.transport.client;
    exports org.rpcrdma4j.transport.connection;
    exports org.rpcrdma4j.transport.event;
    exports org.rpcrdma4j.transport.rpc;
    exports org.rpcrdma4j.transport.server;
    exports org.rpcrdma4j.transport.frwr;
    exports org.rpcrdma4j.transport.time;
    exports org.rpcrdma4j.transport.ulb;
    exports org.rpcrdma4j.transport.xdr;
    exports org.rpcrdma4j.transport.wire;
}
