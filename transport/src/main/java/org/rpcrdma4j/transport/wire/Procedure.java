// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.wire;

/** What a transport message is: the fourth word of its header. */
public enum Procedure {
    /** The RPC message follows the header. */
    RDMA_MSG(0),
    /** A chunk holds the whole RPC message; nothing follows the header. */
    RDMA_NOMSG(1),
    /** Dropped by version 1: received from old peers, never sent (RFC 8166, Section 4.6.1). */
    RDMA_MSGP(2),
    /** Dropped by version 1: received from old peers, never sent (RFC 8166, Section 4.6.2). */
    RDMA_DONE(3),
    /** The message with this XID could not be processed. Only Responders send it. */
    RDMA_ERROR(4),
    /** A word that version 1 gives no meaning. Never sent. */
    UNKNOWN(-1);

    private final int word;

    Procedure(int word) {
        this.word = word;
    }

    /** The procedure with that number, {@link #UNKNOWN} if there is none. */
    public static Procedure of(int word) {
        return switch (word) {
            case 0 -> RDMA_MSG;
            case 1 -> RDMA_NOMSG;
            case 2 -> RDMA_MSGP;
            case 3 -> RDMA_DONE;
            case 4 -> RDMA_ERROR;
            default -> UNKNOWN;
        };
    }

    /** Its number on the wire. */
    public int word() {
        return word;
    }
}
