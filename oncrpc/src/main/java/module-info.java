// SPDX-License-Identifier: Apache-2.0

import org.jspecify.annotations.NullMarked;

/** The RDMA transport for oncrpc4j: a client's transport and a service. The only module that sees oncrpc4j and Grizzly. */
@NullMarked
module org.rpcrdma4j.oncrpc {
    requires transitive org.rpcrdma4j.transport;
    requires transitive org.rpcrdma4j.verbs;
    requires transitive org.dcache.oncrpc4j;
    requires transitive grizzly.framework;
    requires java.security.jgss;
    requires jdk.security.auth;
    requires static transitive org.jspecify;

    exports org.rpcrdma4j.oncrpc;
}
