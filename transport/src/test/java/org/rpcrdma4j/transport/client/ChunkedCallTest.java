// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.RawConnection;
import org.rpcrdma4j.transport.raw.RawMessage;
import org.rpcrdma4j.transport.raw.RawWork;
import org.rpcrdma4j.transport.raw.Segment;
import org.rpcrdma4j.transport.raw.Words;

/** Calls whose arguments or results travel in chunks, against a responder that reads and writes them by hand. */
class ChunkedCallTest {

    private final Arena arena = Arena.ofShared();

    @AfterEach
    void closeArena() {
        arena.close();
    }

    private MemorySegment memory(boolean isNative, int length) {
        return isNative ? arena.allocate(length) : MemorySegment.ofArray(new byte[length]);
    }

    private MemorySegment filled(boolean isNative, int length, int seed) {
        return memory(isNative, length).copyFrom(MemorySegment.ofArray(ClientFixture.pattern(length, seed)));
    }

    private static MemorySegment head(ClientFixture fixture, int... arguments) {
        return MemorySegment.ofArray(Words.call(fixture.client.nextXid(), ClientFixture.PROGRAM, 1, 7)
                .u32(arguments)
                .toBytes());
    }

    private static byte[] readAll(ClientFixture fixture, List<Segment> segments) {
        RawConnection server = fixture.responder.connection();
        List<RawWork> reads = new ArrayList<>();
        segments.forEach(segment -> reads.add(server.read(segment)));
        fixture.rig.await("the Reads end", () -> reads.stream().allMatch(RawWork::isDone));
        Words all = new Words();
        reads.forEach(read -> all.raw(read.data()));
        return all.toBytes();
    }

    private static int lengthOf(List<Segment> segments) {
        return segments.stream().mapToInt(Segment::length).sum();
    }

    private static Words msg(int xid, int procedure) {
        return Words.header(xid, 1, 8, procedure);
    }

    @ParameterizedTest
    @CsvSource({"SIMULATION,true", "SIMULATION,false", "IWARP,true", "IWARP,false"})
    void anItemThatDoesNotFitTravelsByAReadChunkWithoutItsPad(Network network, boolean isNative) {
        try (ClientFixture fixture = new ClientFixture(network.open())) {
            MemorySegment head = head(fixture, 4097);
            PendingReply pending = fixture.client.send(CallMessage.builder(head)
                    .item(filled(isNative, 4097, 5))
                    .tail(MemorySegment.ofArray(new Words().u32(0xCAFE).toBytes()))
                    .build());
            RawMessage call = fixture.call(1);
            assertThat(call.procedure()).isEqualTo(Words.RDMA_MSG);
            assertThat(call.readList()).allMatch(segment -> segment.position() == head.byteSize());
            List<Segment> segments = call.readList().stream()
                    .map(RawMessage.ReadSegment::segment)
                    .toList();
            assertThat(lengthOf(segments)).isEqualTo(4097);
            assertThat(call.body())
                    .isEqualTo(new Words()
                            .raw(ClientFixture.bytes(head))
                            .u32(0xCAFE)
                            .toBytes());
            assertThat(readAll(fixture, segments)).isEqualTo(ClientFixture.pattern(4097, 5));
            ClientFixture.answer(fixture.responder.connection(), call.xid(), 8);
            fixture.reply(pending);
            assertThat(fixture.counter(ClientCounter.READ_CHUNKS)).isEqualTo(segments.size());
        }
    }

    @ParameterizedTest
    @CsvSource({"SIMULATION,true", "SIMULATION,false", "IWARP,true", "IWARP,false"})
    void aResultIsPlacedInTheTargetAndItsReturnedLengthCounts(Network network, boolean isNative) {
        try (ClientFixture fixture = new ClientFixture(network.open())) {
            for (int length : new int[] {0, 1, 5, 5000, 65_535, 65_536}) {
                MemorySegment target = memory(isNative, 65_536);
                CallMessage message =
                        CallMessage.builder(head(fixture)).target(target).build();
                PendingReply pending = fixture.client.send(message);
                RawMessage call = fixture.callOf(message);
                List<Segment> offered = call.writeList().getFirst();
                assertThat(lengthOf(offered)).isEqualTo(65_536);
                assertThat(call.replyChunk()).isNull();
                List<Segment> used = fixture.responder.connection().fill(offered, ClientFixture.pattern(length, 3));
                fixture.responder
                        .connection()
                        .send(msg(call.xid(), Words.RDMA_MSG)
                                .end()
                                .chunk(used)
                                .end()
                                .end()
                                .add(Words.reply(call.xid(), 0).u32(length)));
                Reply reply = fixture.reply(pending);
                assertThat(reply.placedBytes()).isEqualTo(length);
                assertThat(ClientFixture.bytes(target.asSlice(0, length))).isEqualTo(ClientFixture.pattern(length, 3));
                assertThat(reply.message().byteSize()).isEqualTo(28);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"SIMULATION,none", "SIMULATION,native", "SIMULATION,heap", "IWARP,none", "IWARP,native", "IWARP,heap"})
    void aReplyThatMayBeLongComesByTheReplyChunkOrInline(Network network, String buffer) {
        try (ClientFixture fixture = new ClientFixture(network.open())) {
            for (boolean isLong : new boolean[] {true, false, true}) {
                CallMessage.Builder builder = CallMessage.builder(head(fixture)).maxReplyBytes(20_000);
                MemorySegment own = memory(buffer.equals("native"), 20_000);
                if (!buffer.equals("none")) {
                    builder.replyBuffer(own);
                }
                CallMessage message = builder.build();
                PendingReply pending = fixture.client.send(message);
                RawMessage call = fixture.callOf(message);
                List<Segment> offered = call.replyChunk();
                assertThat(lengthOf(offered)).isEqualTo(20_000);
                Words rpc = Words.reply(call.xid(), 0).opaque(ClientFixture.pattern(isLong ? 9001 : 17, 9));
                RawConnection server = fixture.responder.connection();
                if (isLong) {
                    List<Segment> used = server.fill(offered, rpc.toBytes());
                    server.send(msg(call.xid(), Words.RDMA_NOMSG).end().end().chunk(used));
                } else {
                    List<Segment> unused = offered.stream()
                            .map(segment -> segment.withLength(0))
                            .toList();
                    server.send(msg(call.xid(), Words.RDMA_MSG)
                            .end()
                            .end()
                            .chunk(unused)
                            .add(rpc));
                }
                Reply reply = fixture.reply(pending);
                assertThat(ClientFixture.bytes(reply.message())).isEqualTo(rpc.toBytes());
                if (!buffer.equals("none")) {
                    assertThat(ClientFixture.bytes(own.asSlice(0, rpc.length())))
                            .isEqualTo(rpc.toBytes());
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aCallThatDoesNotFitTravelsByAPositionZeroChunk(Network network) {
        try (ClientFixture fixture = new ClientFixture(network.open())) {
            int[] arguments = new int[2000];
            Arrays.setAll(arguments, i -> i * 77);
            MemorySegment head = head(fixture, arguments);
            PendingReply pending = fixture.client.send(CallMessage.builder(head).build());
            RawMessage call = fixture.call(1);
            assertThat(call.procedure()).isEqualTo(Words.RDMA_NOMSG);
            assertThat(call.body()).isEmpty();
            assertThat(call.readList()).allMatch(segment -> segment.position() == 0);
            assertThat(readAll(
                            fixture,
                            call.readList().stream()
                                    .map(RawMessage.ReadSegment::segment)
                                    .toList()))
                    .isEqualTo(ClientFixture.bytes(head));
            ClientFixture.answer(fixture.responder.connection(), call.xid(), 8);
            fixture.reply(pending);
            assertThat(fixture.counter(ClientCounter.NOMSG_CALLS)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aLongCallContainsTheItemWithZeroPad(Network network) {
        try (ClientFixture fixture = new ClientFixture(network.open())) {
            MemorySegment head = head(fixture, new int[1100]);
            PendingReply pending = fixture.client.send(CallMessage.builder(head)
                    .item(filled(true, 5, 1))
                    .tail(MemorySegment.ofArray(new Words().u32(0xBEEF).toBytes()))
                    .build());
            RawMessage call = fixture.call(1);
            assertThat(readAll(
                            fixture,
                            call.readList().stream()
                                    .map(RawMessage.ReadSegment::segment)
                                    .toList()))
                    .isEqualTo(new Words()
                            .raw(ClientFixture.bytes(head))
                            .padded(ClientFixture.pattern(5, 1))
                            .u32(0xBEEF)
                            .toBytes());
            ClientFixture.answer(fixture.responder.connection(), call.xid(), 8);
            fixture.reply(pending);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aTargetAndALongReplyCanComeTogether(Network network) {
        try (ClientFixture fixture = new ClientFixture(network.open())) {
            MemorySegment target = memory(true, 10_000);
            PendingReply pending = fixture.client.send(CallMessage.builder(head(fixture))
                    .target(target)
                    .maxReplyBytes(8000)
                    .build());
            RawMessage call = fixture.call(1);
            RawConnection server = fixture.responder.connection();
            Words rpc = Words.reply(call.xid(), 0).u32(10_000).opaque(ClientFixture.pattern(5000, 2));
            List<Segment> placed = server.fill(call.writeList().getFirst(), ClientFixture.pattern(10_000, 4));
            List<Segment> replied = server.fill(call.replyChunk(), rpc.toBytes());
            server.send(
                    msg(call.xid(), Words.RDMA_NOMSG).end().chunk(placed).end().chunk(replied));
            Reply reply = fixture.reply(pending);
            assertThat(reply.placedBytes()).isEqualTo(10_000);
            assertThat(ClientFixture.bytes(target)).isEqualTo(ClientFixture.pattern(10_000, 4));
            assertThat(ClientFixture.bytes(reply.message())).isEqualTo(rpc.toBytes());
        }
    }

    @ParameterizedTest
    @EnumSource
    void oldHandlesAreDeadFromTheMomentTheCallEnds(Network network) {
        try (ClientFixture fixture = new ClientFixture(network.open())) {
            MemorySegment target = memory(true, 5000);
            PendingReply pending = fixture.client.send(
                    CallMessage.builder(head(fixture)).target(target).build());
            RawMessage call = fixture.call(1);
            RawConnection server = fixture.responder.connection();
            List<Segment> offered = call.writeList().getFirst();
            List<Segment> used = server.fill(offered, ClientFixture.pattern(5000, 6));
            server.send(msg(call.xid(), Words.RDMA_MSG)
                    .end()
                    .chunk(used)
                    .end()
                    .end()
                    .add(Words.reply(call.xid(), 0).u32(5000)));
            fixture.reply(pending);
            target.fill((byte) 0x55);
            server.write(offered.getFirst(), new byte[offered.getFirst().length()]);
            fixture.rig.await("the connection ends", server::hasEnded);
            assertThat(ClientFixture.bytes(target)).containsOnly(0x55);
        }
    }

    @ParameterizedTest
    @EnumSource
    void theServerMayInvalidateTheRegionByItsReply(Network network) {
        try (ClientFixture fixture = new ClientFixture(network.open())) {
            for (int i = 1; i <= 3; i++) {
                MemorySegment target = memory(true, 5000);
                PendingReply pending = fixture.client.send(
                        CallMessage.builder(head(fixture)).target(target).build());
                RawMessage call = fixture.call(i);
                RawConnection server = fixture.responder.connection();
                List<Segment> used = server.fill(call.writeList().getFirst(), ClientFixture.pattern(4999, i));
                server.sendInvalidating(
                        used.getFirst().handle(),
                        msg(call.xid(), Words.RDMA_MSG)
                                .end()
                                .chunk(used)
                                .end()
                                .end()
                                .add(Words.reply(call.xid(), 0).u32(4999))
                                .toBytes());
                assertThat(fixture.reply(pending).placedBytes()).isEqualTo(4999);
            }
            assertThat(fixture.counter(ClientCounter.REMOTE_INVALIDATIONS)).isEqualTo(3);
            assertThat(fixture.counter(ClientCounter.LOCAL_INVALIDATIONS)).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void withRoomForPadServersMayWriteItOrLeaveIt(Network network) {
        try (ClientFixture fixture = new ClientFixture(network.open(), builder -> builder.offerWritePad(true))) {
            for (boolean isPadWritten : new boolean[] {false, true}) {
                MemorySegment target = memory(true, 4097);
                CallMessage message =
                        CallMessage.builder(head(fixture)).target(target).build();
                PendingReply pending = fixture.client.send(message);
                RawMessage call = fixture.callOf(message);
                List<Segment> offered = call.writeList().getFirst();
                assertThat(lengthOf(offered)).isEqualTo(4101);
                assertThat(offered.getLast().length()).isEqualTo(4);
                RawConnection server = fixture.responder.connection();
                List<Segment> used =
                        server.fill(offered, Arrays.copyOf(ClientFixture.pattern(4097, 8), isPadWritten ? 4100 : 4097));
                server.send(msg(call.xid(), Words.RDMA_MSG)
                        .end()
                        .chunk(used)
                        .end()
                        .end()
                        .add(Words.reply(call.xid(), 0).u32(4097)));
                assertThat(fixture.reply(pending).placedBytes()).isEqualTo(4097);
                assertThat(ClientFixture.bytes(target)).isEqualTo(ClientFixture.pattern(4097, 8));
            }
        }
    }
}
