// SPDX-License-Identifier: Apache-2.0

import org.jspecify.annotations.NullMarked;

/** The RDMA transport for oncrpc4j: a client's transport and a service. */
@NullMarked
module org.rpcrdma4j.oncrpc {
    requires transitive org.rpcrdma4j.transport;
    requires transitive org.rpcrdma4j.verbs;
    requires static transitive org.jspecify;
}
