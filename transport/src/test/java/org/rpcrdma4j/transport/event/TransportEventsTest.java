// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Modifier;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Stream;
import jdk.jfr.Configuration;
import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.Name;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;
import org.rpcrdma4j.verbs.cm.Octets;

/** What a recording sees of the hooks, and that nothing is seen, and nothing spent, without one. */
class TransportEventsTest {

    private static final ConnectionLabel LABEL = new ConnectionLabel(7, 2, ConnectionLabel.Side.CLIENT, "peer:20049");
    private static final int XID = 0xFEDC_BA98;
    private static final long XID_SHOWN = 0xFEDC_BA98L;
    private static final int HANDLE = 0x8000_1203;
    private static final long HANDLE_SHOWN = 0x8000_1203L;
    private static final InetSocketAddress ADDRESS = new InetSocketAddress(InetAddress.getLoopbackAddress(), 20049);
    private static final ConnectionInfo INFO =
            new ConnectionInfo(ADDRESS, ADDRESS, Octets.EMPTY, 16, 16, 16, 16, "MPA revision 2");
    private static final PostResult.Refused REFUSED =
            new PostResult.Refused(1, PostResult.Reason.QUEUE_FULL, "64 of 64 places taken");
    private static final List<Class<?>> HOLDERS = List.of(
            ConnectionEvents.class, QueueEvents.class, CallEvents.class, RegionEvents.class, RequestEvents.class);

    @TempDir
    Path directory;

    /** One hook called with everything, and what the recording must show of it. */
    private record Case(String event, Runnable hook, Map<String, Object> fields) {}

    private static WorkCompletion success() {
        WorkCompletion completion = new WorkCompletion();
        completion.set(0x0500_0001_0000_0002L, WorkCompletion.Status.SUCCESS, WorkCompletion.Operation.RECEIVE, 7, 128);
        completion.setInvalidated(HANDLE);
        return completion;
    }

    private static WorkCompletion failure(WorkCompletion.Status status) {
        WorkCompletion completion = new WorkCompletion();
        completion.set(5, status, WorkCompletion.Operation.SEND, 7, 0);
        return completion;
    }

    private static Case of(String event, Runnable hook, Object... fields) {
        Map<String, Object> map = new TreeMap<>();
        for (int i = 0; i < fields.length; i += 2) {
            map.put((String) fields[i], fields[i + 1]);
        }
        return new Case("rpcrdma." + event, hook, map);
    }

    private static Stream<Case> cases() {
        return Stream.of(connectionCases(), queueCases(), callCases(), replyCases(), regionCases(), requestCases())
                .flatMap(List::stream);
    }

    private static List<Case> connectionCases() {
        return List.of(
                of(
                        "Connect",
                        () -> TransportEvents.connectEnded(LABEL, 5_000, false, "UNREACHABLE"),
                        "took",
                        5_000L,
                        "established",
                        false,
                        "outcome",
                        "UNREACHABLE"),
                of(
                        "ConnectionEstablished",
                        () -> TransportEvents.connectionEstablished(LABEL, INFO, 4096, 8192, 1024, 2048, 32, true),
                        "localAddress",
                        ADDRESS.toString(),
                        "inlineSend",
                        4096L,
                        "inlineReceive",
                        8192L,
                        "peerSend",
                        1024L,
                        "peerReceive",
                        2048L,
                        "credits",
                        32,
                        "remoteInvalidation",
                        true,
                        "details",
                        "MPA revision 2"),
                of(
                        "Disconnect",
                        () -> TransportEvents.disconnect(LABEL, PeerError.CHUNK, "why"),
                        "cause",
                        "CHUNK",
                        "detail",
                        "why"),
                of(
                        "ReconnectScheduled",
                        () -> TransportEvents.reconnectScheduled(LABEL, 100_000_000, 3),
                        "delay",
                        100_000_000L,
                        "attempt",
                        3),
                of(
                        "Backchannel",
                        () -> TransportEvents.backchannel(LABEL, "CALL", XID),
                        "kind",
                        "CALL",
                        "xid",
                        XID_SHOWN),
                of(
                        "AcceptFailed",
                        () -> ServerEvents.acceptFailed(LABEL, "RECEIVES", "none"),
                        "stage",
                        "RECEIVES",
                        "detail",
                        "none"));
    }

    private static List<Case> queueCases() {
        return List.of(
                of(
                        "PostSend",
                        () -> TransportEvents.postSend(LABEL, 5, XID, 3, 500, true, HANDLE),
                        "wrId",
                        5L,
                        "xid",
                        XID_SHOWN,
                        "sges",
                        3,
                        "length",
                        500L,
                        "signaled",
                        true,
                        "invalidatedKey",
                        HANDLE_SHOWN),
                of(
                        "PostRdma",
                        () -> TransportEvents.postRdma(LABEL, 6, XID, ChunkList.READ, 4, 65536),
                        "wrId",
                        6L,
                        "xid",
                        XID_SHOWN,
                        "kind",
                        "READ",
                        "requests",
                        4,
                        "length",
                        65536L),
                of(
                        "PostError",
                        () -> TransportEvents.postError(LABEL, 7, REFUSED),
                        "wrId",
                        7L,
                        "reason",
                        "QUEUE_FULL",
                        "detail",
                        "64 of 64 places taken"),
                of(
                        "Completion",
                        () -> TransportEvents.completion(LABEL, success(), 900),
                        "wrId",
                        0x0500_0001_0000_0002L,
                        "operation",
                        "RECEIVE",
                        "length",
                        128L,
                        "invalidatedKey",
                        HANDLE_SHOWN,
                        "sincePost",
                        900L),
                of(
                        "CompletionError",
                        () -> TransportEvents.completion(LABEL, failure(WorkCompletion.Status.FLUSHED), 0),
                        "wrId",
                        5L,
                        "status",
                        "FLUSHED",
                        "flushed",
                        true,
                        "sincePost",
                        0L),
                of(
                        "CompletionError",
                        () -> TransportEvents.completion(LABEL, failure(WorkCompletion.Status.REMOTE_ACCESS_ERROR), 1),
                        "wrId",
                        5L,
                        "status",
                        "REMOTE_ACCESS_ERROR",
                        "flushed",
                        false,
                        "sincePost",
                        1L),
                of(
                        "SendQueueFull",
                        () -> TransportEvents.sendQueueFull(LABEL, 4, 64, 700),
                        "needed",
                        4,
                        "depth",
                        64,
                        "waited",
                        700L));
    }

    private static List<Case> callCases() {
        return List.of(
                of(
                        "Marshal",
                        () -> ClientEvents.marshal(
                                LABEL, XID, 48, 120, 8192, 4, ChunkForm.READ_CHUNK, ChunkForm.INLINE),
                        "xid",
                        XID_SHOWN,
                        "headerBytes",
                        48L,
                        "headBytes",
                        120L,
                        "itemBytes",
                        8192L,
                        "tailBytes",
                        4L,
                        "callForm",
                        "READ_CHUNK",
                        "replyForm",
                        "INLINE"),
                of(
                        "MarshalFailed",
                        () -> ClientEvents.marshalFailed(LABEL, XID, "TOO_LONG"),
                        "xid",
                        XID_SHOWN,
                        "cause",
                        "TOO_LONG"),
                of(
                        "ChunkOffered",
                        () -> ClientEvents.chunkOffered(
                                LABEL, XID, ChunkList.READ, 120, HANDLE, 8192, 0x1_0000_0000L, 2),
                        "xid",
                        XID_SHOWN,
                        "list",
                        "READ",
                        "position",
                        120,
                        "handle",
                        HANDLE_SHOWN,
                        "length",
                        8192L,
                        "offset",
                        0x1_0000_0000L,
                        "segmentsLeft",
                        2),
                of("RegionsExhausted", () -> ClientEvents.regionsExhausted(LABEL, XID), "xid", XID_SHOWN),
                of(
                        "PinFailed",
                        () -> ClientEvents.pinFailed(LABEL, XID, 300, "none"),
                        "xid",
                        XID_SHOWN,
                        "length",
                        300L,
                        "detail",
                        "none"));
    }

    private static List<Case> replyCases() {
        return List.of(
                of(
                        "Reply",
                        () -> ClientEvents.reply(LABEL, XID, 31, 96, 8192, 1_000),
                        "xid",
                        XID_SHOWN,
                        "creditsGranted",
                        31,
                        "length",
                        96L,
                        "rdmaBytes",
                        8192L,
                        "sinceSend",
                        1_000L),
                of(
                        "CallEnded",
                        () -> ClientEvents.callEnded(LABEL, XID, PeerError.VERSION, 30, 20, 10),
                        "xid",
                        XID_SHOWN,
                        "outcome",
                        "VERSION",
                        "took",
                        30L,
                        "fence",
                        20L,
                        "handOver",
                        10L),
                of(
                        "CancelledRpcFenced",
                        () -> ClientEvents.cancelledCallFenced(LABEL, XID, 3, true),
                        "xid",
                        XID_SHOWN,
                        "regions",
                        3,
                        "byDisconnect",
                        true),
                of(
                        "BadReply",
                        () -> ClientEvents.badReply(LABEL, XID, BadMessage.VERSION, 2, 0, 40),
                        "xid",
                        XID_SHOWN,
                        "cause",
                        "VERSION",
                        "version",
                        2,
                        "procedure",
                        0,
                        "length",
                        40L),
                of(
                        "PeerError",
                        () -> ClientEvents.peerError(LABEL, XID, PeerError.VERSION, 1, 2),
                        "xid",
                        XID_SHOWN,
                        "cause",
                        "VERSION",
                        "lowVersion",
                        1,
                        "highVersion",
                        2));
    }

    private static List<Case> regionCases() {
        return List.of(
                of(
                        "RegionState",
                        () -> ClientEvents.regionState(
                                LABEL, RegionTransition.REGISTERING, 4, 9, 11, XID, 2, HANDLE, 8192, 4096, true),
                        "transition",
                        "REGISTERING",
                        "region",
                        4,
                        "registration",
                        9,
                        "wrId",
                        11L,
                        "xid",
                        XID_SHOWN,
                        "pieces",
                        2,
                        "handle",
                        HANDLE_SHOWN,
                        "length",
                        8192L,
                        "offset",
                        4096L,
                        "remoteWrite",
                        true),
                of(
                        "RegionAllocFailed",
                        () -> ClientEvents.regionAllocationFailed(LABEL, 12, "none left"),
                        "existing",
                        12,
                        "detail",
                        "none left"),
                of(
                        "RegionReleaseFailed",
                        () -> ClientEvents.regionReleaseFailed(LABEL, 3, "refused"),
                        "region",
                        3,
                        "detail",
                        "refused"),
                of(
                        "RegionMapFailed",
                        () -> ClientEvents.regionMapFailed(LABEL, 3, XID, 8, 0, "short"),
                        "region",
                        3,
                        "xid",
                        XID_SHOWN,
                        "pieces",
                        8,
                        "mapped",
                        0,
                        "detail",
                        "short"));
    }

    private static List<Case> requestCases() {
        return List.of(
                of(
                        "CallReceived",
                        () -> ServerEvents.callReceived(LABEL, 3, XID, 1, 32, 28, 200),
                        "wrId",
                        3L,
                        "xid",
                        XID_SHOWN,
                        "procedure",
                        1,
                        "creditsRequested",
                        32,
                        "headerBytes",
                        28L,
                        "length",
                        200L),
                of(
                        "BadCall",
                        () -> ServerEvents.badCall(LABEL, 3, XID, BadMessage.CHUNKS, 1, 0, 50),
                        "wrId",
                        3L,
                        "xid",
                        XID_SHOWN,
                        "cause",
                        "CHUNKS",
                        "version",
                        1,
                        "procedure",
                        0,
                        "length",
                        50L),
                of(
                        "ChunkDecoded",
                        () -> ServerEvents.chunkDecoded(LABEL, XID, ChunkList.WRITE, 1, 0, HANDLE, 512, 4096),
                        "xid",
                        XID_SHOWN,
                        "list",
                        "WRITE",
                        "segment",
                        1,
                        "position",
                        0,
                        "handle",
                        HANDLE_SHOWN,
                        "length",
                        512L,
                        "offset",
                        4096L),
                of(
                        "ChunkReturned",
                        () -> ServerEvents.chunkReturned(LABEL, XID, ChunkList.REPLY, 1, HANDLE, 512, 4096),
                        "xid",
                        XID_SHOWN,
                        "list",
                        "REPLY",
                        "segment",
                        1,
                        "handle",
                        HANDLE_SHOWN,
                        "length",
                        512L,
                        "offset",
                        4096L),
                of(
                        "ErrorSent",
                        () -> ServerEvents.errorSent(LABEL, XID, PeerError.CHUNK),
                        "xid",
                        XID_SHOWN,
                        "cause",
                        "CHUNK"),
                of(
                        "RdmaPrepareFailed",
                        () -> ServerEvents.rdmaPrepareFailed(LABEL, XID, "MEMORY", "none"),
                        "xid",
                        XID_SHOWN,
                        "cause",
                        "MEMORY",
                        "detail",
                        "none"),
                of(
                        "ReadEnded",
                        () -> ServerEvents.readEnded(LABEL, XID, 8192, 77),
                        "xid",
                        XID_SHOWN,
                        "length",
                        8192L,
                        "took",
                        77L),
                of(
                        "ReplyFailed",
                        () -> ServerEvents.replyFailed(LABEL, XID, "ended"),
                        "xid",
                        XID_SHOWN,
                        "detail",
                        "ended"));
    }

    private static List<String> eventNames() {
        return HOLDERS.stream()
                .flatMap(holder -> Stream.of(holder.getDeclaredClasses()))
                .map(type -> requireNonNull(type.getAnnotation(Name.class)).value())
                .sorted()
                .toList();
    }

    private List<RecordedEvent> record(Consumer<Recording> settings, Runnable task) throws IOException {
        Path file = directory.resolve("events.jfr");
        try (Recording recording = new Recording()) {
            settings.accept(recording);
            recording.start();
            task.run();
            recording.stop();
            recording.dump(file);
        }
        List<RecordedEvent> events = new ArrayList<>(RecordingFile.readAllEvents(file));
        Files.delete(file);
        events.removeIf(event -> !event.getEventType().getName().startsWith("rpcrdma."));
        return events;
    }

    @Test
    void aRecordingSeesEachEventWithItsFields() throws IOException {
        List<Case> cases = cases().toList();
        List<RecordedEvent> events = record(
                recording -> eventNames().forEach(recording::enable),
                () -> cases.forEach(each -> each.hook().run()));

        assertThat(events).hasSameSizeAs(cases);
        for (int i = 0; i < events.size(); i++) {
            assertShows(events.get(i), cases.get(i));
        }
    }

    private static void assertShows(RecordedEvent event, Case expected) {
        assertThat(event.getEventType().getName()).isEqualTo(expected.event());
        assertThat(event.getEventType().getCategoryNames()).containsExactly("RPC/RDMA");
        assertThat(event.getLong("connectionId")).isEqualTo(7);
        assertThat(event.getInt("generation")).isEqualTo(2);
        assertThat(event.getString("side")).isEqualTo("CLIENT");
        assertThat(event.getString("peer")).isEqualTo("peer:20049");
        Map<String, Object> found = new TreeMap<>();
        expected.fields().keySet().forEach(name -> found.put(name, event.getValue(name)));
        assertThat(found).as(expected.event()).isEqualTo(expected.fields());
        // Nothing but these, what each event has, and what the recorder adds.
        assertThat(event.getFields()).hasSize(expected.fields().size() + 4 + 4);
    }

    @Test
    void everyEventHasAHook() {
        assertThat(cases().map(Case::event).distinct().sorted()).isEqualTo(eventNames());
    }

    @Test
    void everyEventIsOffUnlessItIsAskedFor() throws IOException {
        List<RecordedEvent> events = record(
                recording -> recording.enable("rpcrdma.Reply"),
                () -> cases().forEach(each -> each.hook().run()));

        assertThat(events).extracting(event -> event.getEventType().getName()).containsExactly("rpcrdma.Reply");
    }

    @Test
    void postsAndCompletionsAreJoinedByConnectionAndWorkRequestId() throws IOException {
        WorkCompletion completion = new WorkCompletion();
        List<RecordedEvent> events = record(
                recording -> {
                    recording.enable("rpcrdma.PostSend");
                    recording.enable("rpcrdma.Completion");
                },
                () -> {
                    for (int connection = 1; connection <= 2; connection++) {
                        ConnectionLabel label =
                                new ConnectionLabel(connection, 1, ConnectionLabel.Side.SERVER, "peer:" + connection);
                        TransportEvents.postSend(label, 40, 400 + connection, 1, 100, true, 0);
                        completion.set(40, WorkCompletion.Status.SUCCESS, WorkCompletion.Operation.SEND, connection, 0);
                        TransportEvents.completion(label, completion, 1_000);
                    }
                });
        Map<String, Long> xids = new TreeMap<>();
        Map<String, Long> joined = new TreeMap<>();
        for (RecordedEvent event : events) {
            String key = event.getLong("connectionId") + "/" + event.getLong("wrId");
            if (event.getEventType().getName().equals("rpcrdma.PostSend")) {
                xids.put(key, event.getLong("xid"));
            } else {
                joined.put(key, requireNonNull(xids.get(key)));
            }
        }

        assertThat(joined)
                .containsEntry("1/40", 401L)
                .containsEntry("2/40", 402L)
                .hasSize(2);
    }

    @Test
    void allHooksAllocateNothingWhileTheirEventsAreOff() {
        WorkCompletion completed = success();
        WorkCompletion flushed = failure(WorkCompletion.Status.FLUSHED);
        List<Runnable> hooks = cases().filter(each -> !each.event().startsWith("rpcrdma.Completion"))
                .map(Case::hook)
                .toList();

        assertThat(Allocations.bytesPerRun(() -> {
                    for (int i = 0; i < hooks.size(); i++) {
                        hooks.get(i).run();
                    }
                    TransportEvents.completion(LABEL, completed, 1);
                    TransportEvents.completion(LABEL, flushed, 1);
                }))
                .isZero();
    }

    /** docs/rpcrdma.jfc is the settings file that switches all of them on. */
    @Test
    void theSettingsFileNamesEveryEventAndNoOther() throws Exception {
        Path file = Path.of("..", "docs", "rpcrdma.jfc");
        Map<String, String> settings = Configuration.create(file).getSettings();

        assertThat(new TreeSet<>(settings.keySet()))
                .isEqualTo(new TreeSet<>(
                        eventNames().stream().map(name -> name + "#enabled").toList()));
        List<RecordedEvent> events = record(
                recording -> recording.setSettings(settings),
                () -> cases().forEach(each -> each.hook().run()));
        assertThat(events).hasSize((int) cases().count());
    }

    @Test
    void allEventsAreClassesThatTheRecorderKnows() {
        for (Class<?> holder : HOLDERS) {
            for (Class<?> type : holder.getDeclaredClasses()) {
                assertThat(Modifier.isFinal(type.getModifiers())).as("%s", type).isTrue();
                EventType known = EventType.getEventType(type.asSubclass(Event.class));
                assertThat(known.getName()).startsWith("rpcrdma.");
                assertThat(known.getLabel()).isNotBlank();
                assertThat(known.getDescription()).isNotBlank();
            }
        }
    }
}
