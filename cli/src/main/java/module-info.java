// SPDX-License-Identifier: Apache-2.0

import org.jspecify.annotations.NullMarked;

/** The command line tool; providers are found as services. */
@NullMarked
module org.rpcrdma4j.cli {
    requires info.picocli;
    requires java.logging;
    requires java.management;
    requires jdk.management;
    // For signals; see StopSignal.
    requires jdk.unsupported;
    requires org.rpcrdma4j.bridge;
    requires org.dcache.oncrpc4j;
    // It needs these and, having no descriptor, cannot say so.
    requires com.google.common;
    requires org.slf4j;
    requires org.rpcrdma4j.nfs;
    requires org.rpcrdma4j.tcp;
    requires org.rpcrdma4j.transport;
    requires org.rpcrdma4j.verbs;
    requires static org.jspecify;

    opens org.rpcrdma4j.cli to
            info.picocli;
}
