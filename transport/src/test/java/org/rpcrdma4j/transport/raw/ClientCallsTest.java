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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.transport.client.TransportException.Kind;
import org.rpcrdma4j.transport.event.ClientCounter;

/** The life of a client's calls: credits, deadlines, cancelling, and that their memory is shut when they end. */
class ClientCallsTest {

    @ParameterizedTest
    @EnumSource
    void oneCallIsOutUntilTheFirstReplyAndThenAsManyAsGranted(Network network) {
        try (Rig rig = network.open();
                RawResponder responder = RawResponder.answeringNulls(rig);
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
                RawResponder responder = RawResponder.answeringNulls(rig);
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
                RawResponder responder = RawResponder.answeringNulls(rig);
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
                RawResponder responder = RawResponder.answeringNulls(rig);
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
            responder.onMessage((connection, call) -> connection.send(RawReplies.withoutResults(call, CREDITS)));
            List<RawMessage> out = new ArrayList<>(server.messages().subList(1, CREDITS + 1));
            Collections.reverse(out);
            out.forEach(message -> server.send(RawReplies.withoutResults(message, CREDITS)));
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
                        RawResponder responder = RawResponder.answeringNulls(rig);
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
                        case "reply" -> server.send(RawReplies.withoutResults(message, CREDITS));
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
                RawResponder responder = RawResponder.answeringNulls(rig);
                ClientUnderTest client = ClientUnderTest.start(rig, responder)) {
            client.works();
            for (Duration limit : List.of(Duration.ZERO, Duration.ofNanos(1), Duration.ofMillis(1))) {
                client.awaitFailure(
                        client.send(ClientUnderTest.message(
                                Toy.call(client.newXid(), Toy.HOLD), builder -> builder.timeout(limit))),
                        Kind.TIMED_OUT);
            }
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
                RawResponder responder = RawResponder.answeringNulls(rig);
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
}
