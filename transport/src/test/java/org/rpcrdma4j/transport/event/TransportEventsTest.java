// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Modifier;
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
import org.rpcrdma4j.transport.event.EventCases.Case;
import org.rpcrdma4j.verbs.WorkCompletion;

/** What a recording sees of the hooks, and that nothing is seen, and nothing spent, without one. */
class TransportEventsTest {

    private static final List<Class<?>> HOLDERS = List.of(
            ConnectionEvents.class, QueueEvents.class, CallEvents.class, RegionEvents.class, RequestEvents.class);

    @TempDir
    Path directory;

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
        List<Case> cases = EventCases.all().toList();
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
        assertThat(EventCases.all().map(Case::event).distinct().sorted()).isEqualTo(eventNames());
    }

    @Test
    void everyEventIsOffUnlessItIsAskedFor() throws IOException {
        List<RecordedEvent> events = record(
                recording -> recording.enable("rpcrdma.Reply"),
                () -> EventCases.all().forEach(each -> each.hook().run()));

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
        WorkCompletion completed = EventCases.success();
        WorkCompletion flushed = EventCases.failure(WorkCompletion.Status.FLUSHED);
        List<Runnable> hooks = EventCases.all()
                .filter(each -> !each.event().startsWith("rpcrdma.Completion"))
                .map(Case::hook)
                .toList();

        assertThat(Allocations.bytesPerRun(() -> {
                    for (int i = 0; i < hooks.size(); i++) {
                        hooks.get(i).run();
                    }
                    TransportEvents.completion(EventCases.LABEL, completed, 1);
                    TransportEvents.completion(EventCases.LABEL, flushed, 1);
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
                () -> EventCases.all().forEach(each -> each.hook().run()));
        assertThat(events).hasSize((int) EventCases.all().count());
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
