// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.server;

/** What a server over TCP counts, over all its connections. */
public enum TcpServerCounter {
    /** Connections accepted. */
    CONNECTS,
    /** Connections closed at once: there were too many, or they could not be served. */
    REFUSED_CONNECTS,
    /** Accepted connections that have ended, whoever ended them. */
    DISCONNECTS,
    /** Of {@link #DISCONNECTS}: ended because no call came for too long. */
    IDLE_DISCONNECTS,
    /** Of {@link #DISCONNECTS}: ended because a record or a reply made no progress for too long. */
    STALLED_DISCONNECTS,
    /** Of {@link #DISCONNECTS}: ended because of records that are too long, badly marked, or no calls. */
    BAD_RECORDS,
    /** Whole records received. */
    RECORDS,
    /** Records sent. */
    REPLIES,
    /** Replies that could not be sent: the connection had ended. */
    REPLY_FAILURES,
    /** Times that a connection was not read because it had as many calls unanswered as it may. */
    READS_HELD,
    /** Times that a record had to wait for memory. */
    MEMORY_WAITS,
    /** Bytes read, marks included. */
    BYTES_RECEIVED,
    /** Bytes written, marks included. */
    BYTES_SENT
}
