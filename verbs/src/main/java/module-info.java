// SPDX-License-Identifier: Apache-2.0

import org.jspecify.annotations.NullMarked;

/** The RDMA interface everyone programs against; uses nothing but java.base. */
@NullMarked
module org.rpcrdma4j.verbs {
    requires static org.jspecify;
}
