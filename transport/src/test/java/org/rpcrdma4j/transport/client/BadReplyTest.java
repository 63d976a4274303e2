// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.rpcrdma4j.transport.client.TransportException.Kind;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.RawMessage;
import org.rpcrdma4j.transport.raw.Segment;
import org.rpcrdma4j.transport.raw.Words;

/** Replies that can be read: what ends their call, what ends the connection, and what is taken nevertheless. */
class BadReplyTest {

    private final Arena arena = Arena.ofShared();

    @AfterEach
    void closeArena() {
        arena.close();
    }

    private static Words msg(int xid, int procedure) {
        return Words.header(xid, 1, 8, procedure);
    }

    @Test
    void rdmaErrorsEndTheirCallAtOnceAndAreNotSentAgain() {
        try (ClientFixture fixture = new ClientFixture(Network.SIMULATION.open())) {
            PendingReply refused = fixture.client.send(fixture.nullCall().build());
            RawMessage call = fixture.call(1);
            fixture.responder.connection().send(Words.errorChunk(call.xid(), 1, 8));
            TransportException failure = fixture.failure(refused);
            assertThat(failure.kind()).isEqualTo(Kind.PEER_ERROR_CHUNK);
            assertThat(failure.undecided()).isTrue();
            PendingReply second = fixture.client.send(fixture.nullCall().build());
            fixture.responder
                    .connection()
                    .send(Words.errorVersion(fixture.call(2).xid(), 1, 8, 2, 3));
            assertThat(fixture.failure(second).kind()).isEqualTo(Kind.PEER_ERROR_VERSION);
            assertThat(fixture.failure(second)).hasMessageContaining("2 to 3");
            fixture.rig.settle();
            assertThat(fixture.responder.messageCount()).isEqualTo(2);
            fixture.answering(8);
            fixture.reply(fixture.client.send(fixture.nullCall().build()));
        }
    }

    /** Makes a bad reply out of the segments offered. */
    interface BadChunks {
        byte[] reply(RawMessage call, List<Segment> write, List<Segment> replyChunk);
    }

    private static Arguments chunks(String name, boolean disconnects, BadChunks bad) {
        return Arguments.of(Named.of(name, bad), disconnects);
    }

    private static List<Segment> lengths(List<Segment> segments, int length) {
        return segments.stream().map(segment -> segment.withLength(length)).toList();
    }

    private static Segment alteredHandle(Segment segment) {
        return new Segment(segment.handle() + 1, 0, segment.offset());
    }

    static Stream<Arguments> failing() {
        return Stream.of(
                chunks(
                        "no Write list",
                        false,
                        (call, write, reply) -> msg(call.xid(), Words.RDMA_MSG)
                                .end()
                                .end()
                                .chunk(lengths(reply, 0))
                                .add(Words.reply(call.xid(), 0))
                                .toBytes()),
                chunks(
                        "two Write chunks",
                        false,
                        (call, write, reply) -> msg(call.xid(), Words.RDMA_MSG)
                                .end()
                                .chunk(lengths(write, 0))
                                .chunk(lengths(write, 0))
                                .end()
                                .chunk(lengths(reply, 0))
                                .add(Words.reply(call.xid(), 0))
                                .toBytes()),
                chunks(
                        "more written than offered",
                        true,
                        (call, write, reply) -> msg(call.xid(), Words.RDMA_MSG)
                                .end()
                                .chunk(lengths(write, 5001))
                                .end()
                                .chunk(lengths(reply, 0))
                                .add(Words.reply(call.xid(), 0))
                                .toBytes()),
                chunks(
                        "another handle",
                        true,
                        (call, write, reply) -> msg(call.xid(), Words.RDMA_MSG)
                                .end()
                                .chunk(alteredHandle(write.getFirst()))
                                .end()
                                .chunk(lengths(reply, 0))
                                .add(Words.reply(call.xid(), 0))
                                .toBytes()),
                chunks(
                        "another segment count",
                        true,
                        (call, write, reply) -> msg(call.xid(), Words.RDMA_MSG)
                                .end()
                                .chunk(
                                        write.getFirst().withLength(0),
                                        write.getFirst().withLength(0))
                                .end()
                                .chunk(lengths(reply, 0))
                                .add(Words.reply(call.xid(), 0))
                                .toBytes()),
                chunks(
                        "RDMA_MSG with a used Reply chunk",
                        false,
                        (call, write, reply) -> msg(call.xid(), Words.RDMA_MSG)
                                .end()
                                .chunk(lengths(write, 0))
                                .end()
                                .chunk(lengths(reply, 24))
                                .add(Words.reply(call.xid(), 0))
                                .toBytes()),
                chunks(
                        "RDMA_NOMSG with Write list alone",
                        false,
                        (call, write, reply) -> msg(call.xid(), Words.RDMA_NOMSG)
                                .end()
                                .chunk(lengths(write, 4))
                                .end()
                                .end()
                                .toBytes()),
                chunks(
                        "RDMA_NOMSG with an unused Reply chunk",
                        false,
                        (call, write, reply) -> msg(call.xid(), Words.RDMA_NOMSG)
                                .end()
                                .chunk(lengths(write, 4))
                                .end()
                                .chunk(lengths(reply, 0))
                                .toBytes()),
                chunks(
                        "Reply chunk longer than offered",
                        true,
                        (call, write, reply) -> msg(call.xid(), Words.RDMA_NOMSG)
                                .end()
                                .chunk(lengths(write, 4))
                                .end()
                                .chunk(lengths(reply, 20_004))
                                .toBytes()),
                chunks(
                        "foreign bytes in the Reply chunk",
                        false,
                        (call, write, reply) -> msg(call.xid(), Words.RDMA_NOMSG)
                                .end()
                                .chunk(lengths(write, 4))
                                .end()
                                .chunk(lengths(reply, 24))
                                .toBytes()));
    }

    @ParameterizedTest
    @MethodSource("failing")
    void aReplyThatDoesNotFitWhatWasOfferedFailsItsCall(BadChunks bad, boolean disconnects) {
        try (ClientFixture fixture = new ClientFixture(Network.SIMULATION.open())) {
            MemorySegment target = arena.allocate(5000);
            PendingReply pending = fixture.client.send(
                    fixture.nullCall().target(target).maxReplyBytes(20_000).build());
            RawMessage call = fixture.call(1);
            fixture.responder.connection().send(bad.reply(call, call.writeList().getFirst(), call.replyChunk()));
            assertThat(fixture.failure(pending).kind()).isEqualTo(Kind.BAD_REPLY);
            assertThat(fixture.responder.messageCount()).isEqualTo(1);
            fixture.answering(8);
            fixture.reply(fixture.client.send(fixture.nullCall().build()));
            assertThat(fixture.responder.connectionCount()).isEqualTo(disconnects ? 2 : 1);
        }
    }

    @Test
    void chunksThatWereNotOfferedFailTheCall() {
        Segment wild = new Segment(0x7777, 100, 0x1234);
        List<Words> lists = List.of(
                new Words().end().chunk(wild).end().end(),
                new Words().end().end().chunk(wild));
        for (Words list : lists) {
            try (ClientFixture fixture = new ClientFixture(Network.SIMULATION.open())) {
                PendingReply pending = fixture.client.send(fixture.nullCall().build());
                RawMessage call = fixture.call(1);
                fixture.responder
                        .connection()
                        .send(msg(call.xid(), Words.RDMA_MSG).add(list).add(Words.reply(call.xid(), 0)));
                assertThat(fixture.failure(pending).kind()).isEqualTo(Kind.BAD_REPLY);
            }
        }
    }

    @Test
    void anEmptyWriteChunkAndAMissingReplyChunkAreTakenBack() {
        try (ClientFixture fixture = new ClientFixture(Network.SIMULATION.open())) {
            PendingReply pending = fixture.client.send(fixture.nullCall()
                    .target(arena.allocate(5000))
                    .maxReplyBytes(20_000)
                    .build());
            RawMessage call = fixture.call(1);
            fixture.responder
                    .connection()
                    .send(msg(call.xid(), Words.RDMA_MSG)
                            .end()
                            .chunk()
                            .end()
                            .end()
                            .add(Words.reply(call.xid(), 0)));
            Reply reply = fixture.reply(pending);
            assertThat(reply.placedBytes()).isZero();
            assertThat(reply.message().byteSize()).isEqualTo(24);
        }
    }

    @Test
    void creditsOfZeroAndAbsurdOnesAreClamped() {
        try (ClientFixture fixture = new ClientFixture(Network.SIMULATION.open(), builder -> builder.maxInFlight(4))) {
            int calls = 0;
            for (int grant : new int[] {0, 1, Integer.MIN_VALUE, -1, 0, 3}) {
                PendingReply pending = fixture.client.send(fixture.nullCall().build());
                RawMessage call = fixture.call(++calls);
                assertThat(call.credits()).isEqualTo(4);
                ClientFixture.answer(fixture.responder.connection(), call.xid(), grant);
                fixture.reply(pending);
            }
            PendingReply[] many = new PendingReply[6];
            Arrays.setAll(many, i -> fixture.client.send(fixture.nullCall().build()));
            fixture.call(calls + 3);
            fixture.rig.settle();
            assertThat(fixture.responder.messageCount()).isEqualTo(calls + 3);
            fixture.answering(-1);
            for (int i = 1; i <= 3; i++) {
                ClientFixture.answer(
                        fixture.responder.connection(), fixture.call(calls + i).xid(), -1);
            }
            for (PendingReply pending : many) {
                fixture.reply(pending);
            }
        }
    }
}
