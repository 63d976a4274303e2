// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rpcrdma4j.transport.raw.ServerUnderTest.expect;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.verbs.Access;

/** Chunks that do not fit: the message, the program's items, the limits, the result, or the memory of the client. */
class ServerBadChunksTest {

    /** An RPC call that stores one item of so many bytes, without the item. */
    private static Words storeHead(int xid, int itemBytes) {
        return Toy.call(xid, Toy.STORE).u32(1, 0xaaaa, itemBytes);
    }

    private static final int ITEM_POSITION = 52;

    private static Words storeOf(int xid, int itemBytes, int position, Segment... segments) {
        Words call = Words.header(xid, 1, 8, Words.RDMA_MSG);
        for (Segment segment : segments) {
            call.readSegment(position, segment);
        }
        return call.end().end().end().add(storeHead(xid, itemBytes)).u32(0xbbbb);
    }

    private static Words stored(int xid, byte... item) {
        return Words.inline(xid, 0).add(Words.reply(xid, 0).u32(1, 0xaaaa, item.length, Toy.crc(item), 0xbbbb));
    }

    /** ERR_CHUNK, or an RPC reply with GARBAGE_ARGS; not executed. */
    private static void expectRefusal(ServerUnderTest server, RawConnection client, int xid, Words call) {
        RawMessage answer = server.exchange(client, call);
        if (answer.procedure() == Words.RDMA_ERROR) {
            expect(answer, Words.errorChunk(xid, 1, 0));
        } else {
            expect(answer, Words.inline(xid, 0).add(Words.reply(xid, Toy.GARBAGE_ARGS)));
        }
        assertThat(server.toy().executed())
                .as("nothing is executed with success")
                .noneMatch(executed -> executed.xid() == xid && executed.isSuccess());
    }

    @ParameterizedTest
    @EnumSource
    void aPositionThatIsNoMultipleOfFourIsAnsweredWithErrChunk(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            RawConnection.Exposed exposed = client.expose(8192, Access.REMOTE_READ);
            for (int position : new int[] {0x8d, 1, 53, 0xffff_ffff}) {
                int xid = server.newXid();
                server.expectErrorChunk(client, xid, storeOf(xid, 8192, position, exposed.segment()));
            }
            server.checkUnharmed(client);
            server.finish(client);
        }
    }

    @ParameterizedTest
    @EnumSource
    void segmentCountsBeyondTheMessageAreAnsweredWithErrChunk(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            for (int count :
                    new int[] {2, 261, 0xffff, 0x0fff_ffff, 0x1000_0001, 0x7fff_ffff, 0x8000_0001, 0xffff_ffff}) {
                int xid = server.newXid();
                Words segment = new Words().u32(0x2c11, 0x10000, 0x0a000002, 0);
                server.expectErrorChunk(
                        client,
                        xid,
                        Words.header(xid, 1, 8, 0)
                                .u32(0, 1, count)
                                .add(segment)
                                .end()
                                .end());
                server.expectErrorChunk(
                        client,
                        xid,
                        Words.header(xid, 1, 8, 0).u32(0, 0, 1, count).add(segment));
            }
            server.checkUnharmed(client);
            server.finish(client);
        }
    }

    @ParameterizedTest
    @EnumSource
    void readSegmentsLongerThanAnyPayloadAreRefusedAndNotPulled(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            RawConnection.Exposed exposed = client.expose(4096, Access.REMOTE_READ);
            Segment huge = exposed.segment().withLength(0xffff_ffff);
            Segment half = exposed.segment().withLength(0x8000_0000);
            int xid = server.newXid();
            for (Segment[] segments : List.of(
                    new Segment[] {huge},
                    new Segment[] {half, half},
                    new Segment[] {exposed.segment().withLength((1 << 20) + (1 << 17))},
                    Collections.nCopies(16, huge).toArray(Segment[]::new))) {
                expectRefusal(server, client, xid, storeOf(xid, -1, ITEM_POSITION, segments));
            }
            Words longCall = Words.header(xid, 1, 8, Words.RDMA_NOMSG)
                    .readSegment(0, huge)
                    .end()
                    .end()
                    .end();
            server.expectErrorChunk(client, xid, longCall);
            assertThat(server.count(ServerCounter.READS)).isZero();
            server.checkUnharmed(client);
            server.finish(client);
        }
    }

    @ParameterizedTest
    @EnumSource
    void moreSegmentsThanTheServerTakesAreAnsweredWithErrChunk(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(
                        rig,
                        ServerUnderTest.options()
                                .maxReadSegments(20)
                                .maxSegmentsPerChunk(20)
                                .maxWriteChunks(4));
                RawConnection client = server.connect()) {
            RawConnection.Exposed exposed = client.expose(4096, Access.REMOTE_READ_WRITE);
            List<Segment> many = Collections.nCopies(21, exposed.part(0, 4));
            int xid = server.newXid();
            server.expectErrorChunk(client, xid, storeOf(xid, 84, ITEM_POSITION, many.toArray(Segment[]::new)));
            server.expectErrorChunk(
                    client,
                    xid,
                    Words.header(xid, 1, 8, 0).end().chunk(many).end().end().add(Toy.call(xid, 0)));
            server.expectErrorChunk(
                    client,
                    xid,
                    Words.header(xid, 1, 8, 0).end().end().chunk(many).add(Toy.call(xid, 0)));
            Words chunks = Words.header(xid, 1, 8, 0).end();
            for (int i = 0; i < 5; i++) {
                chunks.chunk(exposed.part(0, 4));
            }
            server.expectErrorChunk(client, xid, chunks.end().end().add(Toy.call(xid, 0)));
            server.checkUnharmed(client);
            server.finish(client);
        }
    }

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
    void chunksBeyondTheMessageOrInsideOneAnotherAreRefused(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            RawConnection.Exposed exposed = client.expose(8192, Access.REMOTE_READ);
            int xid = server.newXid();
            for (int position : new int[] {60, 64, 4096, 0x7fff_fffc, 0xffff_fffc}) {
                expectRefusal(server, client, xid, storeOf(xid, 4096, position, exposed.part(0, 4096)));
            }
            // Two chunks, the second of which begins inside the first; and one at position 0 beside an inline message.
            expectRefusal(
                    server,
                    client,
                    xid,
                    Words.header(xid, 1, 8, 0)
                            .readSegment(ITEM_POSITION, exposed.part(0, 4096))
                            .readSegment(ITEM_POSITION + 4, exposed.part(4096, 1001))
                            .end()
                            .end()
                            .end()
                            .add(storeHead(xid, 5097))
                            .u32(0xbbbb));
            expectRefusal(server, client, xid, storeOf(xid, 4096, 0, exposed.part(0, 4096)));
            server.checkUnharmed(client);
            server.finish(client);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aReadChunkForAnItemThatIsNotEligibleIsNeverExecuted(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            RawConnection.Exposed exposed = client.expose(4096, Access.REMOTE_READ);
            int xid = server.newXid();
            // ECHO's argument, and NULL, which has none.
            expectRefusal(
                    server,
                    client,
                    xid,
                    Words.header(xid, 1, 8, 0)
                            .readSegment(44, exposed.segment())
                            .end()
                            .end()
                            .end()
                            .add(Toy.call(xid, Toy.ECHO).u32(4096)));
            expectRefusal(
                    server,
                    client,
                    xid,
                    Words.header(xid, 1, 8, 0)
                            .readSegment(40, exposed.segment())
                            .end()
                            .end()
                            .end()
                            .add(Toy.call(xid, Toy.NULL)));
            server.checkUnharmed(client);
            server.finish(client);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aReadChunkMustHoldOneItemWithOrWithoutItsPad(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            byte[] data = Toy.pattern(3, 4097);
            RawConnection.Exposed exposed =
                    client.expose(8192, Access.REMOTE_READ).fill(data);
            int good = server.newXid();
            for (Segment[] segments : List.of(
                    new Segment[] {exposed.part(0, 4097)},
                    new Segment[] {exposed.part(0, 4100)},
                    new Segment[] {exposed.part(0, 4097), exposed.part(4097, 3)},
                    new Segment[] {exposed.part(0, 1), exposed.part(1, 4095), exposed.part(4096, 1)})) {
                expect(server.exchange(client, storeOf(good, 4097, ITEM_POSITION, segments)), stored(good, data));
            }
            int bad = server.newXid();
            for (int length : new int[] {4, 4096, 4098, 4099, 4101, 4104, 8192}) {
                expectRefusal(server, client, bad, storeOf(bad, 4097, ITEM_POSITION, exposed.part(0, length)));
            }
            server.checkUnharmed(client);
            server.finish(client);
        }
    }

    @ParameterizedTest
    @EnumSource
    void readChunksMayStandInAnyOrderOfTheirPositions(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            byte[] one = Toy.pattern(1, 4097);
            byte[] two = Toy.pattern(2, 96);
            RawConnection.Exposed first =
                    client.expose(4097, Access.REMOTE_READ).fill(one);
            RawConnection.Exposed second = client.expose(96, Access.REMOTE_READ).fill(two);
            // The second item: 52, the first with its pad, tag and count word.
            int secondPosition = ITEM_POSITION + 4100 + 8;
            List<Words> entries = new ArrayList<>(List.of(
                    new Words().readSegment(secondPosition, second.part(0, 50)),
                    new Words().readSegment(ITEM_POSITION, first.part(0, 4000)),
                    new Words().readSegment(secondPosition, second.part(50, 46)),
                    new Words().readSegment(ITEM_POSITION, first.part(4000, 97))));
            int xid = server.newXid();
            Words call = Words.header(xid, 1, 8, 0);
            entries.forEach(call::add);
            call.end().end().end();
            call.add(Toy.call(xid, Toy.STORE).u32(2, 11, 4097, 22, 96, 33));
            expect(
                    server.exchange(client, call),
                    Words.inline(xid, 0)
                            .add(Words.reply(xid, 0).u32(2, 11, 4097, Toy.crc(one), 22, 96, Toy.crc(two), 33)));
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
}
