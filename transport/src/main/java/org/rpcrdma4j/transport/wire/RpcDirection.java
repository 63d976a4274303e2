// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.wire;

/** The direction word of an RPC message: the second, behind the XID. It alone tells forward and reverse messages apart (RFC 8167). */
public enum RpcDirection {
    /** A call: at a client, a reverse call. */
    CALL,
    /** A reply: at a server, the reply to a reverse call. */
    REPLY,
    /** Not to be seen: the message is too short, in a chunk, or neither of the two. */
    UNKNOWN;

    /** The direction that a word names. */
    public static RpcDirection of(int word) {
        return switch (word) {
            case 0 -> CALL;
            case 1 -> REPLY;
            default -> UNKNOWN;
        };
    }
}
