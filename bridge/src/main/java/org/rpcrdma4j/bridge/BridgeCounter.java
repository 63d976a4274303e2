// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.bridge;

/** What a bridge counts. */
public enum BridgeCounter {
    /** Connections of clients, each of which got one to the server. */
    CONNECTIONS,
    /** Calls that came, whatever became of them. */
    CALLS,
    /** Of {@link #CALLS}: retransmissions of calls that were under way; they were dropped. */
    DUPLICATES,
    /** Of {@link #CALLS}: answered here, since they can't be forwarded: no calls of version 2, or too long. */
    ANSWERED_HERE,
    /** Calls sent with an argument apart, which may travel by a Read chunk. */
    ARGUMENTS_APART,
    /** Replies of the server that were passed on. */
    REPLIES,
    /** Of {@link #REPLIES}: with a result that was placed directly. */
    RESULTS_PLACED,
    /** Results that had to stay in their messages because there was no memory to place them in. */
    RESULTS_WITHOUT_MEMORY,
    /** Calls that ended without a reply of the server. */
    FAILURES,
    /** Connections of clients ended because the server can't be reached: the clients send their calls again. */
    CONNECTIONS_DROPPED
}
