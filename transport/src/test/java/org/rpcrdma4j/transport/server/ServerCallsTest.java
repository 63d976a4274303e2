// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rpcrdma4j.transport.server.ServerFixture.XID;
import static org.rpcrdma4j.transport.server.ServerFixture.nullCall;

import java.util.Arrays;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.RawConnection;
import org.rpcrdma4j.transport.raw.RawMessage;
import org.rpcrdma4j.transport.raw.Segment;
import org.rpcrdma4j.transport.raw.Words;

/** Calls in all forms from a client that makes every byte itself. */
class ServerCallsTest {

    /** STORE's arguments up to the bytes of its only item, which are at 48. */
    private static Words storeHead(int xid, int length) {
        return TestProgram.call(xid, TestProgram.STORE).u32(1, length);
    }

    @ParameterizedTest
    @EnumSource
    void answersNullWithCreditsAndWithoutChunks(Network network) {
        try (ServerFixture fixture = new ServerFixture(network)) {
            RawConnection client = fixture.connect();
            for (int i = 0; i < 200; i++) {
                RawMessage reply = fixture.exchange(client, nullCall(XID + i));
                ServerFixture.assertNullReply(reply, XID + i);
                assertThat(reply.credits()).isEqualTo(64);
                assertThat(reply.readList()).isEmpty();
                assertThat(reply.writeList()).isEmpty();
                assertThat(reply.replyChunk()).isNull();
                assertThat(reply.invalidatedKey()).isNull();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void answersAsManyCallsAtOnceAsItGrants(Network network) {
        try (ServerFixture fixture = new ServerFixture(network)) {
            RawConnection client = fixture.connect();
            for (int round = 1; round <= 5; round++) {
                for (int i = 0; i < 64; i++) {
                    client.send(nullCall(1000 * round + i));
                }
                int expected = 64 * round;
                fixture.await("all are answered", () -> client.messageCount() == expected || client.hasEnded());
            }
            assertThat(client.messageCount()).isEqualTo(320);
            assertThat(client.messages().stream().map(RawMessage::xid).distinct())
                    .hasSize(320);
        }
    }

    @ParameterizedTest
    @EnumSource
    void pullsAReadChunkWithAndWithoutPadWhateverItsSegments(Network network) {
        try (ServerFixture fixture = new ServerFixture(network)) {
            RawConnection client = fixture.connect();
            byte[] data = TestProgram.result(4097);
            RawConnection.Exposed memory = ServerFixture.source(client, Arrays.copyOf(data, 4100));
            Segment[][] cuts = {
                {memory.part(0, 4097)},
                {memory.part(0, 4100)},
                {memory.part(0, 4097), memory.part(4097, 3)},
                {memory.part(0, 1), memory.part(1, 4095), memory.part(4096, 1)},
                {memory.part(0, 1365), memory.part(1365, 1365), memory.part(2730, 1365), memory.part(4095, 2)},
                {memory.part(0, 0), memory.part(0, 4097), memory.part(9, 0)},
            };
            for (int i = 0; i < cuts.length; i++) {
                Words header = Words.header(XID + i, 1, 64, Words.RDMA_MSG);
                for (Segment segment : cuts[i]) {
                    header.readSegment(48, segment);
                }
                header.end().end().end();
                RawMessage reply = fixture.exchange(
                        client, header.add(storeHead(XID + i, 4097)).u32(TestProgram.MARK));
                assertThat(reply.body())
                        .isEqualTo(Words.reply(XID + i, 0).u32(1).toBytes());
                assertThat(reply.readList()).isEmpty();
                assertThat(fixture.program.stored).hasSize(i + 1);
                assertThat(fixture.program.stored.get(i)).isEqualTo(data);
                // The head, the chunk with its pad, the tail: nothing was copied together.
                assertThat(fixture.program.lastPieces).isEqualTo(3);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void putsSeveralReadChunksIntoAnyFormOfCall(Network network) {
        try (ServerFixture fixture = new ServerFixture(network)) {
            RawConnection client = fixture.connect();
            RawConnection.Exposed one = ServerFixture.source(client, TestProgram.result(5));
            RawConnection.Exposed two = ServerFixture.source(client, TestProgram.result(9000));
            // Items at 48 (5 bytes), 64 (3 bytes, in the stream), 76 (9000 bytes).
            Words base = storeHead(XID, 5);
            base = Words.hex(base.toString()).u32(TestProgram.MARK).opaque((byte) 1, (byte) 2, (byte) 3);
            base.u32(TestProgram.MARK, 9000, TestProgram.MARK);
            byte[] body = base.toBytes();
            body[43] = 3;
            RawConnection.Exposed longCall = ServerFixture.source(client, body);
            RawMessage reply = fixture.exchange(
                    client,
                    Words.header(XID, 1, 64, Words.RDMA_MSG)
                            .readSegment(76, two.segment())
                            .readSegment(48, one.segment())
                            .end()
                            .end()
                            .end()
                            .raw(body));
            assertThat(reply.body()).isEqualTo(Words.reply(XID, 0).u32(3).toBytes());
            reply = fixture.exchange(
                    client,
                    Words.header(XID, 1, 64, Words.RDMA_NOMSG)
                            .readSegment(0, longCall.part(0, 30))
                            .readSegment(76, two.part(0, 8192))
                            .readSegment(48, one.segment())
                            .readSegment(0, longCall.part(30, body.length - 30))
                            .readSegment(76, two.part(8192, 808))
                            .end()
                            .end()
                            .end());
            assertThat(reply.body()).isEqualTo(Words.reply(XID, 0).u32(3).toBytes());
            assertThat(fixture.program.stored).hasSize(6);
            for (int i = 0; i < 6; i += 3) {
                assertThat(fixture.program.stored.get(i)).isEqualTo(TestProgram.result(5));
                assertThat(fixture.program.stored.get(i + 1)).containsExactly(1, 2, 3);
                assertThat(fixture.program.stored.get(i + 2)).isEqualTo(TestProgram.result(9000));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void servesALongCallOfAnySizeAndAnySegments(Network network) {
        try (ServerFixture fixture = new ServerFixture(network)) {
            RawConnection client = fixture.connect();
            byte[] body = TestProgram.call(XID, TestProgram.NULL).toBytes();
            RawConnection.Exposed memory = ServerFixture.source(client, body);
            RawMessage reply = fixture.exchange(
                    client,
                    Words.header(XID, 1, 64, Words.RDMA_NOMSG)
                            .readSegment(0, memory.segment())
                            .end()
                            .end()
                            .end());
            ServerFixture.assertNullReply(reply, XID);
            byte[] large = TestProgram.call(XID, TestProgram.ECHO)
                    .opaque(TestProgram.result(40_003))
                    .toBytes();
            RawConnection.Exposed largeMemory = ServerFixture.source(client, large);
            RawConnection.Exposed room = ServerFixture.target(client, 65_536);
            Words header = Words.header(XID, 1, 64, Words.RDMA_NOMSG);
            int step = large.length / 40;
            for (int i = 0; i < 40; i++) {
                int from = i * step;
                header.readSegment(0, largeMemory.part(from, i == 39 ? large.length - from : step));
            }
            reply = fixture.exchange(client, header.end().end().chunk(room.segment()));
            assertThat(reply.procedure()).isEqualTo(Words.RDMA_NOMSG);
            assertThat(reply.body()).isEmpty();
            int length = Objects.requireNonNull(reply.replyChunk()).getFirst().length();
            assertThat(Arrays.copyOf(room.bytes(), length))
                    .isEqualTo(Words.reply(XID, 0)
                            .opaque(TestProgram.result(40_003))
                            .toBytes());
            assertThat(room.bytes()[length]).isEqualTo((byte) 0xEE);
        }
    }

    @ParameterizedTest
    @EnumSource
    void findsTheCallBehindAnyCombinationOfLists(Network network) {
        // U01.
        try (ServerFixture fixture = new ServerFixture(network)) {
            RawConnection client = fixture.connect();
            RawConnection.Exposed memory = ServerFixture.source(client, TestProgram.result(8));
            RawConnection.Exposed room = ServerFixture.target(client, 4096);
            for (int lists = 0; lists < 8; lists++) {
                boolean reads = (lists & 1) != 0;
                Words header = Words.header(XID, 1, 64, Words.RDMA_MSG);
                if (reads) {
                    header.readSegment(48, memory.segment());
                }
                header.end();
                if ((lists & 2) != 0) {
                    header.chunk(room.part(0, 100), room.part(100, 50));
                }
                header.end();
                if ((lists & 4) != 0) {
                    header.chunk(room.part(200, 100), room.part(300, 7));
                } else {
                    header.end();
                }
                Words body = reads
                        ? storeHead(XID, 8).u32(TestProgram.MARK)
                        : TestProgram.call(XID, TestProgram.ECHO).opaque((byte) lists);
                RawMessage reply = fixture.exchange(client, header.add(body));
                Words expected = Words.reply(XID, 0);
                assertThat(reply.body()).isEqualTo((reads ? expected.u32(1) : expected.opaque((byte) lists)).toBytes());
                assertThat(reply.writeList()).hasSize((lists & 2) / 2);
                assertThat(reply.replyChunk() != null).isEqualTo((lists & 4) != 0);
                if (reply.replyChunk() != null) {
                    // RFC 8166, Section 4.3.3: not used, so with lengths of 0.
                    assertThat(reply.replyChunk())
                            .containsExactly(
                                    room.part(200, 100).withLength(0),
                                    room.part(300, 7).withLength(0));
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void servesTheLargestCallThatEveryNfsServerMustServe(Network network) {
        // RFC 8267, Section 6.4.2: a Long Call, a Read chunk, a Write chunk and a Reply chunk of 16 segments each.
        try (ServerFixture fixture = new ServerFixture(network)) {
            RawConnection client = fixture.connect();
            byte[] data = TestProgram.result(1603);
            byte[] body = storeHead(XID, data.length).u32(TestProgram.MARK).toBytes();
            RawConnection.Exposed longCall = ServerFixture.source(client, body);
            RawConnection.Exposed item = ServerFixture.source(client, data);
            RawConnection.Exposed room = ServerFixture.target(client, 1600);
            RawConnection.Exposed reply = ServerFixture.target(client, 1600);
            Words header = Words.header(XID, 1, 64, Words.RDMA_NOMSG);
            for (int i = 0; i < 16; i++) {
                header.readSegment(0, longCall.part(3 * i, i == 15 ? body.length - 45 : 3));
            }
            for (int i = 0; i < 16; i++) {
                header.readSegment(48, item.part(100 * i, i == 15 ? 103 : 100));
            }
            Segment[] rooms = new Segment[16];
            Segment[] replies = new Segment[16];
            for (int i = 0; i < 16; i++) {
                rooms[i] = room.part(100 * i, 100);
                replies[i] = reply.part(100 * i, 100);
            }
            RawMessage answer =
                    fixture.exchange(client, header.end().chunk(rooms).end().chunk(replies));
            assertThat(answer.body()).isEqualTo(Words.reply(XID, 0).u32(1).toBytes());
            assertThat(answer.writeList().getFirst()).hasSize(16);
            assertThat(answer.replyChunk()).hasSize(16);
            assertThat(fixture.program.stored.getFirst()).isEqualTo(data);
        }
    }
}
