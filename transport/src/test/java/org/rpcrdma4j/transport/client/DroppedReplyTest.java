// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.rpcrdma4j.transport.client.TransportException.Kind;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.RawConnection;
import org.rpcrdma4j.transport.raw.RawMessage;
import org.rpcrdma4j.transport.raw.Segment;
import org.rpcrdma4j.transport.raw.Words;

/** Replies that are dropped without a word: malformed ones, and those that nobody waits for. */
class DroppedReplyTest {

    /** Makes the bytes of a bad reply out of its call. */
    interface Bad {
        byte[] reply(RawMessage call);
    }

    private static Words msg(int xid, int procedure) {
        return Words.header(xid, 1, 8, procedure);
    }

    private static Words good(int xid) {
        return Words.inline(xid, 8).add(Words.reply(xid, 0));
    }

    private static Arguments row(String name, Bad bad, ClientCounter counter) {
        return Arguments.of(Named.of(name, bad), counter);
    }

    static Stream<Arguments> dropped() {
        Segment any = new Segment(1, 4, 0);
        return Stream.of(
                row("nothing", call -> new byte[0], ClientCounter.BAD_REPLIES_SHORT),
                row("1 byte", call -> good(call.xid()).cut(1), ClientCounter.BAD_REPLIES_SHORT),
                row("15 bytes", call -> good(call.xid()).cut(15), ClientCounter.BAD_REPLIES_SHORT),
                row("16 bytes", call -> good(call.xid()).cut(16), ClientCounter.BAD_REPLIES_SHORT),
                row("27 bytes", call -> good(call.xid()).cut(27), ClientCounter.BAD_REPLIES_SHORT),
                row("version 0", call -> version(call, 0), ClientCounter.BAD_REPLIES_VERSION),
                row("version 2", call -> version(call, 2), ClientCounter.BAD_REPLIES_VERSION),
                row("RDMA_MSGP", call -> procedure(call, Words.RDMA_MSGP), ClientCounter.BAD_REPLIES_PROCEDURE),
                row("RDMA_DONE", call -> procedure(call, Words.RDMA_DONE), ClientCounter.BAD_REPLIES_PROCEDURE),
                row("procedure 5", call -> procedure(call, 5), ClientCounter.BAD_REPLIES_PROCEDURE),
                row("procedure ffffffff", call -> procedure(call, -1), ClientCounter.BAD_REPLIES_PROCEDURE),
                row(
                        "list cut",
                        call -> msg(call.xid(), Words.RDMA_MSG)
                                .end()
                                .chunk(any, any)
                                .toBytes(),
                        ClientCounter.BAD_REPLIES_CHUNKS),
                row(
                        "discriminator 2",
                        call -> msg(call.xid(), Words.RDMA_MSG)
                                .u32(2)
                                .end()
                                .end()
                                .add(Words.reply(call.xid(), 0))
                                .toBytes(),
                        ClientCounter.BAD_REPLIES_CHUNKS),
                row(
                        "RDMA_NOMSG without lists",
                        call -> msg(call.xid(), Words.RDMA_NOMSG).noChunks().toBytes(),
                        ClientCounter.BAD_REPLIES_CHUNKS),
                row(
                        "Read list",
                        call -> msg(call.xid(), Words.RDMA_MSG)
                                .readSegment(40, any)
                                .end()
                                .end()
                                .end()
                                .add(Words.reply(call.xid(), 0))
                                .toBytes(),
                        ClientCounter.BAD_REPLIES_CHUNKS),
                row(
                        "another XID in the RPC message",
                        call -> Words.inline(call.xid(), 8)
                                .add(Words.reply(call.xid() + 1, 0))
                                .toBytes(),
                        ClientCounter.BAD_REPLIES_MESSAGE),
                row(
                        "direction 2",
                        call -> Words.inline(call.xid(), 8)
                                .u32(call.xid(), 2, 0, 0, 0, 0)
                                .toBytes(),
                        ClientCounter.BAD_REPLIES_MESSAGE),
                row(
                        "no RPC message",
                        call -> Words.inline(call.xid(), 8).u32(call.xid()).toBytes(),
                        ClientCounter.BAD_REPLIES_MESSAGE),
                row(
                        "RDMA_ERROR of code 0",
                        call -> msg(call.xid(), Words.RDMA_ERROR).u32(0).toBytes(),
                        ClientCounter.BAD_REPLIES),
                row(
                        "RDMA_ERROR of code 3",
                        call -> msg(call.xid(), Words.RDMA_ERROR).u32(3, 0, 0).toBytes(),
                        ClientCounter.BAD_REPLIES),
                row(
                        "RDMA_ERROR of 16 bytes",
                        call -> msg(call.xid(), Words.RDMA_ERROR).toBytes(),
                        ClientCounter.BAD_REPLIES_SHORT),
                row(
                        "ERR_VERS of 24 bytes",
                        call -> Words.errorVersion(call.xid(), 1, 8, 1, 1).cut(24),
                        ClientCounter.BAD_REPLIES));
    }

    private static byte[] version(RawMessage call, int version) {
        return Words.header(call.xid(), version, 8, Words.RDMA_MSG)
                .noChunks()
                .add(Words.reply(call.xid(), 0))
                .toBytes();
    }

    private static byte[] procedure(RawMessage call, int procedure) {
        return msg(call.xid(), procedure)
                .noChunks()
                .add(Words.reply(call.xid(), 0))
                .toBytes();
    }

    @ParameterizedTest
    @MethodSource("dropped")
    void aMalformedReplyIsDroppedWithoutAWordAndAGoodOneStillEndsTheCall(Bad bad, ClientCounter counter) {
        try (ClientFixture fixture = new ClientFixture(Network.SIMULATION.open())) {
            PendingReply first = fixture.client.send(fixture.nullCall().build());
            PendingReply second = fixture.client.send(fixture.nullCall().build());
            RawMessage call = fixture.call(1);
            RawConnection server = fixture.responder.connection();
            server.send(bad.reply(call));
            fixture.rig.settle();
            assertThat(first.isDone()).isFalse();
            // RFC 8166, Section 3.3.3: it is no valid reply, so the second call still waits.
            assertThat(fixture.responder.messageCount()).isEqualTo(1);
            assertThat(fixture.counter(counter)).isEqualTo(1);
            assertThat(fixture.counter(ClientCounter.BAD_REPLIES)).isEqualTo(1);
            server.send(good(call.xid()));
            fixture.reply(first);
            server.send(good(fixture.call(2).xid()));
            fixture.reply(second);
            assertThat(fixture.responder.connectionCount()).isEqualTo(1);
        }
    }

    @Test
    void theDeadlinesErrorTellsWhatWasDropped() {
        try (ClientFixture fixture =
                new ClientFixture(Network.SIMULATION.open(), builder -> builder.callTimeout(Duration.ofSeconds(2)))) {
            PendingReply pending = fixture.client.send(fixture.nullCall().build());
            RawMessage call = fixture.call(1);
            fixture.responder.connection().send(version(call, 9));
            TransportException failure = fixture.failure(pending);
            assertThat(failure.kind()).isEqualTo(Kind.TIMED_OUT);
            assertThat(failure.undecided()).isTrue();
            assertThat(failure).hasMessageContaining("BAD_VERSION");
        }
    }

    @Test
    void afterSeveralMalformedRepliesTheConnectionIsMadeAnew() {
        try (ClientFixture fixture = new ClientFixture(Network.SIMULATION.open())) {
            PendingReply pending = fixture.client.send(fixture.nullCall().build());
            RawMessage call = fixture.call(1);
            RawConnection server = fixture.responder.connection();
            for (int i = 0; i < 4; i++) {
                server.send(version(call, 9));
            }
            RawMessage again = fixture.call(2);
            assertThat(again.bytes()).isEqualTo(call.bytes());
            assertThat(fixture.responder.connectionCount()).isEqualTo(2);
            fixture.responder.connection().send(good(again.xid()));
            fixture.reply(pending);
        }
    }

    @Test
    void repliesNobodyWaitsForAreDroppedAndTheirCreditsDoNotCount() {
        try (ClientFixture fixture = new ClientFixture(Network.SIMULATION.open())) {
            PendingReply first = fixture.client.send(fixture.nullCall().build());
            PendingReply second = fixture.client.send(fixture.nullCall().build());
            RawMessage call = fixture.call(1);
            RawConnection server = fixture.responder.connection();
            server.send(good(call.xid() + 7777));
            server.send(Words.errorChunk(call.xid() + 7777, 1, 8));
            fixture.rig.settle();
            assertThat(fixture.responder.messageCount()).isEqualTo(1);
            server.send(good(call.xid()));
            server.send(good(call.xid()));
            fixture.reply(first);
            server.send(good(fixture.call(2).xid()));
            fixture.reply(second);
            fixture.rig.settle();
            assertThat(fixture.counter(ClientCounter.BAD_XIDS)).isEqualTo(3);
            assertThat(fixture.responder.connectionCount()).isEqualTo(1);
        }
    }
}
