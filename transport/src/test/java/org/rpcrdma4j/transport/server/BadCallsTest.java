// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rpcrdma4j.transport.server.ServerFixture.nullCall;

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

/** What the server does with messages that are wrong: RFC 8166, Section 4.5, and what it leaves open. */
class BadCallsTest {

    private static final int XID = 0x7b3f1c20;

    private static Words call(int procedure) {
        return Words.call(XID, TestProgram.PROGRAM, 1, procedure);
    }

    private static Words header(int procedure) {
        return Words.header(XID, 1, 64, procedure);
    }

    private static Segment segment(int length) {
        return new Segment(0x1a01, length, 0x0a000001_00010000L);
    }

    private static void assertErrorChunk(RawMessage reply) {
        assertThat(reply.isErrorChunk()).as("%s", reply).isTrue();
        assertThat(reply.xid()).isEqualTo(XID);
        assertThat(reply.version()).isEqualTo(1);
        assertThat(reply.credits()).isPositive();
        assertThat(reply.invalidatedKey()).isNull();
    }

    /** Exactly one ERR_CHUNK, and the connection lives. */
    private static void refused(ServerFixture fixture, RawConnection client, byte[] message) {
        assertErrorChunk(fixture.exchange(client, message));
        int before = client.messageCount();
        ServerFixture.assertNullReply(fixture.exchange(client, nullCall(1)), 1);
        assertThat(client.messageCount()).isEqualTo(before + 1);
        assertThat(fixture.program.stored).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void dropsWhatIsTooShortWithoutAWord(Network network) {
        try (ServerFixture fixture = new ServerFixture(network)) {
            RawConnection client = fixture.connect();
            byte[] good = nullCall(XID).toBytes();
            byte[] otherVersion = good.clone();
            otherVersion[7] = 2;
            for (int length : new int[] {0, 1, 3, 15, 16, 20, 27}) {
                fixture.assertDropped(client, Arrays.copyOf(good, length));
                fixture.assertDropped(client, Arrays.copyOf(otherVersion, length));
            }
            assertThat(fixture.count(ServerCounter.BAD_CALLS_SHORT)).isEqualTo(14);
        }
    }

    @ParameterizedTest
    @EnumSource
    void endsTheConnectionOfAClientThatSendsNothingButShortMessages(Network network) {
        try (ServerFixture fixture = new ServerFixture(network)) {
            RawConnection client = fixture.connect();
            for (int i = 0; i < 8; i++) {
                client.send(new byte[12]);
            }
            fixture.await("the server disconnects", client::hasEnded);
            assertThat(client.messageCount()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void answersAnotherVersionWithItsOwn(Network network) {
        // U07.
        try (ServerFixture fixture = new ServerFixture(network)) {
            RawConnection client = fixture.connect();
            for (int version : new int[] {0, 2, 0xFFFF_FFFF}) {
                byte[][] bodies = {
                    Words.header(XID, version, 64, 0).noChunks().add(call(0)).toBytes(),
                    Words.header(XID, version, 64, 77).u32(9, 9, 9, 9, 9).toBytes(),
                    Words.header(XID, version, 64, 0).u32(5, 5, 5).toBytes(),
                };
                for (byte[] body : bodies) {
                    RawMessage reply = fixture.exchange(client, body);
                    assertThat(reply.bytes())
                            .isEqualTo(Words.errorVersion(XID, version, reply.credits(), 1, 1)
                                    .toBytes());
                    assertThat(reply.credits()).isPositive();
                }
            }
            assertThat(fixture.count(ServerCounter.ERRORS_SENT_VERSION)).isEqualTo(9);
        }
    }

    @ParameterizedTest
    @EnumSource
    void answersProceduresThatAreNotOursWithErrorChunkAndDropsDoneAndErrors(Network network) {
        try (ServerFixture fixture = new ServerFixture(network)) {
            RawConnection client = fixture.connect();
            for (int procedure : new int[] {Words.RDMA_MSGP, 5, 6, 0xFFFF_FFFF}) {
                refused(
                        fixture,
                        client,
                        header(procedure).noChunks().add(call(0)).toBytes());
            }
            fixture.assertDropped(client, header(Words.RDMA_DONE).toBytes());
            fixture.assertDropped(client, header(Words.RDMA_DONE).noChunks().toBytes());
            fixture.assertDropped(client, Words.errorChunk(XID, 1, 64).toBytes());
            fixture.assertDropped(client, Words.errorVersion(XID, 1, 64, 1, 1).toBytes());
            fixture.assertDropped(client, Words.errorVersion(XID, 2, 64, 1, 1).toBytes());
            fixture.assertDropped(
                    client, header(Words.RDMA_ERROR).u32(7, 7, 7, 7).toBytes());
        }
    }

    @ParameterizedTest
    @EnumSource
    void answersListsThatCannotBeReadWithErrorChunk(Network network) {
        try (ServerFixture fixture = new ServerFixture(network)) {
            RawConnection client = fixture.connect();
            byte[] write = header(Words.RDMA_MSG)
                    .readSegment(48, segment(8192))
                    .end()
                    .end()
                    .end()
                    .toBytes();
            // Stale bytes of a good call lie behind: U17.
            for (int length = 28; length < write.length; length += 4) {
                refused(fixture, client, Arrays.copyOf(write, length));
            }
            for (int discriminator : new int[] {2, 0x8000_0000}) {
                Words discriminators = header(Words.RDMA_MSG);
                refused(
                        fixture,
                        client,
                        Words.hex(discriminators.toString())
                                .u32(discriminator, 0, 0)
                                .add(call(0))
                                .toBytes());
                refused(
                        fixture,
                        client,
                        Words.hex(discriminators.toString())
                                .u32(0, discriminator, 0)
                                .add(call(0))
                                .toBytes());
                refused(
                        fixture,
                        client,
                        Words.hex(discriminators.toString())
                                .u32(0, 0, discriminator)
                                .add(call(0))
                                .toBytes());
            }
            for (int count : new int[] {0x7FFF_FFFF, 0x1000_0001, 0xFFFF_FFFF, 261, 3}) {
                Words chunk = header(Words.RDMA_MSG).end().u32(1, count, 1, 2, 3, 4);
                refused(fixture, client, chunk.end().end().toBytes());
            }
            refused(
                    fixture,
                    client,
                    header(Words.RDMA_MSG).end().end().chunk().add(call(0)).toBytes());
            refused(
                    fixture,
                    client,
                    header(Words.RDMA_MSG)
                            .readSegment(0x8d, segment(8192))
                            .end()
                            .end()
                            .end()
                            .add(call(0))
                            .toBytes());
        }
    }

    @ParameterizedTest
    @EnumSource
    void answersFormsWithoutAPayloadAndXidsThatDifferWithErrorChunk(Network network) {
        try (ServerFixture fixture = new ServerFixture(network)) {
            RawConnection client = fixture.connect();
            refused(fixture, client, header(Words.RDMA_NOMSG).noChunks().toBytes());
            refused(
                    fixture,
                    client,
                    header(Words.RDMA_NOMSG)
                            .end()
                            .chunk(segment(100))
                            .end()
                            .end()
                            .toBytes());
            refused(
                    fixture,
                    client,
                    header(Words.RDMA_NOMSG).end().end().chunk(segment(100)).toBytes());
            refused(
                    fixture,
                    client,
                    header(Words.RDMA_NOMSG)
                            .readSegment(48, segment(8))
                            .end()
                            .end()
                            .end()
                            .toBytes());
            // U25.
            refused(
                    fixture,
                    client,
                    header(Words.RDMA_MSG)
                            .noChunks()
                            .add(Words.call(XID + 1, TestProgram.PROGRAM, 1, 0))
                            .toBytes());
            refused(fixture, client, header(Words.RDMA_MSG).noChunks().toBytes());
            refused(fixture, client, header(Words.RDMA_MSG).noChunks().u32(XID).toBytes());
            refused(
                    fixture,
                    client,
                    header(Words.RDMA_MSG).noChunks().u32(XID, 2, 3).toBytes());
            RawConnection.Exposed other = client.expose(40, Access.REMOTE_READ)
                    .fill(Words.call(XID + 1, TestProgram.PROGRAM, 1, 0).toBytes());
            refused(
                    fixture,
                    client,
                    header(Words.RDMA_NOMSG)
                            .readSegment(0, other.segment())
                            .end()
                            .end()
                            .end()
                            .toBytes());
        }
    }

    @ParameterizedTest
    @EnumSource
    void pullsNothingForChunksThatAreTooLargeOrDoNotFitTheStream(Network network) {
        try (ServerFixture fixture = new ServerFixture(network)) {
            RawConnection client = fixture.connect();
            Words store = call(TestProgram.STORE).u32(1, 8192).u32(TestProgram.MARK);
            refused(
                    fixture,
                    client,
                    header(Words.RDMA_MSG)
                            .readSegment(48, segment(0xFFFF_FFFF))
                            .end()
                            .end()
                            .end()
                            .add(store)
                            .toBytes());
            refused(
                    fixture,
                    client,
                    header(Words.RDMA_NOMSG)
                            .readSegment(0, segment(0xFFFF_FFFF))
                            .end()
                            .end()
                            .end()
                            .toBytes());
            Words many = header(Words.RDMA_MSG);
            for (int i = 0; i < 40; i++) {
                many.readSegment(48, segment(0xFFFF_FFFF));
            }
            refused(fixture, client, many.end().end().end().add(store).toBytes());
            refused(
                    fixture,
                    client,
                    header(Words.RDMA_MSG)
                            .readSegment(48, segment(5097))
                            .readSegment(52, segment(8))
                            .end()
                            .end()
                            .end()
                            .add(store)
                            .toBytes());
            refused(
                    fixture,
                    client,
                    header(Words.RDMA_MSG)
                            .readSegment(4000, segment(8))
                            .end()
                            .end()
                            .end()
                            .add(store)
                            .toBytes());
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
            refused(
                    fixture,
                    client,
                    header(Words.RDMA_MSG).noChunks().add(fetch).toBytes());
            refused(
                    fixture,
                    client,
                    header(Words.RDMA_MSG)
                            .end()
                            .end()
                            .chunk(room.segment())
                            .add(fetch)
                            .toBytes());
            refused(
                    fixture,
                    client,
                    header(Words.RDMA_MSG)
                            .end()
                            .chunk(room.segment())
                            .end()
                            .end()
                            .add(fetch)
                            .toBytes());
            assertThat(room.bytes()).isEqualTo(rubbish);
            assertThat(fixture.count(ServerCounter.WRITES)).isZero();
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
            refused(
                    fixture,
                    client,
                    header(Words.RDMA_MSG)
                            .end()
                            .chunk()
                            .end()
                            .end()
                            .add(call(0))
                            .toBytes());
        }
    }
}
