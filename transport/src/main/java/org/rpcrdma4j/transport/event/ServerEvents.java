// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

/** Where a server says what happens to requests, for the flight recorder; see {@link TransportEvents}. */
public final class ServerEvents {

    private ServerEvents() {}

    /**
     * A request for a connection did not lead to one.
     *
     * @param stage what could not be done, such as {@code PRIVATE_DATA}, {@code ENDPOINT}, {@code RECEIVES}, {@code ACCEPT}
     */
    public static void acceptFailed(ConnectionLabel connection, String stage, String detail) {
        if (ConnectionEvents.AcceptFailed.PROBE.isEnabled()) {
            ConnectionEvents.AcceptFailed event = new ConnectionEvents.AcceptFailed();
            event.label(connection);
            event.stage = stage;
            event.detail = detail;
            event.commit();
        }
    }

    /**
     * The header of a call was accepted.
     *
     * @param wrId that of the Receive
     */
    public static void callReceived(
            ConnectionLabel connection,
            long wrId,
            int xid,
            int procedure,
            int creditsRequested,
            int headerBytes,
            long length) {
        if (RequestEvents.CallReceived.PROBE.isEnabled()) {
            RequestEvents.CallReceived event = new RequestEvents.CallReceived();
            event.label(connection);
            event.wrId = wrId;
            event.xid = Integer.toUnsignedLong(xid);
            event.procedure = procedure;
            event.creditsRequested = creditsRequested;
            event.headerBytes = headerBytes;
            event.length = length;
            event.commit();
        }
    }

    /**
     * A received message is wrong. What could not be read of it is 0.
     *
     * @param wrId that of the Receive
     */
    public static void badCall(
            ConnectionLabel connection, long wrId, int xid, BadMessage cause, int version, int procedure, long length) {
        if (RequestEvents.BadCall.PROBE.isEnabled()) {
            RequestEvents.BadCall event = new RequestEvents.BadCall();
            event.label(connection);
            event.wrId = wrId;
            event.xid = Integer.toUnsignedLong(xid);
            event.cause = cause.name();
            event.version = version;
            event.procedure = procedure;
            event.length = length;
            event.commit();
        }
    }

    /**
     * A segment of an accepted call.
     *
     * @param segment its number in the list
     * @param position of a Read segment, otherwise 0
     */
    public static void chunkDecoded(
            ConnectionLabel connection,
            int xid,
            ChunkList list,
            int segment,
            int position,
            int handle,
            long length,
            long offset) {
        if (RequestEvents.ChunkDecoded.PROBE.isEnabled()) {
            RequestEvents.ChunkDecoded event = new RequestEvents.ChunkDecoded();
            event.label(connection);
            event.xid = Integer.toUnsignedLong(xid);
            event.list = list.name();
            event.segment = segment;
            event.position = position;
            event.handle = Integer.toUnsignedLong(handle);
            event.length = length;
            event.offset = offset;
            event.commit();
        }
    }

    /** A segment of a reply, with the length that was written. */
    public static void chunkReturned(
            ConnectionLabel connection, int xid, ChunkList list, int segment, int handle, long length, long offset) {
        if (RequestEvents.ChunkReturned.PROBE.isEnabled()) {
            RequestEvents.ChunkReturned event = new RequestEvents.ChunkReturned();
            event.label(connection);
            event.xid = Integer.toUnsignedLong(xid);
            event.list = list.name();
            event.segment = segment;
            event.handle = Integer.toUnsignedLong(handle);
            event.length = length;
            event.offset = offset;
            event.commit();
        }
    }

    /** RDMA_ERROR was handed to the send queue. */
    public static void errorSent(ConnectionLabel connection, int xid, PeerError cause) {
        if (RequestEvents.ErrorSent.PROBE.isEnabled()) {
            RequestEvents.ErrorSent event = new RequestEvents.ErrorSent();
            event.label(connection);
            event.xid = Integer.toUnsignedLong(xid);
            event.cause = cause.name();
            event.commit();
        }
    }

    /**
     * RDMA Reads or Writes could not be prepared.
     *
     * @param cause such as {@code MEMORY}, {@code SEGMENT_TOO_SMALL}, {@code TOO_MANY_SEGMENTS}
     */
    public static void rdmaPrepareFailed(ConnectionLabel connection, int xid, String cause, String detail) {
        if (RequestEvents.RdmaPrepareFailed.PROBE.isEnabled()) {
            RequestEvents.RdmaPrepareFailed event = new RequestEvents.RdmaPrepareFailed();
            event.label(connection);
            event.xid = Integer.toUnsignedLong(xid);
            event.cause = cause;
            event.detail = detail;
            event.commit();
        }
    }

    /**
     * The Reads of a call have ended, well or not.
     *
     * @param tookNanos from their post to their last completion
     */
    public static void readEnded(ConnectionLabel connection, int xid, long length, long tookNanos) {
        if (RequestEvents.ReadEnded.PROBE.isEnabled()) {
            RequestEvents.ReadEnded event = new RequestEvents.ReadEnded();
            event.label(connection);
            event.xid = Integer.toUnsignedLong(xid);
            event.length = length;
            event.took = tookNanos;
            event.commit();
        }
    }

    /** A reply could not be sent. */
    public static void replyFailed(ConnectionLabel connection, int xid, String detail) {
        if (RequestEvents.ReplyFailed.PROBE.isEnabled()) {
            RequestEvents.ReplyFailed event = new RequestEvents.ReplyFailed();
            event.label(connection);
            event.xid = Integer.toUnsignedLong(xid);
            event.detail = detail;
            event.commit();
        }
    }
}
