// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rpcrdma4j.transport.raw.ClientUnderTest.CREDITS;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.transport.client.TransportException.Kind;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.verbs.cm.Octets;

/** The life of a client's calls: credits, deadlines, cancelling, lost connections, and that their memory is shut when they end. */
class ClientCallsTest {

    private static void answerNulls(RawResponder responder) {
        responder.onMessage((connection, call) -> {
            if (RawReplies.procedureOf(call) == Toy.NULL) {
                connection.send(RawReplies.plain(call, CREDITS));
            }
        });
    }

    private static RawResponder responder(Rig rig) {
        RawResponder responder = new RawResponder(rig).privateData(ClientUnderTest.SERVER_DATA);
        answerNulls(responder);
        return responder;
    }

    private static Words reply(RawMessage call) {
        int segments =
                call.writeList().isEmpty() ? 0 : call.writeList().getFirst().size();
        return RawReplies.lists(call, CREDITS, 0, Collections.nCopies(segments, 0))
                .add(Words.reply(call.xid(), 0));
    }

    @ParameterizedTest
    @EnumSource
    void oneCallIsOutUntilTheFirstReplyAndThenAsManyAsGranted(Network network) {
        try (Rig rig = network.open();
                RawResponder responder = responder(rig);
                ClientUnderTest client = ClientUnderTest.start(rig, responder)) {
            responder.onMessage((connection, call) -> {});
            List<ClientUnderTest.Call> calls = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                calls.add(client.send(client.newXid(), Toy.HOLD));
            }
            rig.await("the first call arrives", () -> responder.messageCount() == 1);
            rig.settle();
            assertThat(responder.messageCount()).isEqualTo(1);
            RawConnection server = responder.connection();
            int answered = 0;
            // Grants change while calls are out: the client waits after a cut, and uses a rise.
            for (int grant : new int[] {3, 3, 1, 1, 1, 5, 4, 200, 2, 2}) {
                server.send(RawReplies.plain(server.message(answered), grant));
                answered++;
                int expected = Math.max(server.messageCount(), Math.min(50, answered + grant));
                rig.await("as many as granted arrive", () -> server.messageCount() >= expected);
                rig.settle();
                assertThat(server.messageCount()).as("grant %d", grant).isEqualTo(expected);
            }
            while (answered < 50) {
                int next = answered;
                rig.await("the next arrives", () -> server.messageCount() > next);
                server.send(RawReplies.plain(server.message(answered), 8));
                answered++;
            }
            calls.forEach(client::awaitSuccess);
            client.finish();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aFirstReplyThatCannotBeDecodedOpensNoCredits(Network network) {
        try (Rig rig = network.open();
                RawResponder responder = responder(rig);
                ClientUnderTest client = ClientUnderTest.start(rig, responder)) {
            responder.onMessage((connection, call) -> {});
            List<ClientUnderTest.Call> calls = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                calls.add(client.send(client.newXid(), Toy.HOLD));
            }
            rig.await("the first call arrives", () -> responder.messageCount() == 1);
            RawConnection server = responder.connection();
            server.send(Words.header(server.message(0).xid(), 1, 64, 7).noChunks());
            server.send(Words.inline(0x7777, 64).add(Words.reply(0x7777, 0)));
            rig.settle();
            assertThat(server.messageCount()).isEqualTo(1);
            answerNulls(responder);
            responder.onMessage((connection, call) -> connection.send(RawReplies.plain(call, CREDITS)));
            server.send(RawReplies.plain(server.message(0), CREDITS));
            calls.forEach(client::awaitSuccess);
            client.finish();
        }
    }

    @ParameterizedTest
    @EnumSource
    void repliesInAnyOrderCompleteTheirOwnCalls(Network network) {
        try (Rig rig = network.open();
                RawResponder responder = responder(rig);
                ClientUnderTest client = ClientUnderTest.start(rig, responder)) {
            client.works();
            List<ClientUnderTest.Call> calls = new ArrayList<>();
            for (int i = 0; i < CREDITS; i++) {
                calls.add(client.send(client.newXid(), Toy.HOLD));
            }
            rig.await("all arrive", () -> responder.messageCount() == CREDITS + 1);
            RawConnection server = responder.connection();
            List<RawMessage> messages = new ArrayList<>(server.messages().subList(1, CREDITS + 1));
            Collections.shuffle(messages, new Random(5));
            messages.forEach(message -> server.send(RawReplies.plain(message, CREDITS)));
            calls.forEach(client::awaitSuccess);
            client.checkUnharmed();
            client.finish();
        }
    }

    @ParameterizedTest
    @EnumSource
    void cancelledCallsEndOnceAndTheirLateRepliesAreDropped(Network network) {
        try (Rig rig = network.open();
                Arena arena = Arena.ofShared();
                RawResponder responder = responder(rig);
                ClientUnderTest client = ClientUnderTest.start(rig, responder)) {
            client.works();
            MemorySegment target = arena.allocate(8000L * 200, 4096);
            List<ClientUnderTest.Call> calls = new ArrayList<>();
            // Many wait for a credit, the others are out.
            for (int i = 0; i < 200; i++) {
                MemorySegment part = target.asSlice(8000L * i, 8000);
                calls.add(client.send(ClientUnderTest.message(
                        Toy.call(client.newXid(), Toy.FETCH).u32(1, 8000),
                        builder -> builder.target(part).maxReplyBytes(100))));
            }
            rig.await("the window is full", () -> responder.messageCount() == CREDITS + 1);
            Random random = new Random(9);
            Set<ClientUnderTest.Call> cancelled = new HashSet<>();
            for (int i = 0; i < 100; i++) {
                ClientUnderTest.Call call = calls.get(random.nextInt(calls.size()));
                cancelled.add(call);
                call.cancel();
            }
            for (ClientUnderTest.Call call : cancelled) {
                client.await(call);
                assertThat(call.isSuccess()).isFalse();
            }
            RawConnection server = responder.connection();
            responder.onMessage((connection, call) -> connection.send(reply(call)));
            List<RawMessage> out = new ArrayList<>(server.messages().subList(1, CREDITS + 1));
            Collections.reverse(out);
            out.forEach(message -> server.send(reply(message)));
            for (ClientUnderTest.Call call : calls) {
                client.await(call);
                assertThat(call.isSuccess()).isEqualTo(!cancelled.contains(call));
            }
            assertThat(client.count(ClientCounter.CANCELS)).isEqualTo(cancelled.size());
            client.checkUnharmed();
            client.finish();
        }
    }

    /** The memory of a call that timed out or was cancelled is shut: the next call's bytes in it are neither read nor changed. */
    @ParameterizedTest
    @EnumSource
    void oldHandlesOpenNothingOnceTheCallHasEnded(Network network) {
        for (String end : List.of("timeout", "cancel", "reply", "error")) {
            for (boolean write : new boolean[] {false, true}) {
                try (Rig rig = network.open();
                        Arena arena = Arena.ofShared();
                        RawResponder responder = responder(rig);
                        ClientUnderTest client = ClientUnderTest.start(rig, responder)) {
                    client.works();
                    MemorySegment source = arena.allocate(8000, 4096);
                    MemorySegment target = arena.allocate(8000, 4096);
                    source.fill((byte) 1);
                    ClientUnderTest.Call first = client.send(ClientUnderTest.message(
                            Toy.call(client.newXid(), Toy.STORE).u32(1, 1, 8000),
                            builder -> builder.item(source)
                                    .target(target)
                                    .maxReplyBytes(100)
                                    .timeout(Duration.ofSeconds(30))));
                    rig.await("the call arrives", () -> responder.messageCount() == 2);
                    RawConnection server = responder.connection();
                    RawMessage message = server.message(1);
                    switch (end) {
                        case "timeout" -> rig.advance(Duration.ofSeconds(31));
                        case "cancel" -> first.cancel();
                        case "reply" -> server.send(reply(message));
                        default -> server.send(Words.errorChunk(message.xid(), 1, CREDITS));
                    }
                    client.await(first);
                    // The buffers are the caller's again, and used for the next call.
                    source.fill((byte) 2);
                    target.fill((byte) 3);
                    RawWork old = write
                            ? server.write(message.writeList().getFirst().getFirst(), new byte[8000])
                            : server.read(message.readList().getFirst().segment());
                    rig.await("the old access ends", old::isDone);
                    rig.await("the connection ends by it", server::hasEnded);
                    assertThat(target.toArray(ValueLayout.JAVA_BYTE)).containsOnly(3);
                    if (!write) {
                        assertThat(old.isSuccess()).isFalse();
                        assertThat(old.data()).doesNotContain(2);
                    }
                    client.works();
                    client.finish();
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void timeoutsOfAnyLengthEndTheCallInTheirTimeAndNotBefore(Network network) {
        try (Rig rig = network.open();
                RawResponder responder = responder(rig);
                ClientUnderTest client = ClientUnderTest.start(rig, responder)) {
            client.works();
            for (Duration limit : List.of(Duration.ZERO, Duration.ofNanos(1), Duration.ofMillis(1))) {
                client.awaitFailure(
                        client.send(ClientUnderTest.message(
                                Toy.call(client.newXid(), Toy.HOLD), builder -> builder.timeout(limit))),
                        Kind.TIMED_OUT);
            }
            responder.onMessage((connection, call) -> {
                if (RawReplies.procedureOf(call) == Toy.NULL) {
                    connection.send(RawReplies.plain(call, CREDITS));
                }
            });
            List<ClientUnderTest.Call> patient = new ArrayList<>();
            for (Duration limit : List.of(
                    Duration.ofMinutes(5), Duration.ofNanos(Long.MAX_VALUE), Duration.ofSeconds(Long.MAX_VALUE))) {
                patient.add(client.send(ClientUnderTest.message(
                        Toy.call(client.newXid(), Toy.HOLD), builder -> builder.timeout(limit))));
            }
            rig.advance(Duration.ofSeconds(20));
            assertThat(patient).noneMatch(ClientUnderTest.Call::isDone);
            for (ClientUnderTest.Call call : patient) {
                rig.await(
                        "it is out",
                        () -> responder.messages().stream().anyMatch(message -> message.xid() == call.xid()));
                RawConnection server = responder.connection();
                server.send(Words.inline(call.xid(), CREDITS).add(Words.reply(call.xid(), 0)));
                client.awaitSuccess(call);
            }
            client.finish();
        }
    }

    @Test
    void quickCallsLeaveNoTimersBehind() {
        try (SimulatedRig rig = (SimulatedRig) Network.SIMULATION.open();
                RawResponder responder = responder(rig);
                ClientUnderTest client =
                        ClientUnderTest.start(rig, responder, builder -> builder.callTimeout(Duration.ofMinutes(10)))) {
            client.works();
            int before = rig.time().pending();
            for (int i = 0; i < 3000; i++) {
                client.works();
                assertThat(rig.time().pending()).isLessThanOrEqualTo(before + 2);
            }
            client.finish();
            assertThat(rig.time().pending()).isZero();
        }
    }

    /** The server closes, breaks, or goes silent with calls of all forms out: each ends once, by success on the next connection. */
    @ParameterizedTest
    @EnumSource
    void callsOutWhenTheConnectionEndsAreSentAgainAnewAndEndOnce(Network network) {
        for (int kind = 0; kind < 3; kind++) {
            try (Rig rig = network.open();
                    Arena arena = Arena.ofShared();
                    RawResponder responder = responder(rig);
                    ClientUnderTest client = ClientUnderTest.start(rig, responder)) {
                client.works();
                responder.onMessage((connection, call) -> {});
                List<ClientUnderTest.Call> calls = new ArrayList<>();
                for (int i = 0; i < 64; i++) {
                    MemorySegment memory = arena.allocate(6000, 4096);
                    int form = i % 4;
                    calls.add(client.send(ClientUnderTest.message(
                            Toy.call(client.newXid(), Toy.HOLD).u32(6000), builder -> {
                                switch (form) {
                                    case 1 -> builder.item(memory);
                                    case 2 -> builder.target(memory).maxReplyBytes(100);
                                    case 3 -> builder.maxReplyBytes(20_000);
                                    default -> {}
                                }
                            })));
                }
                rig.await("the window is full", () -> responder.messageCount() == CREDITS + 1);
                RawConnection server = responder.connection(0);
                responder.onMessage((connection, call) -> {
                    if (connection != server) {
                        connection.send(reply(call));
                    }
                });
                switch (kind) {
                    case 0 -> server.end();
                    case 1 -> server.breakOff();
                    // An access that is refused: Terminate.
                    default -> server.write(0x1234_5678, 0, (byte) 1);
                }
                calls.forEach(client::awaitSuccess);
                assertThat(responder.connectionCount()).isEqualTo(2);
                assertThat(client.count(ClientCounter.RETRANSMISSIONS)).isEqualTo(CREDITS);
                // Same XIDs, sent in the old order, registered anew: no handle of the first connection comes again.
                List<RawMessage> again = responder.connection(1).messages();
                assertThat(again.stream().map(RawMessage::xid).distinct().count())
                        .isEqualTo(64);
                client.finish();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aCallThatKillsEveryConnectionFailsAndTheOthersMakeProgress(Network network) {
        Set<Integer> poison = ConcurrentHashMap.newKeySet();
        try (Rig rig = network.open();
                RawResponder responder = responder(rig);
                ClientUnderTest client = ClientUnderTest.start(
                        rig,
                        responder,
                        builder -> builder.maxTransmissions(3)
                                .reconnectDelay(Duration.ofMillis(1), Duration.ofMillis(4))
                                .callTimeout(Duration.ofMinutes(5)))) {
            responder.onMessage((connection, call) -> {
                if (poison.contains(call.xid())) {
                    connection.breakOff();
                } else {
                    connection.send(RawReplies.plain(call, CREDITS));
                }
            });
            client.works();
            int xid = client.newXid();
            poison.add(xid);
            ClientUnderTest.Call poisonous = client.send(xid, Toy.HOLD);
            List<ClientUnderTest.Call> others = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                others.add(client.send(client.newXid(), Toy.NULL));
            }
            client.awaitFailure(poisonous, Kind.CONNECTION_LOST);
            assertThat(poisonous.isUndecided()).isTrue();
            others.forEach(client::await);
            client.works();
            assertThat(responder.connectionCount()).isBetween(3, 5);
            client.finish();
        }
    }

    @ParameterizedTest
    @EnumSource
    void callsGivenBeforeTheConnectionIsThereAreSentOnceItIs(Network network) {
        List<org.rpcrdma4j.verbs.cm.ConnectRequest> open = new ArrayList<>();
        try (Rig rig = network.open();
                Arena arena = Arena.ofShared();
                RawResponder responder = responder(rig);
                ClientUnderTest client = ClientUnderTest.start(rig, responder)) {
            responder.onMessage((connection, call) -> connection.send(reply(call)));
            // The first attempts are rejected.
            responder.accepts(request -> {
                synchronized (open) {
                    open.add(request);
                    if (open.size() <= 3) {
                        request.reject(Octets.EMPTY);
                        return false;
                    }
                }
                return true;
            });
            List<ClientUnderTest.Call> calls = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                MemorySegment memory = arena.allocate(6000, 4096);
                calls.add(client.send(ClientUnderTest.message(
                        Toy.call(client.newXid(), Toy.FETCH).u32(6000),
                        builder -> builder.target(memory).maxReplyBytes(100))));
            }
            for (int i = 0; i < 40; i++) {
                rig.advance(Duration.ofSeconds(1));
            }
            calls.forEach(client::awaitSuccess);
            assertThat(client.count(ClientCounter.CONNECT_FAILURES)).isEqualTo(3);
            client.finish();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aServerThatIsNotThereSaysNothingOrRefusesMakesCallsFailByTheirDeadline(Network network) {
        for (int kind = 0; kind < 3; kind++) {
            try (Rig rig = network.open();
                    RawResponder responder = responder(rig);
                    ClientUnderTest client = ClientUnderTest.start(
                            rig,
                            responder,
                            builder -> builder.connectTimeout(Duration.ofSeconds(2))
                                    .callTimeout(Duration.ofSeconds(30)))) {
                switch (kind) {
                    case 0 -> responder.stopListening();
                    case 1 -> responder.accepts(request -> false);
                    default ->
                        responder.accepts(request -> {
                            request.reject(Octets.of((byte) 1, (byte) 2));
                            return false;
                        });
                }
                ClientUnderTest.Call call = client.send(client.newXid(), Toy.NULL);
                for (int i = 0; i < 31 && !call.isDone(); i++) {
                    rig.advance(Duration.ofSeconds(1));
                }
                client.await(call);
                assertThat(call.kind()).isIn(Kind.TIMED_OUT, Kind.CONNECTION_LOST);
                assertThat(call.isUndecided()).as("never sent").isFalse();
                client.finish();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void closingInTheMiddleEndsEveryCallOnceAndGivesAllBack(Network network) {
        for (int kind = 0; kind < 4; kind++) {
            try (Rig rig = network.open();
                    Arena arena = Arena.ofShared();
                    RawResponder responder = responder(rig);
                    ClientUnderTest client = ClientUnderTest.start(rig, responder)) {
                if (kind != 2) {
                    client.works();
                }
                List<ClientUnderTest.Call> calls = new ArrayList<>();
                for (int i = 0; i < 50; i++) {
                    MemorySegment memory = arena.allocate(6000, 4096);
                    calls.add(client.send(ClientUnderTest.message(
                            Toy.call(client.newXid(), Toy.HOLD).u32(6000),
                            builder -> builder.target(memory).maxReplyBytes(100))));
                }
                switch (kind) {
                    case 0 -> rig.await("the window is full", () -> responder.messageCount() == CREDITS + 1);
                    case 1 -> {}
                    case 2 -> {}
                    default -> {
                        rig.await("the window is full", () -> responder.messageCount() == CREDITS + 1);
                        responder.connection().end();
                    }
                }
                client.finish();
                for (ClientUnderTest.Call call : calls) {
                    assertThat(call.isDone()).isTrue();
                    assertThat(call.isSuccess()).isFalse();
                }
                client.awaitFailure(client.send(client.newXid(), Toy.NULL), Kind.CLOSED);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aServerThatNeverAnswersAgainIsGivenUpAndConnectedToAnew(Network network) {
        try (Rig rig = network.open();
                RawResponder responder = responder(rig);
                ClientUnderTest client =
                        ClientUnderTest.start(rig, responder, builder -> builder.callTimeout(Duration.ofSeconds(10)))) {
            client.works();
            RawConnection first = responder.connection(0);
            responder.onMessage((connection, call) -> {
                if (connection != first) {
                    connection.send(RawReplies.plain(call, CREDITS));
                }
            });
            List<ClientUnderTest.Call> calls = new ArrayList<>();
            for (int i = 0; i < CREDITS + 10; i++) {
                calls.add(client.send(client.newXid(), Toy.HOLD));
            }
            rig.await("the window is full", () -> responder.messageCount() == CREDITS + 1);
            rig.advance(Duration.ofSeconds(11));
            calls.forEach(client::await);
            rig.await("the silent connection is given up", first::hasEnded);
            client.works();
            assertThat(responder.connectionCount()).isEqualTo(2);
            client.finish();
        }
    }
}
