// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;
import org.rpcrdma4j.verbs.cm.Octets;

/** Each hook called once with everything, and what a recording must show of it. */
final class EventCases {

    static final ConnectionLabel LABEL = new ConnectionLabel(7, 2, ConnectionLabel.Side.CLIENT, "peer:20049");
    private static final int XID = 0xFEDC_BA98;
    private static final long XID_SHOWN = 0xFEDC_BA98L;
    private static final int HANDLE = 0x8000_1203;
    private static final long HANDLE_SHOWN = 0x8000_1203L;
    private static final InetSocketAddress ADDRESS = new InetSocketAddress(InetAddress.getLoopbackAddress(), 20049);
    private static final ConnectionInfo INFO =
            new ConnectionInfo(ADDRESS, ADDRESS, Octets.EMPTY, 16, 16, 16, 16, "MPA revision 2");
    private static final PostResult.Refused REFUSED =
            new PostResult.Refused(1, PostResult.Reason.QUEUE_FULL, "64 of 64 places taken");

    private EventCases() {}

    /** A hook called with values, the event that it makes, and the fields that the event must have. */
    record Case(String event, Runnable hook, Map<String, Object> fields) {

        private Case shows(Object... namesAndValues) {
            Map<String, Object> all = new TreeMap<>(fields);
            for (int i = 0; i < namesAndValues.length; i += 2) {
                all.put((String) namesAndValues[i], namesAndValues[i + 1]);
            }
            return new Case(event, hook, all);
        }
    }

    private static Case of(String event, Runnable hook) {
        return new Case("rpcrdma." + event, hook, Map.of());
    }

    static WorkCompletion success() {
        WorkCompletion completion = new WorkCompletion();
        completion.set(0x0500_0001_0000_0002L, WorkCompletion.Status.SUCCESS, WorkCompletion.Operation.RECEIVE, 7, 128);
        completion.setInvalidated(HANDLE);
        return completion;
    }

    static WorkCompletion failure(WorkCompletion.Status status) {
        WorkCompletion completion = new WorkCompletion();
        completion.set(5, status, WorkCompletion.Operation.SEND, 7, 0);
        return completion;
    }

    static Stream<Case> all() {
        return Stream.of(connectionCases(), queueCases(), callCases(), replyCases(), regionCases(), requestCases())
                .flatMap(List::stream);
    }

    private static List<Case> connectionCases() {
        return List.of(
                of("Connect", () -> TransportEvents.connectEnded(LABEL, 5_000, false, "UNREACHABLE"))
                        .shows("took", 5_000L, "established", false, "outcome", "UNREACHABLE"),
                of(
                                "ConnectionEstablished",
                                () -> TransportEvents.connectionEstablished(
                                        LABEL, INFO, 4096, 8192, 1024, 2048, 32, true))
                        .shows("localAddress", ADDRESS.toString(), "inlineSend", 4096L, "inlineReceive", 8192L)
                        .shows("peerSend", 1024L, "peerReceive", 2048L, "credits", 32, "remoteInvalidation", true)
                        .shows("details", "MPA revision 2"),
                of("Disconnect", () -> TransportEvents.disconnect(LABEL, PeerError.CHUNK, "why"))
                        .shows("cause", "CHUNK", "detail", "why"),
                of("ReconnectScheduled", () -> TransportEvents.reconnectScheduled(LABEL, 100_000_000, 3))
                        .shows("delay", 100_000_000L, "attempt", 3),
                of("Backchannel", () -> TransportEvents.backchannel(LABEL, "CALL", XID))
                        .shows("kind", "CALL", "xid", XID_SHOWN),
                of("AcceptFailed", () -> ServerEvents.acceptFailed(LABEL, "RECEIVES", "none"))
                        .shows("stage", "RECEIVES", "detail", "none"));
    }

    private static List<Case> queueCases() {
        return List.of(
                of("PostSend", () -> TransportEvents.postSend(LABEL, 5, XID, 3, 500, true, HANDLE))
                        .shows("wrId", 5L, "xid", XID_SHOWN, "sges", 3, "length", 500L, "signaled", true)
                        .shows("invalidatedKey", HANDLE_SHOWN),
                of("PostRdma", () -> TransportEvents.postRdma(LABEL, 6, XID, ChunkList.READ, 4, 65536))
                        .shows("wrId", 6L, "xid", XID_SHOWN, "kind", "READ", "requests", 4, "length", 65536L),
                of("PostError", () -> TransportEvents.postError(LABEL, 7, REFUSED))
                        .shows("wrId", 7L, "reason", "QUEUE_FULL", "detail", "64 of 64 places taken"),
                of("Completion", () -> TransportEvents.completion(LABEL, success(), 900))
                        .shows("wrId", 0x0500_0001_0000_0002L, "operation", "RECEIVE", "length", 128L)
                        .shows("invalidatedKey", HANDLE_SHOWN, "sincePost", 900L),
                of(
                                "CompletionError",
                                () -> TransportEvents.completion(LABEL, failure(WorkCompletion.Status.FLUSHED), 0))
                        .shows("wrId", 5L, "status", "FLUSHED", "flushed", true, "sincePost", 0L),
                of(
                                "CompletionError",
                                () -> TransportEvents.completion(
                                        LABEL, failure(WorkCompletion.Status.REMOTE_ACCESS_ERROR), 1))
                        .shows("wrId", 5L, "status", "REMOTE_ACCESS_ERROR", "flushed", false, "sincePost", 1L),
                of("SendQueueFull", () -> TransportEvents.sendQueueFull(LABEL, 4, 64, 700))
                        .shows("needed", 4, "depth", 64, "waited", 700L));
    }

    private static List<Case> callCases() {
        return List.of(
                of(
                                "Marshal",
                                () -> ClientEvents.marshal(
                                        LABEL, XID, 48, 120, 8192, 4, ChunkForm.READ_CHUNK, ChunkForm.INLINE))
                        .shows("xid", XID_SHOWN, "headerBytes", 48L, "headBytes", 120L, "itemBytes", 8192L)
                        .shows("tailBytes", 4L, "callForm", "READ_CHUNK", "replyForm", "INLINE"),
                of("MarshalFailed", () -> ClientEvents.marshalFailed(LABEL, XID, "TOO_LONG"))
                        .shows("xid", XID_SHOWN, "cause", "TOO_LONG"),
                of(
                                "ChunkOffered",
                                () -> ClientEvents.chunkOffered(
                                        LABEL, XID, ChunkList.READ, 120, HANDLE, 8192, 0x1_0000_0000L, 2))
                        .shows("xid", XID_SHOWN, "list", "READ", "position", 120, "handle", HANDLE_SHOWN)
                        .shows("length", 8192L, "offset", 0x1_0000_0000L, "segmentsLeft", 2),
                of("RegionsExhausted", () -> ClientEvents.regionsExhausted(LABEL, XID))
                        .shows("xid", XID_SHOWN),
                of("PinFailed", () -> ClientEvents.pinFailed(LABEL, XID, 300, "none"))
                        .shows("xid", XID_SHOWN, "length", 300L, "detail", "none"));
    }

    private static List<Case> replyCases() {
        return List.of(
                of("Reply", () -> ClientEvents.reply(LABEL, XID, 31, 96, 8192, 1_000))
                        .shows("xid", XID_SHOWN, "creditsGranted", 31, "length", 96L, "rdmaBytes", 8192L)
                        .shows("sinceSend", 1_000L),
                of("CallEnded", () -> ClientEvents.callEnded(LABEL, XID, PeerError.VERSION, 30, 20, 10))
                        .shows("xid", XID_SHOWN, "outcome", "VERSION", "took", 30L, "fence", 20L, "handOver", 10L),
                of("CancelledRpcFenced", () -> ClientEvents.cancelledCallFenced(LABEL, XID, 3, true))
                        .shows("xid", XID_SHOWN, "regions", 3, "byDisconnect", true),
                of("BadReply", () -> ClientEvents.badReply(LABEL, XID, BadMessage.VERSION, 2, 0, 40))
                        .shows("xid", XID_SHOWN, "cause", "VERSION", "version", 2, "procedure", 0, "length", 40L),
                of("PeerError", () -> ClientEvents.peerError(LABEL, XID, PeerError.VERSION, 1, 2))
                        .shows("xid", XID_SHOWN, "cause", "VERSION", "lowVersion", 1, "highVersion", 2));
    }

    private static List<Case> regionCases() {
        return List.of(
                of(
                                "RegionState",
                                () -> ClientEvents.regionState(
                                        LABEL,
                                        RegionTransition.REGISTERING,
                                        4,
                                        9,
                                        11,
                                        XID,
                                        2,
                                        HANDLE,
                                        8192,
                                        4096,
                                        true))
                        .shows("transition", "REGISTERING", "region", 4, "registration", 9, "wrId", 11L)
                        .shows("xid", XID_SHOWN, "pieces", 2, "handle", HANDLE_SHOWN, "length", 8192L)
                        .shows("offset", 4096L, "remoteWrite", true),
                of("RegionAllocFailed", () -> ClientEvents.regionAllocationFailed(LABEL, 12, "none left"))
                        .shows("existing", 12, "detail", "none left"),
                of("RegionReleaseFailed", () -> ClientEvents.regionReleaseFailed(LABEL, 3, "refused"))
                        .shows("region", 3, "detail", "refused"),
                of("RegionMapFailed", () -> ClientEvents.regionMapFailed(LABEL, 3, XID, 8, 0, "short"))
                        .shows("region", 3, "xid", XID_SHOWN, "pieces", 8, "mapped", 0, "detail", "short"));
    }

    private static List<Case> requestCases() {
        return List.of(
                of("CallReceived", () -> ServerEvents.callReceived(LABEL, 3, XID, 1, 32, 28, 200))
                        .shows("wrId", 3L, "xid", XID_SHOWN, "procedure", 1, "creditsRequested", 32)
                        .shows("headerBytes", 28L, "length", 200L),
                of("BadCall", () -> ServerEvents.badCall(LABEL, 3, XID, BadMessage.CHUNKS, 1, 0, 50))
                        .shows("wrId", 3L, "xid", XID_SHOWN, "cause", "CHUNKS", "version", 1, "procedure", 0)
                        .shows("length", 50L),
                of(
                                "ChunkDecoded",
                                () -> ServerEvents.chunkDecoded(LABEL, XID, ChunkList.WRITE, 1, 0, HANDLE, 512, 4096))
                        .shows("xid", XID_SHOWN, "list", "WRITE", "segment", 1, "position", 0)
                        .shows("handle", HANDLE_SHOWN, "length", 512L, "offset", 4096L),
                of("ChunkReturned", () -> ServerEvents.chunkReturned(LABEL, XID, ChunkList.REPLY, 1, HANDLE, 512, 4096))
                        .shows("xid", XID_SHOWN, "list", "REPLY", "segment", 1, "handle", HANDLE_SHOWN)
                        .shows("length", 512L, "offset", 4096L),
                of("ErrorSent", () -> ServerEvents.errorSent(LABEL, XID, PeerError.CHUNK))
                        .shows("xid", XID_SHOWN, "cause", "CHUNK"),
                of("RdmaPrepareFailed", () -> ServerEvents.rdmaPrepareFailed(LABEL, XID, "MEMORY", "none"))
                        .shows("xid", XID_SHOWN, "cause", "MEMORY", "detail", "none"),
                of("ReadEnded", () -> ServerEvents.readEnded(LABEL, XID, 8192, 77))
                        .shows("xid", XID_SHOWN, "length", 8192L, "took", 77L),
                of("ReplyFailed", () -> ServerEvents.replyFailed(LABEL, XID, "ended"))
                        .shows("xid", XID_SHOWN, "detail", "ended"));
    }
}
