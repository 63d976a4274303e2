// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

/** Where a client says what happens to its calls and regions, for the flight recorder; see {@link TransportEvents}. */
public final class ClientEvents {

    private ClientEvents() {}

    /**
     * A call was marshalled.
     *
     * @param headBytes of the RPC message before the item
     * @param itemBytes of the item
     * @param tailBytes behind it
     */
    public static void marshal(
            ConnectionLabel connection,
            int xid,
            int headerBytes,
            long headBytes,
            long itemBytes,
            long tailBytes,
            ChunkForm callForm,
            ChunkForm replyForm) {
        if (CallEvents.Marshal.PROBE.isEnabled()) {
            CallEvents.Marshal event = new CallEvents.Marshal();
            event.label(connection);
            event.xid = Integer.toUnsignedLong(xid);
            event.headerBytes = headerBytes;
            event.headBytes = headBytes;
            event.itemBytes = itemBytes;
            event.tailBytes = tailBytes;
            event.callForm = callForm.name();
            event.replyForm = replyForm.name();
            event.commit();
        }
    }

    /** A call could not be marshalled, now or at all. */
    public static void marshalFailed(ConnectionLabel connection, int xid, String cause) {
        if (CallEvents.MarshalFailed.PROBE.isEnabled()) {
            CallEvents.MarshalFailed event = new CallEvents.MarshalFailed();
            event.label(connection);
            event.xid = Integer.toUnsignedLong(xid);
            event.cause = cause;
            event.commit();
        }
    }

    /**
     * A segment was put into a call.
     *
     * @param position of a Read segment, otherwise 0
     * @param segmentsLeft how many of the list follow
     */
    public static void chunkOffered(
            ConnectionLabel connection,
            int xid,
            ChunkList list,
            int position,
            int handle,
            long length,
            long offset,
            int segmentsLeft) {
        if (CallEvents.ChunkOffered.PROBE.isEnabled()) {
            CallEvents.ChunkOffered event = new CallEvents.ChunkOffered();
            event.label(connection);
            event.xid = Integer.toUnsignedLong(xid);
            event.list = list.name();
            event.position = position;
            event.handle = Integer.toUnsignedLong(handle);
            event.length = length;
            event.offset = offset;
            event.segmentsLeft = segmentsLeft;
            event.commit();
        }
    }

    /** A call has to wait because no region is free. */
    public static void regionsExhausted(ConnectionLabel connection, int xid) {
        if (CallEvents.RegionsExhausted.PROBE.isEnabled()) {
            CallEvents.RegionsExhausted event = new CallEvents.RegionsExhausted();
            event.label(connection);
            event.xid = Integer.toUnsignedLong(xid);
            event.commit();
        }
    }

    /** Memory of a call could not be registered for its Send. */
    public static void pinFailed(ConnectionLabel connection, int xid, long length, String detail) {
        if (RegionEvents.PinFailed.PROBE.isEnabled()) {
            RegionEvents.PinFailed event = new RegionEvents.PinFailed();
            event.label(connection);
            event.xid = Integer.toUnsignedLong(xid);
            event.length = length;
            event.detail = detail;
            event.commit();
        }
    }

    /**
     * A region has changed.
     *
     * @param region its number
     * @param registration how many registrations it has had, with the one meant
     * @param wrId the work request that does it, or 0
     * @param xid the call it serves, or 0
     * @param remoteWrite whether the registration is for the peer to write
     */
    public static void regionState(
            ConnectionLabel connection,
            RegionTransition transition,
            int region,
            int registration,
            long wrId,
            int xid,
            int pieces,
            int handle,
            long length,
            long offset,
            boolean remoteWrite) {
        if (RegionEvents.RegionState.PROBE.isEnabled()) {
            RegionEvents.RegionState event = new RegionEvents.RegionState();
            event.label(connection);
            event.transition = transition.name();
            event.region = region;
            event.registration = registration;
            event.wrId = wrId;
            event.xid = Integer.toUnsignedLong(xid);
            event.pieces = pieces;
            event.handle = Integer.toUnsignedLong(handle);
            event.length = length;
            event.offset = offset;
            event.remoteWrite = remoteWrite;
            event.commit();
        }
    }

    /**
     * The device did not create a region.
     *
     * @param existing how many the connection has
     */
    public static void regionAllocationFailed(ConnectionLabel connection, int existing, String detail) {
        if (RegionEvents.RegionAllocFailed.PROBE.isEnabled()) {
            RegionEvents.RegionAllocFailed event = new RegionEvents.RegionAllocFailed();
            event.label(connection);
            event.existing = existing;
            event.detail = detail;
            event.commit();
        }
    }

    /** The device did not take a region back: it is an orphan now. */
    public static void regionReleaseFailed(ConnectionLabel connection, int region, String detail) {
        if (RegionEvents.RegionReleaseFailed.PROBE.isEnabled()) {
            RegionEvents.RegionReleaseFailed event = new RegionEvents.RegionReleaseFailed();
            event.label(connection);
            event.region = region;
            event.detail = detail;
            event.commit();
        }
    }

    /**
     * Memory could not be given to a region.
     *
     * @param mapped how many of the pieces the device took
     */
    public static void regionMapFailed(
            ConnectionLabel connection, int region, int xid, int pieces, int mapped, String detail) {
        if (RegionEvents.RegionMapFailed.PROBE.isEnabled()) {
            RegionEvents.RegionMapFailed event = new RegionEvents.RegionMapFailed();
            event.label(connection);
            event.region = region;
            event.xid = Integer.toUnsignedLong(xid);
            event.pieces = pieces;
            event.mapped = mapped;
            event.detail = detail;
            event.commit();
        }
    }

    /**
     * A reply was matched with its call.
     *
     * @param rdmaBytes how many bytes the peer says it returned by RDMA Write
     */
    public static void reply(
            ConnectionLabel connection, int xid, int creditsGranted, long length, long rdmaBytes, long sinceSendNanos) {
        if (CallEvents.Reply.PROBE.isEnabled()) {
            CallEvents.Reply event = new CallEvents.Reply();
            event.label(connection);
            event.xid = Integer.toUnsignedLong(xid);
            event.creditsGranted = creditsGranted;
            event.length = length;
            event.rdmaBytes = rdmaBytes;
            event.sinceSend = sinceSendNanos;
            event.commit();
        }
    }

    /**
     * A call was handed back to its caller.
     *
     * @param outcome {@code REPLIED} or the kind of failure
     * @param fenceNanos how long its memory took to be shut to the peer, from the reply or from giving up
     * @param handOverNanos from then to the hand-over
     */
    public static void callEnded(
            ConnectionLabel connection, int xid, Enum<?> outcome, long tookNanos, long fenceNanos, long handOverNanos) {
        if (CallEvents.CallEnded.PROBE.isEnabled()) {
            CallEvents.CallEnded event = new CallEvents.CallEnded();
            event.label(connection);
            event.xid = Integer.toUnsignedLong(xid);
            event.outcome = outcome.name();
            event.took = tookNanos;
            event.fence = fenceNanos;
            event.handOver = handOverNanos;
            event.commit();
        }
    }

    /**
     * The memory of a call that was given up is shut to the peer.
     *
     * @param byDisconnect whether only the end of the connection did it
     */
    public static void cancelledCallFenced(ConnectionLabel connection, int xid, int regions, boolean byDisconnect) {
        if (CallEvents.CancelledRpcFenced.PROBE.isEnabled()) {
            CallEvents.CancelledRpcFenced event = new CallEvents.CancelledRpcFenced();
            event.label(connection);
            event.xid = Integer.toUnsignedLong(xid);
            event.regions = regions;
            event.byDisconnect = byDisconnect;
            event.commit();
        }
    }

    /** A received message is wrong. What could not be read of it is 0. */
    public static void badReply(
            ConnectionLabel connection, int xid, BadMessage cause, int version, int procedure, long length) {
        if (CallEvents.BadReply.PROBE.isEnabled()) {
            CallEvents.BadReply event = new CallEvents.BadReply();
            event.label(connection);
            event.xid = Integer.toUnsignedLong(xid);
            event.cause = cause.name();
            event.version = version;
            event.procedure = procedure;
            event.length = length;
            event.commit();
        }
    }

    /** The peer sent RDMA_ERROR. The versions are those of ERR_VERS, otherwise 0. */
    public static void peerError(
            ConnectionLabel connection, int xid, PeerError cause, int lowVersion, int highVersion) {
        if (CallEvents.PeerError.PROBE.isEnabled()) {
            CallEvents.PeerError event = new CallEvents.PeerError();
            event.label(connection);
            event.xid = Integer.toUnsignedLong(xid);
            event.cause = cause.name();
            event.lowVersion = lowVersion;
            event.highVersion = highVersion;
            event.commit();
        }
    }
}
