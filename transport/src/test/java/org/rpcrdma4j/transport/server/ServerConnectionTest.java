// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rpcrdma4j.transport.server.ServerFixture.XID;
import static org.rpcrdma4j.transport.server.ServerFixture.assertNullReply;
import static org.rpcrdma4j.transport.server.ServerFixture.nullCall;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.RawConnection;
import org.rpcrdma4j.transport.raw.RawMessage;
import org.rpcrdma4j.transport.raw.RawRequester;
import org.rpcrdma4j.transport.raw.Segment;
import org.rpcrdma4j.transport.raw.Words;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.cm.ConnectOptions;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;

/** Credits, limits and the end of connections, as a raw client sees them. */
class ServerConnectionTest {

    private static Words store(int xid, int length, Segment... segments) {
        Words header = Words.header(xid, 1, 64, Words.RDMA_MSG);
        for (Segment segment : segments) {
            header.readSegment(48, segment);
        }
        return header.end()
                .end()
                .end()
                .add(TestProgram.call(xid, TestProgram.STORE))
                .u32(1, length, TestProgram.MARK);
    }

    private static Words fetch(int xid, int length, Segment... segments) {
        return Words.header(xid, 1, 64, Words.RDMA_MSG)
                .end()
                .chunk(segments)
                .end()
                .end()
                .add(TestProgram.call(xid, TestProgram.FETCH))
                .u32(1, length);
    }

    private static ServerFixture fixture(Network network, ServerOptions.Builder options, RequestHandler handler) {
        return new ServerFixture(network.open(), options.build(), handler);
    }

    @ParameterizedTest
    @EnumSource
    void endsTheConnectionOfAClientThatOverrunsItsCredits(Network network) {
        HeldRequests held = new HeldRequests();
        try (ServerFixture fixture = fixture(network, ServerOptions.builder().credits(4), held)) {
            RawConnection client = fixture.connect();
            RawConnection other = fixture.connect();
            for (int i = 0; i < 4; i++) {
                client.send(nullCall(i));
            }
            fixture.await("four calls are there", () -> held.size() == 4);
            assertThat(client.hasEnded()).isFalse();
            client.send(nullCall(5));
            fixture.await("the server disconnects", client::hasEnded);
            assertThat(client.messageCount()).isZero();
            assertThat(fixture.count(ServerCounter.CREDIT_OVERRUNS)).isEqualTo(1);
            other.send(nullCall(9));
            fixture.await("the other client is served", () -> held.size() == 5);
            held.answerAll();
            fixture.await("the other client has its reply", () -> other.messageCount() == 1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void answersInAnyOrderAndEachReplyGrantsWhatThereIsRoomFor(Network network) {
        HeldRequests held = new HeldRequests();
        try (ServerFixture fixture = fixture(network, ServerOptions.builder().credits(8), held)) {
            RawConnection client = fixture.connect();
            for (int i = 0; i < 8; i++) {
                client.send(nullCall(i));
            }
            fixture.await("eight calls are there", () -> held.size() == 8);
            ServerRequest last = held.takeLast();
            ServerRequest first = held.take();
            int[] xids = {last.xid(), first.xid()};
            HeldRequests.answer(last);
            HeldRequests.answer(first);
            held.answerAll();
            fixture.await("all are answered", () -> client.messageCount() == 8);
            assertThat(client.messages().stream().map(RawMessage::xid))
                    .startsWith(xids[0], xids[1])
                    .doesNotHaveDuplicates();
            assertThat(client.messages()).allMatch(reply -> reply.credits() == 8);
        }
    }

    @ParameterizedTest
    @EnumSource
    void refusesASecondAnswerAndUseOfTheMessageAfterIt(Network network) {
        HeldRequests held = new HeldRequests();
        try (ServerFixture fixture = fixture(network, ServerOptions.builder(), held)) {
            RawConnection client = fixture.connect();
            client.send(nullCall(XID));
            fixture.await("the call is there", () -> held.size() == 1);
            ServerRequest request = held.take();
            HeldRequests.answer(request);
            assertThat(request.isAnswered()).isTrue();
            assertThatThrownBy(() -> HeldRequests.answer(request)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(request::refuse).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(request::message).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> request.allocate(1)).isInstanceOf(IllegalStateException.class);
            fixture.await("the reply is there", () -> client.messageCount() == 1);
            fixture.rig.settle();
            assertThat(client.messageCount()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void keepsTheMessageReadableWhenTheConnectionEndsUnderTheHandler(Network network) {
        HeldRequests held = new HeldRequests();
        try (ServerFixture fixture = fixture(network, ServerOptions.builder(), held)) {
            RawConnection client = fixture.connect();
            byte[] data = TestProgram.result(5000);
            RawConnection.Exposed memory =
                    client.expose(5000, Access.REMOTE_READ).fill(data);
            client.send(store(XID, 5000, memory.segment()));
            client.send(nullCall(XID + 1));
            fixture.await("the calls are there", () -> held.size() == 2);
            client.breakOff();
            fixture.await("the server has given the connection back", () -> fixture.server.connections() == 0);
            ServerRequest first = held.take();
            ServerRequest second = held.take();
            ServerRequest pulled = first.message().size() == 3 ? first : second;
            ServerRequest inline = pulled == first ? second : first;
            assertThat(pulled.message().get(1).toArray(ValueLayout.JAVA_BYTE)).startsWith(data);
            assertThat(inline.message()
                            .getFirst()
                            .get(ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN), 0))
                    .isEqualTo(XID + 1);
            HeldRequests.answer(first);
            HeldRequests.answer(second);
        }
    }

    @ParameterizedTest
    @EnumSource
    void closesWhenAReadFailsAndAnswersThatXidWithErrorChunkOnce(Network network) {
        // RFC 8166, Section 4.5.3; U13, U71.
        try (ServerFixture fixture = new ServerFixture(network)) {
            RawConnection client = fixture.connect();
            RawConnection other = fixture.connect();
            Segment bad = new Segment(0x1a01, 5000, 7);
            client.send(store(XID, 5000, bad));
            fixture.await("the connection ends", client::hasEnded);
            fixture.await("the server knows", () -> fixture.server.connections() == 1);
            assertThat(client.messageCount()).isZero();
            assertThat(fixture.program.calls).hasValue(0);
            assertNullReply(fixture.exchange(other, nullCall(1)), 1);
            RawConnection again = fixture.connect();
            RawMessage reply = fixture.exchange(again, store(XID, 5000, bad));
            assertThat(reply.isErrorChunk()).isTrue();
            assertThat(reply.xid()).isEqualTo(XID);
            // The XID may come again for another call.
            assertNullReply(fixture.exchange(again, nullCall(XID)), XID);
        }
    }

    @ParameterizedTest
    @EnumSource
    void readsOnlyAsManyAtATimeAsTheClientServes(Network network) {
        try (ServerFixture fixture = new ServerFixture(network)) {
            RawConnection client = fixture.connect(new RawRequester(fixture.rig)
                    .options(ConnectOptions.DEFAULT.withReads(1, 16))
                    .privateData(ServerFixture.CLIENT));
            byte[] data = TestProgram.result(4000);
            RawConnection.Exposed memory =
                    client.expose(4000, Access.REMOTE_READ).fill(data);
            Segment[] segments = new Segment[40];
            for (int i = 0; i < 40; i++) {
                segments[i] = memory.part(100 * i, 100);
            }
            for (int call = 0; call < 3; call++) {
                RawMessage reply = fixture.exchange(client, store(XID + call, 4000, segments));
                assertThat(reply.body())
                        .isEqualTo(Words.reply(XID + call, 0).u32(1).toBytes());
            }
            assertThat(fixture.program.stored).hasSize(3).allMatch(stored -> Arrays.equals(stored, data));
        }
    }

    @ParameterizedTest
    @EnumSource
    void rejectsAClientThatServesNoReadsAndOneConnectionTooMany(Network network) {
        try (ServerFixture fixture = fixture(network, ServerOptions.builder().maxConnections(2), new TestProgram())) {
            RawConnection none = new RawRequester(fixture.rig)
                    .options(ConnectOptions.DEFAULT.withReads(0, 16))
                    .dial(fixture.address());
            fixture.await("it is rejected", none::hasEnded);
            assertThat(none.refusal()).extracting(ConnectRefusal::reason).isEqualTo(ConnectRefusal.Reason.REJECTED);
            none.close();
            fixture.connect();
            fixture.connect();
            RawConnection third = new RawRequester(fixture.rig).dial(fixture.address());
            fixture.await("it is rejected", third::hasEnded);
            assertThat(third.refusal()).extracting(ConnectRefusal::reason).isEqualTo(ConnectRefusal.Reason.REJECTED);
            third.close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void tellsItsSizesAndThatItInvalidates(Network network) {
        try (ServerFixture fixture =
                fixture(network, ServerOptions.builder().sendBytes(8192).receiveBytes(65_536), new TestProgram())) {
            assertThat(fixture.connect().info().privateData()).hasToString("f6ab0e180101073f");
        }
        try (ServerFixture fixture =
                fixture(network, ServerOptions.builder().remoteInvalidation(false), new TestProgram())) {
            RawConnection client = fixture.connect(ServerFixture.INVALIDATED);
            assertThat(client.info().privateData()).hasToString("f6ab0e1801000303");
            RawConnection.Exposed room = client.expose(100, Access.REMOTE_WRITE);
            assertThat(fixture.exchange(client, fetch(XID, 80, room.segment())).invalidatedKey())
                    .isNull();
        }
    }

    @ParameterizedTest
    @EnumSource
    void servesEveryCallWhenMemoryIsEnoughForAFewOnly(Network network) {
        ServerOptions.Builder options = ServerOptions.builder()
                .maxPayloadBytes(100_000)
                .connectionMemoryBytes(500_000)
                .serverMemoryBytes(600_000);
        try (ServerFixture fixture = new ServerFixture(network, options.build())) {
            byte[] data = TestProgram.result(90_000);
            RawConnection[] clients = {fixture.connect(), fixture.connect(), fixture.connect()};
            for (RawConnection client : clients) {
                RawConnection.Exposed source =
                        client.expose(90_000, Access.REMOTE_READ).fill(data);
                for (int i = 0; i < 10; i++) {
                    client.send(store(2 * i, 90_000, source.segment()));
                    RawConnection.Exposed room = client.expose(90_000, Access.REMOTE_WRITE);
                    client.send(fetch(2 * i + 1, 90_000, room.segment()));
                }
            }
            for (RawConnection client : clients) {
                fixture.await("all are answered", () -> client.messageCount() == 20 || client.hasEnded());
                assertThat(client.messages()).allMatch(reply -> !reply.isErrorChunk());
            }
            assertThat(fixture.program.stored).hasSize(30).allMatch(stored -> Arrays.equals(stored, data));
        }
    }

    @ParameterizedTest
    @EnumSource
    void movesPayloadsOfEverySizeBothWays(Network network) {
        int[] sizes = {65_536, 1 << 20, 16 << 20};
        ServerOptions.Builder options = ServerOptions.builder().maxPayloadBytes(16 << 20);
        try (ServerFixture fixture = new ServerFixture(network, options.build())) {
            RawConnection client = fixture.connect();
            for (int size : sizes) {
                byte[] data = TestProgram.result(size);
                int pieces = Math.max(1, size >> 20);
                Segment[] sources = new Segment[pieces];
                Segment[] targets = new Segment[pieces];
                RawConnection.Exposed[] rooms = new RawConnection.Exposed[pieces];
                int length = size / pieces;
                for (int i = 0; i < pieces; i++) {
                    sources[i] = client.expose(length, Access.REMOTE_READ)
                            .fill(Arrays.copyOfRange(data, i * length, (i + 1) * length))
                            .segment();
                    rooms[i] = client.expose(length, Access.REMOTE_WRITE);
                    targets[i] = rooms[i].segment();
                }
                RawMessage reply = fixture.exchange(client, store(XID, size, sources));
                assertThat(reply.body()).isEqualTo(Words.reply(XID, 0).u32(1).toBytes());
                assertThat(fixture.program.stored.getLast()).isEqualTo(data);
                fixture.program.stored.clear();
                reply = fixture.exchange(client, fetch(XID + 1, size, targets));
                assertThat(reply.writeList().getFirst()).containsExactly(targets);
                for (int i = 0; i < pieces; i++) {
                    assertThat(Arrays.equals(rooms[i].bytes(), 0, length, data, i * length, (i + 1) * length))
                            .isTrue();
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void answersAllThatItHasAcceptedBeforeItEnds(Network network) {
        // U59.
        HeldRequests held = new HeldRequests();
        ServerFixture fixture = fixture(network, ServerOptions.builder(), held);
        RawConnection client = fixture.connect();
        RawConnection.Exposed[] rooms = new RawConnection.Exposed[60];
        for (int i = 0; i < 60; i++) {
            rooms[i] = client.expose(20_000, Access.REMOTE_WRITE);
            client.send(fetch(i, 20_000, rooms[i].segment()));
        }
        fixture.await("all are there", () -> held.size() == 60);
        CompletableFuture<Void> end = fixture.server.shutdown(ServerFixture.GRACE);
        fixture.rig.settle();
        assertThat(end).isNotDone();
        held.fetchAll();
        fixture.await("the connection ends", client::hasEnded);
        assertThat(client.messageCount()).isEqualTo(60);
        for (RawMessage reply : client.messages()) {
            assertThat(reply.writeList().getFirst().getFirst().length()).isEqualTo(20_000);
            assertThat(rooms[reply.xid()].bytes()).startsWith(TestProgram.result(20_000));
        }
        fixture.await("the server is closed", end::isDone);
        RawConnection late = new RawRequester(fixture.rig).dial(fixture.address());
        fixture.await("nobody listens any more", late::hasEnded);
        late.close();
        fixture.close();
    }

    @ParameterizedTest
    @EnumSource
    void abortsWhatIsNotAnsweredInTheGraceAndForgetsIt(Network network) {
        HeldRequests held = new HeldRequests();
        ServerFixture fixture = fixture(network, ServerOptions.builder(), held);
        RawConnection client = fixture.connect();
        client.send(nullCall(XID));
        fixture.await("the call is there", () -> held.size() == 1);
        CompletableFuture<Void> end = fixture.server.shutdown(Duration.ofMillis(200));
        fixture.rig.advance(Duration.ofSeconds(1));
        fixture.await("the connection ends", client::hasEnded);
        fixture.await("the server is closed", end::isDone);
        held.answerAll();
        fixture.close();
        assertThat(client.messageCount()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void endsAnIdleConnectionButNotOneWhoseHandlerIsBusy(Network network) {
        HeldRequests held = new HeldRequests();
        try (ServerFixture fixture =
                fixture(network, ServerOptions.builder().idleTimeout(Duration.ofMillis(400)), held)) {
            RawConnection client = fixture.connect();
            client.send(nullCall(XID));
            fixture.await("the call is there", () -> held.size() == 1);
            fixture.rig.advance(Duration.ofSeconds(5));
            fixture.rig.settle();
            assertThat(client.hasEnded()).isFalse();
            held.answerAll();
            fixture.await("the reply is there", () -> client.messageCount() == 1);
            fixture.rig.advance(Duration.ofSeconds(2));
            fixture.await("the idle connection ends", client::hasEnded);
        }
    }
}
