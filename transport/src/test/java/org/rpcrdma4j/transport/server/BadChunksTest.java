// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rpcrdma4j.transport.server.ServerFixture.XID;

import java.util.Arrays;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.RawConnection;
import org.rpcrdma4j.transport.raw.RawMessage;
import org.rpcrdma4j.transport.raw.Segment;
import org.rpcrdma4j.transport.raw.Words;
import org.rpcrdma4j.verbs.Access;

/** What the server does with chunks and replies that do not fit: RFC 8166, Section 4.5, and what it leaves open. */
class BadChunksTest {

    private static Words call(int procedure) {
        return TestProgram.call(XID, procedure);
    }

    private static Words header(int procedure) {
        return Words.header(XID, 1, 64, procedure);
    }

    private static Segment segment(int length) {
        return new Segment(0x1a01, length, 0x0a000001_00010000L);
    }

    @ParameterizedTest
    @EnumSource
    void pullsNothingForChunksThatAreTooLargeOrDoNotFitTheStream(Network network) {
        try (ServerFixture fixture = new ServerFixture(network)) {
            RawConnection client = fixture.connect();
            Words store = call(TestProgram.STORE).u32(1, 8192).u32(TestProgram.MARK);
            fixture.assertRefused(
                    client,
                    header(Words.RDMA_MSG)
                            .readSegment(48, segment(0xFFFF_FFFF))
                            .end()
                            .end()
                            .end()
                            .add(store));
            fixture.assertRefused(
                    client,
                    header(Words.RDMA_NOMSG)
                            .readSegment(0, segment(0xFFFF_FFFF))
                            .end()
                            .end()
                            .end());
            Words many = header(Words.RDMA_MSG);
            for (int i = 0; i < 40; i++) {
                many.readSegment(48, segment(0xFFFF_FFFF));
            }
            fixture.assertRefused(client, many.end().end().end().add(store));
            fixture.assertRefused(
                    client,
                    header(Words.RDMA_MSG)
                            .readSegment(48, segment(5097))
                            .readSegment(52, segment(8))
                            .end()
                            .end()
                            .end()
                            .add(store));
            fixture.assertRefused(
                    client,
                    header(Words.RDMA_MSG)
                            .readSegment(4000, segment(8))
                            .end()
                            .end()
                            .end()
                            .add(store));
            assertThat(fixture.count(ServerCounter.READS)).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void answersReducedItemsThatAreNotEligibleWithGarbageArgsAndDoesNotExecuteThem(Network network) {
        try (ServerFixture fixture = new ServerFixture(network)) {
            RawConnection client = fixture.connect();
            RawConnection.Exposed memory = client.expose(8192, Access.REMOTE_READ);
            Words[] bodies = {
                // Not an eligible procedure; too short; too long; another position; two items in one chunk.
                header(Words.RDMA_MSG)
                        .readSegment(44, memory.part(0, 100))
                        .end()
                        .end()
                        .end()
                        .add(call(TestProgram.ECHO).u32(100)),
                header(Words.RDMA_MSG)
                        .readSegment(48, memory.part(0, 4096))
                        .end()
                        .end()
                        .end()
                        .add(call(TestProgram.STORE).u32(1, 4097, TestProgram.MARK)),
                header(Words.RDMA_MSG)
                        .readSegment(48, memory.part(0, 4098))
                        .end()
                        .end()
                        .end()
                        .add(call(TestProgram.STORE).u32(1, 4097, TestProgram.MARK)),
                header(Words.RDMA_MSG)
                        .readSegment(52, memory.part(0, 4))
                        .end()
                        .end()
                        .end()
                        .add(call(TestProgram.STORE).u32(1, 8, 0, TestProgram.MARK)),
                header(Words.RDMA_MSG)
                        .readSegment(48, memory.part(0, 24))
                        .end()
                        .end()
                        .end()
                        .add(call(TestProgram.STORE).u32(2, 8, TestProgram.MARK)),
            };
            int calls = fixture.program.calls.get();
            for (Words body : bodies) {
                RawMessage reply = fixture.exchange(client, body);
                assertThat(reply.body()).isEqualTo(Words.reply(XID, 4).toBytes());
            }
            assertThat(fixture.program.calls).hasValue(calls);
            assertThat(fixture.program.stored).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void answersWithErrorChunkWhenTheReplyDoesNotFitAndWritesNothing(Network network) {
        try (ServerFixture fixture = new ServerFixture(network)) {
            RawConnection client = fixture.connect();
            byte[] rubbish = new byte[100];
            Arrays.fill(rubbish, (byte) 0xEE);
            RawConnection.Exposed room = client.expose(100, Access.REMOTE_WRITE).fill(rubbish);
            Words fetch = call(TestProgram.FETCH).u32(1, 5000);
            fixture.assertRefused(client, header(Words.RDMA_MSG).noChunks().add(fetch));
            fixture.assertRefused(
                    client,
                    header(Words.RDMA_MSG).end().end().chunk(room.segment()).add(fetch));
            fixture.assertRefused(
                    client,
                    header(Words.RDMA_MSG)
                            .end()
                            .chunk(room.segment())
                            .end()
                            .end()
                            .add(fetch));
            assertThat(room.bytes()).isEqualTo(rubbish);
            assertThat(fixture.count(ServerCounter.WRITES)).isZero();
            assertThat(fixture.count(ServerCounter.REPLY_FAILURES)).isEqualTo(3);
            assertThat(fixture.count(ServerCounter.REPLIES_WITHOUT_ROOM)).isEqualTo(3);
        }
    }

    @ParameterizedTest
    @EnumSource
    void neverSendsMoreThanTheClientReceives(Network network) {
        try (ServerFixture fixture = new ServerFixture(network)) {
            // Without private data both sizes are 1024; with 2048 that is the bound, whatever the server could.
            String[] data = {"", "f6ab0e18 01000301"};
            int[] sizes = {1024, 2048};
            for (int i = 0; i < data.length; i++) {
                RawConnection client = fixture.connect(data[i]);
                // Header 28, reply 24, count 4, length 4, MARK 4.
                int largest = sizes[i] - 28 - 36;
                for (int length = largest - 4; length <= largest + 4; length += 4) {
                    RawMessage reply = fixture.exchange(
                            client,
                            header(Words.RDMA_MSG)
                                    .noChunks()
                                    .add(call(TestProgram.FETCH).u32(1, length)));
                    assertThat(reply.isErrorChunk()).isEqualTo(length > largest);
                    assertThat(reply.length()).isLessThanOrEqualTo(sizes[i]);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void answersAHandlerThatFailsWithSystemError(Network network) {
        try (ServerFixture fixture = new ServerFixture(network)) {
            RawConnection client = fixture.connect();
            RawMessage reply =
                    fixture.exchange(client, header(Words.RDMA_MSG).noChunks().add(call(TestProgram.FAIL)));
            assertThat(reply.body()).isEqualTo(Words.reply(XID, 5).toBytes());
        }
    }

    @ParameterizedTest
    @EnumSource
    void refusesAZeroSegmentWriteChunkWhenItIsStrict(Network network) {
        ServerOptions strict =
                ServerOptions.builder().allowEmptyWriteChunk(false).build();
        try (ServerFixture fixture = new ServerFixture(network, strict)) {
            RawConnection client = fixture.connect();
            fixture.assertRefused(
                    client, header(Words.RDMA_MSG).end().chunk().end().end().add(call(0)));
        }
    }

    @ParameterizedTest
    @EnumSource
    void doesNotExecuteACallWhoseSmallestResultsHaveNoRoom(Network network) {
        try (ServerFixture fixture = new ServerFixture(network)) {
            RawConnection client = fixture.connect("f6ab0e18 01000300");
            RawConnection.Exposed room = client.expose(4096, Access.REMOTE_WRITE);
            Words page = call(TestProgram.PAGE);
            RawConnection.Exposed longCall = client.expose(page.length(), Access.REMOTE_READ);
            longCall.fill(page.toBytes());
            int whole = 24 + TestProgram.PAGE_BYTES;
            Words[] without = {
                header(Words.RDMA_MSG).noChunks().add(page),
                header(Words.RDMA_MSG)
                        .end()
                        .end()
                        .chunk(room.part(0, whole - 1))
                        .add(page),
                header(Words.RDMA_NOMSG)
                        .readSegment(0, longCall.segment())
                        .end()
                        .end()
                        .end(),
                header(Words.RDMA_NOMSG)
                        .readSegment(0, longCall.segment())
                        .end()
                        .end()
                        .chunk(room.part(0, whole - 1)),
            };
            for (Words each : without) {
                int calls = fixture.program.calls.get();
                fixture.assertRefused(client, each);
                assertThat(fixture.program.calls).as("the NULL call only").hasValue(calls + 1);
            }
            assertThat(fixture.count(ServerCounter.BAD_CALLS_CHUNKS)).isEqualTo(without.length);
            assertThat(fixture.count(ServerCounter.REPLY_FAILURES)).isZero();
            RawMessage reply = fixture.exchange(
                    client,
                    header(Words.RDMA_MSG)
                            .end()
                            .end()
                            .chunk(room.part(0, whole))
                            .add(page));
            assertThat(reply.procedure()).isEqualTo(Words.RDMA_NOMSG);
            assertThat(room.bytes()).startsWith(Words.reply(XID, 0).toBytes());
            RawMessage inline = fixture.exchange(
                    fixture.connect(), header(Words.RDMA_MSG).noChunks().add(page));
            assertThat(inline.body()).hasSize(whole);
        }
    }
}
