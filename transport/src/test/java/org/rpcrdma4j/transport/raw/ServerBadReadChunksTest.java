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

/** Read chunks that do not fit the message, the program's items or the limits, and counts that the message does not hold. */
class ServerBadReadChunksTest {

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
}
