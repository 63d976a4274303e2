// SPDX-License-Identifier: Apache-2.0

import org.jspecify.annotations.NullMarked;

/** ONC RPC over TCP (RFC 5531, Section 11): the same programs and calls as over RDMA, and the look-up of ports. */
@NullMarked
module org.rpcrdma4j.tcp {
    requires transitive org.rpcrdma4j.transport;
    requires transitive org.rpcrdma4j.verbs;
    requires static transitive org.jspecify;

    exports org.rpcrdma4j.tcp.client;
    exports org.rpcrdma4j.tcp.rpcbind;
    exports org.rpcrdma4j.tcp.server;
}
