// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rpcrdma4j.transport.raw.ClientUnderTest.CREDITS;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.transport.client.TransportException.Kind;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.verbs.cm.ConnectRequest;
import org.rpcrdma4j.verbs.cm.Octets;

/** What becomes of a client's calls when the connection is lost, does not come about, or is closed. */
class ClientConnectionEndsTest {

    /** The server closes, breaks, or goes silent with calls of all forms out: each ends once, by success on the next connection. */
    @ParameterizedTest
    @EnumSource
    void callsOutWhenTheConnectionEndsAreSentAgainAnewAndEndOnce(Network network) {
        for (int kind = 0; kind < 3; kind++) {
            try (Rig rig = network.open();
                    Arena arena = Arena.ofShared();
                    RawResponder responder = RawResponder.answeringNulls(rig);
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
                        connection.send(RawReplies.withoutResults(call, CREDITS));
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
                RawResponder responder = RawResponder.answeringNulls(rig);
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
        List<ConnectRequest> open = new ArrayList<>();
        try (Rig rig = network.open();
                Arena arena = Arena.ofShared();
                RawResponder responder = RawResponder.answeringNulls(rig);
                ClientUnderTest client = ClientUnderTest.start(rig, responder)) {
            responder.onMessage((connection, call) -> connection.send(RawReplies.withoutResults(call, CREDITS)));
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
                    RawResponder responder = RawResponder.answeringNulls(rig);
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
                    RawResponder responder = RawResponder.answeringNulls(rig);
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
                RawResponder responder = RawResponder.answeringNulls(rig);
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
