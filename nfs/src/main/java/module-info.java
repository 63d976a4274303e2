// SPDX-License-Identifier: Apache-2.0

import java.nio.file.spi.FileSystemProvider;
import org.jspecify.annotations.NullMarked;
import org.rpcrdma4j.nfs.filesystem.NfsFileSystemProvider;

/** NFS version 3 (RFC 1813): a server of a directory, a client, and a file system for java.nio.file. */
@NullMarked
module org.rpcrdma4j.nfs {
    requires transitive org.rpcrdma4j.transport;
    requires transitive org.rpcrdma4j.tcp;
    requires transitive org.rpcrdma4j.verbs;
    requires static transitive org.jspecify;

    exports org.rpcrdma4j.nfs.client;
    exports org.rpcrdma4j.nfs.export;
    exports org.rpcrdma4j.nfs.filesystem;
    exports org.rpcrdma4j.nfs.local;
    exports org.rpcrdma4j.nfs.protocol;
    exports org.rpcrdma4j.nfs.server;

    provides FileSystemProvider with
            NfsFileSystemProvider;
}
