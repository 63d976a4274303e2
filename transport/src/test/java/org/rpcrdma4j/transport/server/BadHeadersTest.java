// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rpcrdma4j.transport.server.ServerFixture.XID;
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

/** What the server does with headers that are wrong: RFC 8166, Section 4.5, and what it leaves open. */
class BadHeadersTest {

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
                fixture.assertRefused(client, header(procedure).noChunks().add(call(0)));
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
                fixture.assertRefused(client, Arrays.copyOf(write, length));
            }
            for (int discriminator : new int[] {2, 0x8000_0000}) {
                Words discriminators = header(Words.RDMA_MSG);
                fixture.assertRefused(
                        client,
                        Words.hex(discriminators.toString())
                                .u32(discriminator, 0, 0)
                                .add(call(0)));
                fixture.assertRefused(
                        client,
                        Words.hex(discriminators.toString())
                                .u32(0, discriminator, 0)
                                .add(call(0)));
                fixture.assertRefused(
                        client,
                        Words.hex(discriminators.toString())
                                .u32(0, 0, discriminator)
                                .add(call(0)));
            }
            for (int count : new int[] {0x7FFF_FFFF, 0x1000_0001, 0xFFFF_FFFF, 261, 3}) {
                Words chunk = header(Words.RDMA_MSG).end().u32(1, count, 1, 2, 3, 4);
                fixture.assertRefused(client, chunk.end().end());
            }
            fixture.assertRefused(
                    client, header(Words.RDMA_MSG).end().end().chunk().add(call(0)));
            fixture.assertRefused(
                    client,
                    header(Words.RDMA_MSG)
                            .readSegment(0x8d, segment(8192))
                            .end()
                            .end()
                            .end()
                            .add(call(0)));
        }
    }

    @ParameterizedTest
    @EnumSource
    void answersFormsWithoutAPayloadAndXidsThatDifferWithErrorChunk(Network network) {
        try (ServerFixture fixture = new ServerFixture(network)) {
            RawConnection client = fixture.connect();
            fixture.assertRefused(client, header(Words.RDMA_NOMSG).noChunks());
            fixture.assertRefused(
                    client,
                    header(Words.RDMA_NOMSG).end().chunk(segment(100)).end().end());
            fixture.assertRefused(client, header(Words.RDMA_NOMSG).end().end().chunk(segment(100)));
            fixture.assertRefused(
                    client,
                    header(Words.RDMA_NOMSG)
                            .readSegment(48, segment(8))
                            .end()
                            .end()
                            .end());
            // U25.
            fixture.assertRefused(client, header(Words.RDMA_MSG).noChunks().add(TestProgram.call(XID + 1, 0)));
            fixture.assertRefused(client, header(Words.RDMA_MSG).noChunks());
            fixture.assertRefused(client, header(Words.RDMA_MSG).noChunks().u32(XID));
            fixture.assertRefused(client, header(Words.RDMA_MSG).noChunks().u32(XID, 2, 3));
            RawConnection.Exposed other = client.expose(40, Access.REMOTE_READ)
                    .fill(TestProgram.call(XID + 1, 0).toBytes());
            fixture.assertRefused(
                    client,
                    header(Words.RDMA_NOMSG)
                            .readSegment(0, other.segment())
                            .end()
                            .end()
                            .end());
        }
    }
}
