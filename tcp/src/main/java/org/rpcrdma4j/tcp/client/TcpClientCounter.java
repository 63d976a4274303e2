// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.client;

/** What a client over TCP counts. */
public enum TcpClientCounter {
    /** Connections made. */
    CONNECTS,
    /** Attempts to connect that failed. */
    CONNECT_FAILURES,
    /** Connections that were made and have ended, whoever ended them. */
    DISCONNECTS,
    /** Calls that were given to the client. */
    CALLS,
    /** Calls written to a connection, second times included. */
    TRANSMISSIONS,
    /** Of {@link #TRANSMISSIONS}: sent again on another connection. */
    RETRANSMISSIONS,
    /** Calls that ended with a reply. */
    REPLIES,
    /** Replies without a call: late ones of calls that were given up, or of none. */
    UNKNOWN_REPLIES,
    /** Replies that did not fit their calls, and records that are no reply. */
    BAD_REPLIES,
    /** Calls that ended at their deadline. */
    TIMEOUTS,
    /** Calls that ended without a reply, for whatever reason. */
    FAILURES,
    /** Bytes written, marks included. */
    BYTES_SENT,
    /** Bytes read, marks included. */
    BYTES_RECEIVED,
    /** Of {@link #BYTES_RECEIVED}: bytes of results that went to the targets of their calls. */
    BYTES_PLACED
}
