// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.RawConnection;
import org.rpcrdma4j.transport.raw.RawMessage;
import org.rpcrdma4j.transport.raw.Segment;
import org.rpcrdma4j.transport.raw.Words;

/** Calls of the server over the client's connection (RFC 8167). */
class ReverseCallTest {

    private static final int CB_PROGRAM = 0x4000_0000;

    private final List<ReverseCall> calls = new CopyOnWriteArrayList<>();

    private ClientFixture fixture(Network network, int credits) {
        return new ClientFixture(network.open(), builder -> builder.reverseHandler(calls::add, credits));
    }

    private static Words reverseCall(int xid) {
        return Words.inline(xid, 2).add(Words.call(xid, CB_PROGRAM, 1, 0));
    }

    private static MemorySegment reply(int xid) {
        return MemorySegment.ofArray(Words.reply(xid, 0).toBytes());
    }

    private RawConnection connected(ClientFixture fixture) {
        fixture.rig.await(
                "the client connects of itself",
                () -> fixture.responder.connectionCount() == 1
                        && fixture.responder.connection().isEstablished());
        return fixture.responder.connection();
    }

    @ParameterizedTest
    @EnumSource
    void aReverseCallIsServedBesideAForwardCallOfTheSameXid(Network network) {
        try (ClientFixture fixture = fixture(network, 4)) {
            CallMessage message = fixture.nullCall().build();
            PendingReply pending = fixture.client.send(message);
            fixture.call(1);
            RawConnection server = connected(fixture);
            server.send(reverseCall(message.xid()));
            fixture.rig.await("the reverse call arrives", () -> calls.size() == 1);
            assertThat(ClientFixture.bytes(calls.getFirst().message()))
                    .isEqualTo(Words.call(message.xid(), CB_PROGRAM, 1, 0).toBytes());
            calls.getFirst().reply(reply(message.xid()));
            RawMessage answer = fixture.call(2);
            assertThat(answer.bytes())
                    .isEqualTo(Words.inline(message.xid(), 4)
                            .add(Words.reply(message.xid(), 0))
                            .toBytes());
            assertThat(pending.isDone()).isFalse();
            ClientFixture.answer(server, message.xid(), 8);
            fixture.reply(pending);
        }
    }

    @Test
    void reverseCallsWithChunksAreAnsweredErrChunk() {
        try (ClientFixture fixture = fixture(Network.SIMULATION, 4)) {
            RawConnection server = connected(fixture);
            Segment any = new Segment(5, 64, 0);
            List<Words> lists = List.of(
                    new Words().readSegment(40, any).end().end().end(),
                    new Words().end().chunk(any).end().end(),
                    new Words().end().end().chunk(any));
            int count = 0;
            for (Words list : lists) {
                server.send(Words.header(77, 1, 2, Words.RDMA_MSG).add(list).add(Words.call(77, CB_PROGRAM, 1, 0)));
                assertThat(fixture.call(++count).isErrorChunk()).isTrue();
            }
            server.send(Words.header(78, 1, 2, Words.RDMA_NOMSG)
                    .readSegment(0, any)
                    .end()
                    .end()
                    .end());
            assertThat(fixture.call(++count).isErrorChunk()).isTrue();
            server.send(Words.inline(79, 2).add(Words.call(80, CB_PROGRAM, 1, 0)));
            assertThat(fixture.call(++count).isErrorChunk()).isTrue();
            assertThat(calls).isEmpty();
        }
    }

    @Test
    void aClientThatOffersNoReverseServiceDropsReverseCalls() {
        try (ClientFixture fixture = new ClientFixture(Network.SIMULATION.open())) {
            PendingReply pending = fixture.client.send(fixture.nullCall().build());
            RawMessage call = fixture.call(1);
            fixture.responder.connection().send(reverseCall(call.xid()));
            fixture.rig.settle();
            assertThat(pending.isDone()).isFalse();
            assertThat(fixture.counter(ClientCounter.REVERSE_CALLS_DROPPED)).isEqualTo(1);
            ClientFixture.answer(fixture.responder.connection(), call.xid(), 8);
            fixture.reply(pending);
            assertThat(fixture.responder.messageCount()).isEqualTo(1);
        }
    }

    @Test
    void moreReverseCallsThanCreditsEndTheConnection() {
        try (ClientFixture fixture = fixture(Network.SIMULATION, 2)) {
            RawConnection server = connected(fixture);
            for (int i = 0; i < 3; i++) {
                server.send(reverseCall(i));
            }
            fixture.rig.await("the connection ends", server::hasEnded);
            assertThat(calls).hasSize(2);
            calls.forEach(call -> call.reply(reply(call.xid())));
            fixture.rig.settle();
        }
    }

    @Test
    void receivesAreThereForAllRepliesAndAllReverseCallsAtOnce() {
        try (ClientFixture fixture = fixture(Network.SIMULATION, 8)) {
            RawConnection server = connected(fixture);
            fixture.answering(16);
            fixture.reply(fixture.client.send(fixture.nullCall().build()));
            fixture.responder.onMessage((connection, call) -> {});
            List<PendingReply> pending = new ArrayList<>();
            for (int i = 0; i < 16; i++) {
                pending.add(fixture.client.send(fixture.nullCall().build()));
            }
            fixture.call(17);
            for (int i = 0; i < 8; i++) {
                server.send(reverseCall(i));
            }
            fixture.responder.messages().subList(1, 17).forEach(call -> ClientFixture.answer(server, call.xid(), 16));
            pending.forEach(fixture::reply);
            fixture.rig.await("the reverse calls arrive", () -> calls.size() == 8);
            calls.forEach(call -> call.reply(reply(call.xid())));
            fixture.call(25);
            assertThat(server.hasEnded()).isFalse();
        }
    }

    @Test
    void theHandlersMistakesAreRefusedAndAThrowIsSystemErr() {
        ReverseHandler handler = call -> {
            assertThatThrownBy(() -> call.reply(reply(call.xid() + 1))).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> call.reply(MemorySegment.ofArray(new byte[call.maxReplyBytes() + 4])))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> call.reply(call.message())).isInstanceOf(IllegalArgumentException.class);
            throw new IllegalStateException("handler's own fault");
        };
        try (ClientFixture fixture =
                new ClientFixture(Network.SIMULATION.open(), builder -> builder.reverseHandler(handler, 2))) {
            RawConnection server = connected(fixture);
            server.send(reverseCall(3));
            RawMessage answer = fixture.call(1);
            assertThat(answer.rpc().bytes()).isEqualTo(Words.reply(3, 5).toBytes());
        }
    }

    @Test
    void anErrorOfTheHandlerCostsNoCredit() {
        ReverseHandler handler = call -> {
            throw new StackOverflowError("handler's own fault");
        };
        try (ClientFixture fixture =
                new ClientFixture(Network.SIMULATION.open(), builder -> builder.reverseHandler(handler, 2))) {
            RawConnection server = connected(fixture);
            for (int xid = 1; xid <= 5; xid++) {
                server.send(reverseCall(xid));
                assertThat(fixture.call(xid).rpc().bytes())
                        .isEqualTo(Words.reply(xid, 5).toBytes());
            }
            assertThat(server.hasEnded()).isFalse();
        }
    }

    @Test
    void theConnectionIsKeptAndMadeAgainWhileTheServerMayCall() {
        try (ClientFixture fixture = new ClientFixture(
                Network.SIMULATION.open(),
                builder -> builder.reverseHandler(calls::add, 2).idleTimeout(Duration.ofSeconds(1)))) {
            RawConnection server = connected(fixture);
            fixture.rig.advance(Duration.ofSeconds(5));
            assertThat(server.hasEnded()).isFalse();
            server.breakOff();
            fixture.rig.await("the client connects again", () -> fixture.responder.connectionCount() == 2);
        }
    }
}
