// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mem;

import org.rpcrdma4j.verbs.Access;

/** What is to be done to the memory of a region, and for whom. */
public enum AccessKind {
    /** Gathered for a message of ours. */
    LOCAL_READ,
    /** Target of a Receive or an RDMA Read of ours. */
    LOCAL_WRITE,
    /** Source of an RDMA Read of the peer. */
    REMOTE_READ,
    /** Target of an RDMA Write of the peer. */
    REMOTE_WRITE;

    boolean isAllowedBy(Access access) {
        return switch (this) {
            case LOCAL_READ -> true;
            case LOCAL_WRITE -> access.localWrite();
            case REMOTE_READ -> access.remoteRead();
            case REMOTE_WRITE -> access.remoteWrite();
        };
    }
}
