// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rpcrdma4j.transport.server.ServerFixture.XID;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.RawConnection;
import org.rpcrdma4j.transport.raw.RawMessage;
import org.rpcrdma4j.transport.raw.Segment;
import org.rpcrdma4j.transport.raw.Words;

/** Results by Write chunk, by Reply chunk and inline, and what a reply invalidates, as a raw client sees them. */
class ServerResultsTest {

    @ParameterizedTest
    @EnumSource
    void writesResultsOfEveryLengthWithoutTheirPadAndSaysHowMuch(Network network) {
        try (ServerFixture fixture = new ServerFixture(network)) {
            RawConnection client = fixture.connect();
            for (int length = 0; length <= 67; length++) {
                RawConnection.Exposed room = ServerFixture.target(client, 80);
                Segment[] offered = {room.part(0, 10), room.part(10, 7), room.part(17, 60)};
                RawMessage reply = fixture.exchange(
                        client,
                        Words.header(XID, 1, 64, Words.RDMA_MSG)
                                .end()
                                .chunk(offered)
                                .end()
                                .end()
                                .add(TestProgram.fetch(XID, length)));
                assertThat(reply.body())
                        .isEqualTo(Words.reply(XID, 0)
                                .u32(1, length, TestProgram.MARK)
                                .toBytes());
                int first = Math.min(length, 10);
                int second = Math.min(length - first, 7);
                assertThat(reply.writeList())
                        .containsExactly(List.of(
                                offered[0].withLength(first),
                                offered[1].withLength(second),
                                offered[2].withLength(length - first - second)));
                byte[] expected = new byte[80];
                Arrays.fill(expected, (byte) 0xEE);
                System.arraycopy(TestProgram.result(length), 0, expected, 0, length);
                assertThat(room.bytes()).isEqualTo(expected);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void fillsWriteChunksInOrderAndLeavesTheRestInline(Network network) {
        try (ServerFixture fixture = new ServerFixture(network)) {
            RawConnection client = fixture.connect();
            for (int chunks = 1; chunks <= 4; chunks++) {
                RawConnection.Exposed room = ServerFixture.target(client, 400);
                Words header = Words.header(XID, 1, 64, Words.RDMA_MSG).end();
                for (int i = 0; i < chunks; i++) {
                    header.chunk(room.part(100 * i, 100));
                }
                RawMessage reply =
                        fixture.exchange(client, header.end().end().add(TestProgram.fetch(XID, 10, 0, 20, 30)));
                Words expected = Words.reply(XID, 0).u32(4, 10);
                int[] lengths = {10, 20, 30, 0};
                expected.u32(TestProgram.MARK, 0, TestProgram.MARK, 20);
                if (chunks < 2) {
                    expected.padded(TestProgram.result(20));
                }
                expected.u32(TestProgram.MARK, 30);
                if (chunks < 3) {
                    expected.padded(TestProgram.result(30));
                }
                expected.u32(TestProgram.MARK);
                assertThat(reply.body()).isEqualTo(expected.toBytes());
                for (int i = 0; i < chunks; i++) {
                    assertThat(reply.writeList().get(i))
                            .containsExactly(room.part(100 * i, 100).withLength(lengths[i]));
                    assertThat(Arrays.copyOfRange(room.bytes(), 100 * i, 100 * i + lengths[i]))
                            .isEqualTo(TestProgram.result(lengths[i]));
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void returnsAnEmptyWriteChunkForAResultThatIsWantedInline(Network network) {
        try (ServerFixture fixture = new ServerFixture(network)) {
            RawConnection client = fixture.connect();
            RawConnection.Exposed room = ServerFixture.target(client, 200);
            RawMessage reply = fixture.exchange(
                    client,
                    Words.header(XID, 1, 64, Words.RDMA_MSG)
                            .end()
                            .chunk(room.part(0, 100))
                            .chunk()
                            .chunk(room.part(100, 100))
                            .end()
                            .end()
                            .add(TestProgram.fetch(XID, 10, 21, 30)));
            assertThat(reply.writeList())
                    .containsExactly(List.of(room.part(0, 10)), List.of(), List.of(room.part(100, 30)));
            assertThat(reply.body())
                    .isEqualTo(Words.reply(XID, 0)
                            .u32(3, 10, TestProgram.MARK, 21)
                            .padded(TestProgram.result(21))
                            .u32(TestProgram.MARK, 30, TestProgram.MARK)
                            .toBytes());
        }
    }

    @ParameterizedTest
    @EnumSource
    void usesWriteAndReplyChunkTogether(Network network) {
        try (ServerFixture fixture = new ServerFixture(network)) {
            RawConnection client = fixture.connect();
            RawConnection.Exposed room = ServerFixture.target(client, 70_000);
            RawConnection.Exposed rest = ServerFixture.target(client, 70_000);
            RawMessage reply = fixture.exchange(
                    client,
                    Words.header(XID, 1, 64, Words.RDMA_MSG)
                            .end()
                            .chunk(room.segment())
                            .end()
                            .chunk(rest.part(0, 6), rest.part(6, 69_994))
                            .add(TestProgram.fetch(XID, 60_000, 50_001)));
            assertThat(reply.procedure()).isEqualTo(Words.RDMA_NOMSG);
            assertThat(reply.writeList()).containsExactly(List.of(room.part(0, 60_000)));
            byte[] expected = Words.reply(XID, 0)
                    .u32(2, 60_000, TestProgram.MARK)
                    .opaque(TestProgram.result(50_001))
                    .u32(TestProgram.MARK)
                    .toBytes();
            assertThat(reply.replyChunk()).containsExactly(rest.part(0, 6), rest.part(6, expected.length - 6));
            assertThat(Arrays.copyOf(rest.bytes(), expected.length)).isEqualTo(expected);
            assertThat(Arrays.copyOf(room.bytes(), 60_000)).isEqualTo(TestProgram.result(60_000));
            assertThat(fixture.count(ServerCounter.NOMSG_REPLIES)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void invalidatesTheOnlyHandleOfACallWhenBothEndsAllowIt(Network network) {
        try (ServerFixture fixture = new ServerFixture(network)) {
            RawConnection client = fixture.connect(ServerFixture.INVALIDATED);
            RawConnection.Exposed room = ServerFixture.target(client, 100);
            RawConnection.Exposed other = ServerFixture.target(client, 100);
            Words call = Words.header(XID, 1, 64, Words.RDMA_MSG)
                    .end()
                    .chunk(room.part(0, 50), room.part(50, 50))
                    .end()
                    .chunk(other.segment())
                    .add(TestProgram.fetch(XID, 80));
            assertThat(fixture.exchange(client, call).invalidatedKey()).isNull();
            call = Words.header(XID, 1, 64, Words.RDMA_MSG)
                    .end()
                    .chunk(room.part(0, 50), room.part(50, 50))
                    .end()
                    .end()
                    .add(TestProgram.fetch(XID, 80));
            assertThat(fixture.exchange(client, call).invalidatedKey())
                    .isEqualTo(room.segment().handle());
            // RFC 8797, Section 4.1: the client has not set R.
            RawConnection plain = fixture.connect();
            RawConnection.Exposed third = ServerFixture.target(plain, 100);
            call = Words.header(XID, 1, 64, Words.RDMA_MSG)
                    .end()
                    .chunk(third.segment())
                    .end()
                    .end()
                    .add(TestProgram.fetch(XID, 80));
            assertThat(fixture.exchange(plain, call).invalidatedKey()).isNull();
        }
    }
}
