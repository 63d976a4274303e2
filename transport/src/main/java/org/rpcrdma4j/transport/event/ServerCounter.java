// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

/**
 * What a server counts, over all its connections. Where Linux counts the same thing in {@code /proc/sys/sunrpc/svc_rdma}, its name
 * there is given.
 */
public enum ServerCounter {
    // Connections.

    /** Connections established. */
    CONNECTS,
    /** Requests for a connection that did not lead to one. */
    ACCEPT_FAILURES,
    /** Connections that were established and have ended, whoever ended them. */
    DISCONNECTS,

    // Messages.

    /** {@code rdma_stat_recv}: messages received, whatever is in them. */
    RECEIVES,
    /** Calls whose header was accepted. */
    CALLS,
    /** Replies that the send queue took; error replies not included. */
    REPLIES,
    /** Of {@link #REPLIES}: sent as RDMA_NOMSG with a Reply chunk. */
    NOMSG_REPLIES,
    /** Replies that could not be sent: the connection had ended, or the reply did not fit what the client offered. */
    REPLY_FAILURES,
    /** Of {@link #REPLY_FAILURES}: the call was executed, and then its reply did not fit what the client offered. Answered with ERR_CHUNK. */
    REPLIES_WITHOUT_ROOM,
    /** Calls beyond the granted credits. */
    CREDIT_OVERRUNS,

    // Calls that are wrong.

    /** Received messages whose transport header is bad, or not for a Responder; the sum of those below. */
    BAD_CALLS,
    /** Of {@link #BAD_CALLS}: shorter than the header must be. Dropped. */
    BAD_CALLS_SHORT,
    /** Of {@link #BAD_CALLS}: not version 1. Answered with ERR_VERS. */
    BAD_CALLS_VERSION,
    /** Of {@link #BAD_CALLS}: a procedure that is unknown. */
    BAD_CALLS_PROCEDURE,
    /** Of {@link #BAD_CALLS}: RDMA_DONE, or RDMA_ERROR without a reverse call. Dropped. */
    BAD_CALLS_DROPPED,
    /** Of {@link #BAD_CALLS}: chunk lists that cannot be read, are beyond the limits, or leave no room for any reply. Not executed. */
    BAD_CALLS_CHUNKS,
    /** Of {@link #BAD_CALLS}: the RPC message does not fit the header. */
    BAD_CALLS_MESSAGE,
    /** RDMA_ERROR with ERR_VERS sent. */
    ERRORS_SENT_VERSION,
    /** RDMA_ERROR with ERR_CHUNK sent. */
    ERRORS_SENT_CHUNK,

    // RDMA.

    /** {@code rdma_stat_read}: chains of RDMA Reads posted. */
    READS,
    /** {@code rdma_stat_write}: chains of RDMA Writes posted. */
    WRITES,
    /** Segments of Read lists in accepted calls. */
    READ_SEGMENTS,
    /** Segments of Write lists in accepted calls. */
    WRITE_SEGMENTS,
    /** Segments of Reply chunks in accepted calls. */
    REPLY_SEGMENTS,
    /** Bytes that RDMA Reads brought. */
    BYTES_READ,
    /** Bytes that RDMA Writes took to clients. */
    BYTES_WRITTEN,
    /** Sum of the times from posting the Reads of a call to their last completion, in nanoseconds. */
    READ_NANOS,
    /** Bytes copied into a send buffer behind the header. */
    PULLUP_COPIES,
    /** Replies whose Send asked the client's device to invalidate a region. */
    REMOTE_INVALIDATIONS,
    /** Calls whose RDMA Reads or Writes could not be prepared: memory, bounds of a segment, or limits. */
    RDMA_PREPARE_FAILURES,

    // Queues.

    /** {@code rdma_stat_sq_starve}: a chain had to wait because the send queue had not enough room. */
    SEND_QUEUE_FULL,
    /** Sum of those waits, in nanoseconds. */
    SEND_QUEUE_WAIT_NANOS,
    /** Chains that the queue pair refused, in part or whole. */
    POST_ERRORS,
    /** Completions that failed otherwise than by being flushed. */
    COMPLETION_ERRORS,
    /** Completions that were flushed. */
    COMPLETIONS_FLUSHED,

    // Reverse direction.

    /** Calls sent to clients. */
    REVERSE_CALLS,
    /** Their replies that were matched. */
    REVERSE_REPLIES,
    /** Reverse calls that ended without a reply. */
    REVERSE_CALLS_FAILED,
    /** Reverse replies for which no call waits. */
    REVERSE_BAD_XIDS
}
