// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import org.rpcrdma4j.verbs.Access;

/** What the peer may do with registered memory: one thing, never both (RFC 8166, Section 8.1.3). */
public enum PeerAccess {
    /** It may read: segments of a Read list. */
    READ,
    /** It may write: segments of Write chunks and of the Reply chunk. */
    WRITE;

    /** The rights that a registration needs for it. */
    public Access access() {
        return switch (this) {
            case READ -> Access.REMOTE_READ;
            case WRITE -> Access.REMOTE_WRITE;
        };
    }
}
