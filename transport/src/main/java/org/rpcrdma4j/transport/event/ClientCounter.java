// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

/**
 * What a client counts. Where Linux counts the same thing in the {@code xprt: rdma} line of {@code /proc/self/mountstats}, its name
 * there is given; see {@link MountstatsLine}.
 */
public enum ClientCounter {
    // The connection.

    /** {@code connect_count}: connections established. */
    CONNECTS,
    /** {@code connect_time}, in nanoseconds: from the begin of each attempt, successful or not, to its outcome. */
    CONNECT_NANOS,
    /** Attempts that were refused or ran out of time. */
    CONNECT_FAILURES,
    /** Connections established after the first. */
    RECONNECTS,
    /** Connections that were established and have ended, whoever ended them. */
    DISCONNECTS,

    // Calls.

    /** Calls that were given to the client. */
    CALLS,
    /** {@code sends}: messages with a call that the send queue took, retransmissions included. */
    SENDS,
    /** {@code recvs}: replies that were matched with a waiting call. */
    RECEIVES,
    /** {@code bad_xids}: replies for which no call waits. Some after a reconnect are normal. */
    BAD_XIDS,
    /** {@code req_u}: at each send, {@link #SENDS} minus {@link #RECEIVES} is added. Divided by the sends: mean number in flight. */
    IN_FLIGHT_SUM,
    /** {@code bklog_u}: at each send, the number of calls that wait for a credit is added. */
    BACKLOG_SUM,
    /** Calls sent again on a new connection. */
    RETRANSMISSIONS,
    /** Calls that failed by their deadline. */
    TIMEOUTS,
    /** Calls that their caller gave up. */
    CANCELS,
    /** Calls that ended without a reply, for whatever reason, the two before included. */
    CALLS_FAILED,
    /** Replies to calls that had been given up: the credit is free again. Not in {@link #BAD_XIDS}. */
    LATE_REPLIES,

    // Marshalling.

    /** {@code read_chunks}: segments of Read lists, each one, at each send. */
    READ_CHUNKS,
    /** {@code write_chunks}: segments of Write lists, one for pad included. */
    WRITE_CHUNKS,
    /** {@code reply_chunks}: segments of Reply chunks. */
    REPLY_CHUNKS,
    /** {@code total_rdma_req}: bytes offered in Write and Reply segments. For a pad segment its own length is added. */
    TOTAL_RDMA_REQUEST,
    /** {@code total_rdma_rep}: bytes that replies returned by RDMA Write. */
    TOTAL_RDMA_REPLY,
    /** {@code pullup}: bytes copied into a send buffer behind the RPC header. */
    PULLUP_COPIES,
    /** {@code fixup}: bytes copied out of a receive buffer into the caller's memory. */
    FIXUP_COPIES,
    /** {@code hardway}: bytes of buffers that were allocated, or replaced by larger ones, for a call. */
    HARDWAY_BYTES,
    /** {@code failed_marshal}: calls that could not be marshalled at this time or at all, want of regions included. */
    FAILED_MARSHALS,
    /** Of {@link #FAILED_MARSHALS}: no region was free; the call waits. */
    REGIONS_EXHAUSTED,
    /** {@code nomsg_calls}: calls sent as RDMA_NOMSG. */
    NOMSG_CALLS,

    // Replies that are wrong.

    /** {@code bad_reply}: received messages whose transport header is bad, and error replies; the sum of those below. */
    BAD_REPLIES,
    /** Of {@link #BAD_REPLIES}: shorter than the header must be. */
    BAD_REPLIES_SHORT,
    /** Of {@link #BAD_REPLIES}: not version 1. */
    BAD_REPLIES_VERSION,
    /** Of {@link #BAD_REPLIES}: a procedure that is unknown, or not for a Requester. */
    BAD_REPLIES_PROCEDURE,
    /** Of {@link #BAD_REPLIES}: chunk lists that cannot be read, or are not those that were offered. */
    BAD_REPLIES_CHUNKS,
    /** Of {@link #BAD_REPLIES}: the RPC message behind the header does not fit it. */
    BAD_REPLIES_MESSAGE,
    /** Of {@link #BAD_REPLIES}: RDMA_ERROR with ERR_VERS. */
    PEER_ERRORS_VERSION,
    /** Of {@link #BAD_REPLIES}: RDMA_ERROR with ERR_CHUNK. */
    PEER_ERRORS_CHUNK,
    /** Of {@link #BAD_REPLIES}: RDMA_ERROR with an unknown code. */
    PEER_ERRORS_UNKNOWN,

    // Regions.

    /** {@code allocated_mrs}: regions created. Only grows. */
    REGIONS_ALLOCATED,
    /** Regions that the device did not create. */
    REGION_ALLOCATION_FAILURES,
    /** Memory that could not be given to a region: the device refused the pieces, or was short of resources. */
    REGION_MAP_FAILURES,
    /** {@code recovered_mrs}: regions of unknown state that recovery brought back to use. */
    REGIONS_RECOVERED,
    /** Regions that were open to the peer when their connection ended: deregistered with it; their calls went on with other regions. */
    REGIONS_RECLAIMED,
    /** {@code orphaned_mrs}: regions that could not be given back; kept, never used again. */
    REGIONS_ORPHANED,
    /** Registrations that were posted. */
    REGISTRATIONS,
    /** {@code local_invalidates}: regions for which a local invalidation was posted, each one. */
    LOCAL_INVALIDATIONS,
    /** Regions of a reply that the peer had invalidated with its Send. */
    REMOTE_INVALIDATIONS,
    /** Messages that invalidated a region which is not one of the call that they answer. */
    FOREIGN_INVALIDATIONS,
    /** Calls given up whose memory was shut to the peer before they ended. */
    CALLS_FENCED,
    /** Fences that only the end of the connection could bring about. */
    FENCES_BY_DISCONNECT,

    // Queues.

    /** {@code empty_sendctx_q}: a call had to wait because all send buffers are with Sends that have not completed. */
    EMPTY_SEND_CONTEXTS,
    /** {@code reply_waits_for_send}: replies that came before the completion of their call's Send, so that the call's slot waits. */
    REPLY_WAITS_FOR_SEND,
    /** Chains that the queue pair refused, in part or whole. */
    POST_ERRORS,
    /** Completions that failed otherwise than by being flushed. */
    COMPLETION_ERRORS,
    /** Completions that were flushed. */
    COMPLETIONS_FLUSHED,

    // Reverse direction.

    /** {@code bcall_count}, not printed by Linux: calls of the server that were received. */
    REVERSE_CALLS,
    /** Answers to them that were sent. */
    REVERSE_REPLIES,
    /** Reverse calls that were dropped: not enabled, malformed, or more than there are credits. */
    REVERSE_CALLS_DROPPED
}
