// SPDX-License-Identifier: Apache-2.0

import org.jspecify.annotations.NullMarked;

/** Forwards ONC RPC between TCP and RDMA. */
@NullMarked
module org.rpcrdma4j.bridge {
    requires transitive org.rpcrdma4j.transport;
    requires transitive org.rpcrdma4j.tcp;
    requires transitive org.rpcrdma4j.verbs;
    requires static transitive org.jspecify;

    exports org.rpcrdma4j.bridge;
}
