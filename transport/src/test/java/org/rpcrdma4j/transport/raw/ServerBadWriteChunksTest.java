// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rpcrdma4j.transport.raw.ServerUnderTest.expect;

import java.util.Collections;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.verbs.Access;

/** Write chunks and Reply chunks that do not fit the result, or the memory of the client. */
class ServerBadWriteChunksTest {

    @ParameterizedTest
    @EnumSource
    void aChunkWithoutSegmentsIsTakenInTheWriteListAndRefusedAsReplyChunk(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            int xid = server.newXid();
            Words call = Words.header(xid, 1, 8, 0).end().chunk().end().end().add(Toy.call(xid, Toy.NULL));
            expect(
                    server.exchange(client, call),
                    Words.header(xid, 1, 0, 0).end().chunk().end().end().add(Words.reply(xid, 0)));
            int other = server.newXid();
            server.expectErrorChunk(
                    client,
                    other,
                    Words.header(other, 1, 8, 0).end().end().chunk().add(Toy.call(other, Toy.NULL)));
            server.checkUnharmed(client);
            server.finish(client);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aStrictServerRefusesWriteChunksWithoutSegments(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server =
                        ServerUnderTest.start(rig, ServerUnderTest.options().allowEmptyWriteChunk(false));
                RawConnection client = server.connect()) {
            int xid = server.newXid();
            server.expectErrorChunk(
                    client,
                    xid,
                    Words.header(xid, 1, 8, 0).end().chunk().end().end().add(Toy.call(xid, Toy.NULL)));
            server.checkUnharmed(client);
            server.finish(client);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aWriteChunkTooSmallForTheResultIsNoticedBeforeAnythingIsWritten(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            RawConnection.Exposed exposed = client.expose(4096, Access.REMOTE_WRITE);
            int xid = server.newXid();
            Words call = Words.header(xid, 1, 8, 0)
                    .end()
                    .chunk(exposed.part(0, 1000), exposed.part(2000, 999))
                    .end()
                    .end()
                    .add(Toy.call(xid, Toy.FETCH).u32(1, 2000));
            expect(server.exchange(client, call), Words.errorChunk(xid, 1, 0));
            assertThat(exposed.bytes()).containsOnly(0);
            assertThat(server.count(ServerCounter.WRITES)).isZero();
            server.checkUnharmed(client);
            server.finish(client);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aReplyThatFitsNeitherInlineNorItsChunkIsAnsweredWithErrChunk(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            RawConnection.Exposed exposed = client.expose(8192, Access.REMOTE_WRITE);
            int xid = server.newXid();
            Words big = Toy.call(xid, Toy.BIG).u32(5000);
            expect(server.exchange(client, Words.inline(xid, 8).add(big)), Words.errorChunk(xid, 1, 0));
            for (int room : new int[] {100, 5027}) {
                Words call = Words.header(xid, 1, 8, 0)
                        .end()
                        .end()
                        .chunk(exposed.part(0, room))
                        .add(big);
                expect(server.exchange(client, call), Words.errorChunk(xid, 1, 0));
            }
            assertThat(exposed.bytes()).as("noticed before anything is written").containsOnly(0);
            assertThat(server.count(ServerCounter.REPLIES_WITHOUT_ROOM)).isEqualTo(3);
            // 24 bytes of header, a count word, 5000 bytes.
            Words call = Words.header(xid, 1, 8, 0)
                    .end()
                    .end()
                    .chunk(exposed.part(0, 5028))
                    .add(big);
            expect(
                    server.exchange(client, call),
                    Words.header(xid, 1, 0, 1).end().end().chunk(exposed.part(0, 5028)));
            server.checkUnharmed(client);
            server.finish(client);
        }
    }

    @ParameterizedTest
    @EnumSource
    void noMessageIsLongerThanWhatTheClientSaidItReceives(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig)) {
            // No private data: 1024 bytes. 2048 bytes: receive size 1. Broken ones count as none.
            record Case(String privateData, int threshold) {}
            for (Case each : List.of(
                    new Case("", 1024),
                    new Case("f6ab0e18 01000301", 2048),
                    new Case("f6ab0e18 01000003", 4096),
                    new Case("f6ab0e18 0100ffff", 4096),
                    new Case("f6ab0e19 01000303", 1024),
                    new Case("f6ab0e18 02000303", 1024),
                    new Case("f6ab0e18 00000303", 1024),
                    new Case("f6ab0e18 010003", 1024),
                    new Case("00 f6ab0e18 01000301 ff", 2048),
                    new Case("00000000 f6ab0e18 01000301", 2048),
                    new Case("0102030405060708091011121314151617 f6ab0e18 01fe0301", 2048))) {
                RawConnection client = new RawRequester(rig)
                        .privateData(each.privateData)
                        .receives(16, each.threshold)
                        .connect(server.address());
                int xid = server.newXid();
                // Header 28, RPC reply 24, count word 4.
                int fits = each.threshold - 56;
                RawMessage most = server.exchange(
                        client, Words.inline(xid, 8).add(Toy.call(xid, Toy.BIG).u32(fits)));
                expect(most, Words.inline(xid, 0).add(Words.reply(xid, 0).opaque(Toy.pattern(xid, fits))));
                assertThat(most.length()).isEqualTo(each.threshold);
                expect(
                        server.exchange(
                                client,
                                Words.inline(xid, 8).add(Toy.call(xid, Toy.BIG).u32(fits + 1))),
                        Words.errorChunk(xid, 1, 0));
                server.checkUnharmed(client);
                server.finish(client);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void writeChunksThatNoResultTakesComeBackUnused(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            RawConnection.Exposed exposed = client.expose(4096, Access.REMOTE_WRITE);
            int xid = server.newXid();
            Words call = Words.header(xid, 1, 8, 0)
                    .end()
                    .chunk(exposed.part(0, 100), exposed.part(100, 7))
                    .chunk(exposed.part(200, 50))
                    .end()
                    .end()
                    .add(Toy.call(xid, Toy.NULL));
            expect(
                    server.exchange(client, call),
                    Words.header(xid, 1, 0, 0)
                            .end()
                            .chunk(exposed.part(0, 0), exposed.part(100, 0))
                            .chunk(exposed.part(200, 0))
                            .end()
                            .end()
                            .add(Words.reply(xid, 0)));
            assertThat(exposed.bytes()).containsOnly(0);
            server.checkUnharmed(client);
            server.finish(client);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aCallWhoseReplyHeaderHasNoRoomIsAnsweredWithErrChunkAndNotExecuted(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client =
                        new RawRequester(rig).privateData("f6ab0e18 01000300").connect(server.address())) {
            // It receives 1024 bytes. Header 28, Write chunk 8 and 16 for each segment, RPC reply 24.
            RawConnection.Exposed room = client.expose(4096, Access.REMOTE_WRITE);
            List<Segment> most = Collections.nCopies(60, room.part(0, 4));
            List<Segment> tooMany = Collections.nCopies(61, room.part(0, 4));
            int xid = server.newXid();
            server.expectErrorChunk(
                    client,
                    xid,
                    Words.header(xid, 1, 8, 0).end().chunk(tooMany).end().end().add(Toy.call(xid, Toy.NULL)));
            // A Reply chunk does not help: it stands in the header too.
            server.expectErrorChunk(
                    client,
                    xid,
                    Words.header(xid, 1, 8, 0)
                            .end()
                            .chunk(tooMany)
                            .end()
                            .chunk(room.part(0, 4096))
                            .add(Toy.call(xid, Toy.NULL)));
            // Nor is anything pulled for such a call.
            server.expectErrorChunk(
                    client,
                    xid,
                    Words.header(xid, 1, 8, 0)
                            .readSegment(52, room.part(0, 4096))
                            .end()
                            .chunk(tooMany)
                            .end()
                            .end()
                            .add(Toy.call(xid, Toy.STORE).u32(1, 0xaaaa, 4096))
                            .u32(0xbbbb));
            assertThat(server.count(ServerCounter.READS)).isZero();
            assertThat(server.count(ServerCounter.BAD_CALLS_CHUNKS)).isEqualTo(3);
            assertThat(server.count(ServerCounter.REPLY_FAILURES)).isZero();
            List<Segment> unused = Collections.nCopies(60, room.part(0, 0));
            expect(
                    server.exchange(
                            client,
                            Words.header(xid, 1, 8, 0)
                                    .end()
                                    .chunk(most)
                                    .end()
                                    .end()
                                    .add(Toy.call(xid, Toy.NULL))),
                    Words.header(xid, 1, 0, 0).end().chunk(unused).end().end().add(Words.reply(xid, 0)));
            // With 8 bytes left beside the header only a Long Reply is possible.
            expect(
                    server.exchange(
                            client,
                            Words.header(xid, 1, 8, 0)
                                    .end()
                                    .chunk(most)
                                    .end()
                                    .chunk(room.part(0, 24))
                                    .add(Toy.call(xid, Toy.NULL))),
                    Words.header(xid, 1, 0, Words.RDMA_NOMSG)
                            .end()
                            .chunk(unused)
                            .end()
                            .chunk(room.part(0, 24)));
            server.checkUnharmed(client);
            server.finish(client);
        }
    }
}
