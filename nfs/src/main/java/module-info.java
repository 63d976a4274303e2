// SPDX-License-Identifier: Apache-2.0

import org.jspecify.annotations.NullMarked;

/** NFS version 3 (RFC 1813): a server of a directory, a client, and a file system for java.nio.file. */
@NullMarked
module org.rpcrdma4j.nfs {
    requires transitive org.rpcrdma4j.transport;
    requires transitive org.rpcrdma4j.tcp;
    requires transitive org.rpcrdma4j.verbs;
    requires static transitive org.jspecify;

    exports org.rpcrdma4j.nfs.client;
    exports org.rpcrdma4j.nfs.export;
    exports org.rpcrdma4j.nfs.local;
    exports org.rpcrdma4j.nfs.protocol;
    exports org.rpcrdma4j.nfs.server;
}
