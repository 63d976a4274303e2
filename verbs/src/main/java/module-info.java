// SPDX-License-Identifier: Apache-2.0

import org.jspecify.annotations.NullMarked;

/** The RDMA interface everyone programs against; uses nothing but java.base. */
@NullMarked
module org.rpcrdma4j.verbs {
    requires static transitive org.jspecify;

    exports org.rpcrdma4j.verbs;
    exports org.rpcrdma4j.verbs.cm;
    exports org.rpcrdma4j.verbs.spi;

    uses org.rpcrdma4j.verbs.spi.RdmaProvider;
}
