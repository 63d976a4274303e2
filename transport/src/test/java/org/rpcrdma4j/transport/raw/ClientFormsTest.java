// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rpcrdma4j.transport.raw.ClientUnderTest.CREDITS;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.rpcrdma4j.testkit.sim.SimulationOptions;

/** RFC 8166, Section 3: the calls of our client in every form, as a raw server sees them, and its replies as the caller sees them. */
class ClientFormsTest {

    /** A device without gaps and with short page lists gives chunks many segments. */
    private static Rig manySegments() {
        SimulationOptions options = SimulationOptions.DEFAULT.withFastRegistration(20, false, false);
        return new SimulatedRig(3, options, SimulationOptions.DEFAULT);
    }

    static Stream<Named<Supplier<Rig>>> rigs() {
        return Stream.of(
                Named.of("simulation", Network.SIMULATION::open),
                Named.of("simulation without gaps, 20 pages a region", ClientFormsTest::manySegments),
                Named.of("iwarp", Network.IWARP::open));
    }

    /** Reads all segments of one position, in list order. */
    private static byte[] pull(Rig rig, RawConnection server, RawMessage call, int position) {
        List<RawWork> reads = new ArrayList<>();
        for (RawMessage.ReadSegment entry : call.readList()) {
            if (entry.position() == position) {
                reads.add(server.read(entry.segment()));
            }
        }
        rig.await("the chunk is read", () -> reads.stream().allMatch(RawWork::isDone));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (RawWork read : reads) {
            assertThat(read.isSuccess()).as("%s", read.status()).isTrue();
            bytes.writeBytes(read.data());
        }
        return bytes.toByteArray();
    }

    /** Writes the bytes into the segments, in order; returns how many went into each. */
    private static List<Integer> fill(RawConnection server, List<Segment> segments, byte... bytes) {
        List<Integer> lengths =
                server.fill(segments, bytes).stream().map(Segment::length).toList();
        assertThat(lengths.stream().mapToInt(length -> length).sum())
                .as("room in %s", segments)
                .isEqualTo(bytes.length);
        return lengths;
    }

    @ParameterizedTest
    @EnumSource
    void aSmallCallIsOneInlineMessageToTheByte(Network network) {
        try (Rig rig = network.open();
                RawResponder responder = new RawResponder(rig).privateData(ClientUnderTest.SERVER_DATA);
                ClientUnderTest client = ClientUnderTest.start(rig, responder, builder -> builder.maxInFlight(16))) {
            responder.onMessage((connection, call) -> connection.send(RawReplies.plain(call, CREDITS)));
            int xid = client.newXid();
            client.awaitSuccess(client.send(xid, Toy.NULL));
            assertThat(Words.format(responder.connection().message(0).bytes()))
                    .isEqualTo(
                            Words.inline(xid, 16).add(Toy.call(xid, Toy.NULL)).toString());
            assertThat(responder.requests().getFirst().privateData()).hasToString("f6ab0e1801010303");
            client.finish();
        }
    }

    /** Lengths around the threshold, item by Read chunk from one length on: no message too long, the chunk without pad. */
    @ParameterizedTest
    @MethodSource("rigs")
    void anItemGoesInlineOrByOneReadChunkWithoutItsPad(Supplier<Rig> rigs) {
        try (Rig rig = rigs.get();
                Arena arena = Arena.ofShared();
                RawResponder responder = new RawResponder(rig).privateData(ClientUnderTest.SERVER_DATA);
                ClientUnderTest client = ClientUnderTest.start(rig, responder)) {
            for (int length : new int[] {1, 2, 3, 64, 1000, 3900, 3960, 4001, 4096, 4097, 5097, 70_001, 1 << 20}) {
                byte[] item = Toy.pattern(length, length);
                int xid = client.newXid();
                MemorySegment memory = Toy.memory(arena, item);
                int before = responder.messageCount();
                ClientUnderTest.Call call = client.send(ClientUnderTest.message(
                        Toy.call(xid, Toy.STORE).u32(1, 0xaaaa, length),
                        builder -> builder.item(memory)
                                .tail(MemorySegment.ofArray(
                                        new Words().u32(0xbbbb).toBytes()))));
                rig.await("the call arrives", () -> responder.messageCount() > before);
                RawConnection server = responder.connection();
                RawMessage message = server.messages().getLast();
                assertThat(message.length()).isLessThanOrEqualTo(4096);
                assertThat(message.procedure()).isEqualTo(Words.RDMA_MSG);
                Words head = Toy.call(xid, Toy.STORE).u32(1, 0xaaaa, length);
                if (message.readList().isEmpty()) {
                    assertThat(Words.format(message.body()))
                            .isEqualTo(head.padded(item).u32(0xbbbb).toString());
                } else {
                    assertThat(message.readList()).allMatch(entry -> entry.position() == 52);
                    assertThat(message.readList()).hasSizeLessThanOrEqualTo(16);
                    assertThat(Words.format(message.body()))
                            .isEqualTo(head.u32(0xbbbb).toString());
                    assertThat(pull(rig, server, message, 52)).isEqualTo(item);
                }
                if (length > 4096) {
                    assertThat(message.readList()).isNotEmpty();
                }
                server.send(RawReplies.plain(message, CREDITS));
                client.awaitSuccess(call);
            }
            client.finish();
        }
    }

    @ParameterizedTest
    @MethodSource("rigs")
    void aCallThatDoesNotFitGoesAsALongCallWithItsPads(Supplier<Rig> rigs) {
        try (Rig rig = rigs.get();
                RawResponder responder = new RawResponder(rig).privateData(ClientUnderTest.SERVER_DATA);
                ClientUnderTest client = ClientUnderTest.start(rig, responder)) {
            for (int length : new int[] {3000, 4020, 4024, 4028, 4032, 4500, 20_001, 100_000}) {
                int xid = client.newXid();
                Words rpc = Toy.call(xid, Toy.ECHO).opaque(Toy.pattern(length, length));
                int before = responder.messageCount();
                ClientUnderTest.Call call = client.send(ClientUnderTest.message(rpc, builder -> {}));
                rig.await("the call arrives", () -> responder.messageCount() > before);
                RawConnection server = responder.connection();
                RawMessage message = server.messages().getLast();
                assertThat(message.length()).isLessThanOrEqualTo(4096);
                if (28 + rpc.length() <= 4096) {
                    assertThat(message.procedure()).isEqualTo(Words.RDMA_MSG);
                    assertThat(message.body()).isEqualTo(rpc.toBytes());
                } else {
                    assertThat(message.procedure()).isEqualTo(Words.RDMA_NOMSG);
                    assertThat(message.readList()).isNotEmpty().allMatch(entry -> entry.position() == 0);
                    assertThat(message.body()).isEmpty();
                    assertThat(pull(rig, server, message, 0)).isEqualTo(rpc.toBytes());
                }
                server.send(RawReplies.plain(message, CREDITS));
                client.awaitSuccess(call);
            }
            client.finish();
        }
    }

    /** The result's length is the sum of the returned lengths, its bytes in segment order. */
    @ParameterizedTest
    @MethodSource("rigs")
    void aPlacedResultHasTheLengthThatTheServerReturned(Supplier<Rig> rigs) {
        try (Rig rig = rigs.get();
                Arena arena = Arena.ofShared();
                RawResponder responder = new RawResponder(rig).privateData(ClientUnderTest.SERVER_DATA);
                ClientUnderTest client = ClientUnderTest.start(rig, responder)) {
            MemorySegment memory = arena.allocate(1 << 20, 4096);
            for (int length : new int[] {0, 1, 5, 32_767, 32_768, 65_535, 65_536}) {
                byte[] result = Toy.pattern(length, length);
                responder.onMessage((connection, call) -> {
                    assertThat(call.writeList()).hasSize(1);
                    List<Integer> lengths = fill(connection, call.writeList().getFirst(), result);
                    connection.send(RawReplies.lists(call, CREDITS, 0, lengths)
                            .add(Words.reply(call.xid(), 0).u32(1, length, Toy.CLOSING_WORD)));
                });
                int xid = client.newXid();
                memory.fill((byte) 0x33);
                // Three pieces with room between them.
                List<MemorySegment> pieces = List.of(
                        memory.asSlice(100, 20_000), memory.asSlice(200_000, 30_000), memory.asSlice(500_000, 15_536));
                ClientUnderTest.Call call = client.await(client.send(ClientUnderTest.message(
                        Toy.call(xid, Toy.FETCH).u32(1, 65_536),
                        builder -> builder.target(pieces.toArray(MemorySegment[]::new))
                                .maxReplyBytes(100))));
                assertThat(call.reply().placedBytes()).isEqualTo(length);
                assertThat(Words.format(call.message()))
                        .isEqualTo(Words.reply(xid, 0)
                                .u32(1, length, Toy.CLOSING_WORD)
                                .toString());
                ByteArrayOutputStream placed = new ByteArrayOutputStream();
                pieces.forEach(piece -> placed.writeBytes(piece.toArray(ValueLayout.JAVA_BYTE)));
                assertThat(Arrays.copyOf(placed.toByteArray(), length)).isEqualTo(result);
                assertThat(memory.get(ValueLayout.JAVA_BYTE, 99)).isEqualTo((byte) 0x33);
                assertThat(memory.get(ValueLayout.JAVA_BYTE, 20_100)).isEqualTo((byte) 0x33);
            }
            client.finish();
        }
    }

    /** A reply chunk is offered if and only if the largest reply can exceed the threshold; short and long answers to it. */
    @ParameterizedTest
    @MethodSource("rigs")
    void aReplyChunkIsOfferedWhenTheReplyMayBeTooLongAndUsedOrNot(Supplier<Rig> rigs) {
        try (Rig rig = rigs.get();
                RawResponder responder = new RawResponder(rig).privateData(ClientUnderTest.SERVER_DATA);
                ClientUnderTest client = ClientUnderTest.start(rig, responder)) {
            for (int most : new int[] {100, 4064, 4068, 4072, 10_000, 1 << 20}) {
                for (int size : new int[] {40, 4068, 4072, most}) {
                    if (size > most) {
                        continue;
                    }
                    responder.onMessage((connection, call) -> {
                        Words rpc = Words.reply(call.xid(), 0).opaque(Toy.pattern(7, size - 28));
                        List<Segment> chunk = call.replyChunk();
                        assertThat(chunk != null).as("largest reply %d", most).isEqualTo(most > 4068);
                        Words inline =
                                RawReplies.lists(call, CREDITS, 0, List.of()).add(rpc);
                        if (chunk == null || inline.length() <= 4096) {
                            connection.send(inline);
                        } else {
                            int[] lengths = fill(connection, chunk, rpc.toBytes()).stream()
                                    .mapToInt(Integer::intValue)
                                    .toArray();
                            connection.send(RawReplies.lists(call, CREDITS, 1, List.of(), lengths));
                        }
                    });
                    int xid = client.newXid();
                    ClientUnderTest.Call call = client.await(client.send(
                            ClientUnderTest.message(Toy.call(xid, Toy.BIG), builder -> builder.maxReplyBytes(most))));
                    assertThat(call.message())
                            .isEqualTo(Words.reply(xid, 0)
                                    .opaque(Toy.pattern(7, size - 28))
                                    .toBytes());
                }
            }
            client.finish();
        }
    }

    /** One call with everything: Read chunk, Write chunk, Reply chunk; the rest of the reply in the Reply chunk. */
    @ParameterizedTest
    @MethodSource("rigs")
    void aCallMayHaveAllThreeKindsOfChunks(Supplier<Rig> rigs) {
        try (Rig rig = rigs.get();
                Arena arena = Arena.ofShared();
                RawResponder responder = new RawResponder(rig).privateData(ClientUnderTest.SERVER_DATA);
                ClientUnderTest client = ClientUnderTest.start(rig, responder)) {
            byte[] item = Toy.pattern(1, 9001);
            byte[] result = Toy.pattern(2, 6001);
            MemorySegment target = arena.allocate(7000);
            int xid = client.newXid();
            ClientUnderTest.Call call = client.send(ClientUnderTest.message(
                    Toy.call(xid, Toy.STORE).u32(1, 0xaaaa, item.length),
                    builder -> builder.item(Toy.memory(arena, item))
                            .tail(MemorySegment.ofArray(new Words().u32(0xbbbb).toBytes()))
                            .target(target)
                            .maxReplyBytes(20_000)));
            rig.await("the call arrives", () -> responder.messageCount() == 1);
            RawConnection server = responder.connection();
            RawMessage message = server.message(0);
            assertThat(pull(rig, server, message, 52)).isEqualTo(item);
            Words rpc = Words.reply(xid, 0).u32(1, result.length).opaque(Toy.pattern(3, 8000));
            List<Integer> placed = fill(server, message.writeList().getFirst(), result);
            List<Segment> chunk = message.replyChunk();
            assertThat(chunk).isNotNull();
            int[] lengths = fill(server, chunk == null ? List.of() : chunk, rpc.toBytes()).stream()
                    .mapToInt(Integer::intValue)
                    .toArray();
            server.send(RawReplies.lists(message, CREDITS, 1, placed, lengths));
            client.await(call);
            assertThat(call.reply().placedBytes()).isEqualTo(result.length);
            assertThat(call.message()).isEqualTo(rpc.toBytes());
            assertThat(target.asSlice(0, result.length).toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(result);
            client.finish();
        }
    }

    /** Without private data 1024 bytes each way; with other sizes those, on each connection its own. */
    @ParameterizedTest
    @EnumSource
    void noCallIsLongerThanWhatTheServerOfThisConnectionReceives(Network network) {
        record Case(String privateData, int threshold) {}
        try (Rig rig = network.open();
                RawResponder responder = new RawResponder(rig);
                ClientUnderTest client = ClientUnderTest.start(rig, responder)) {
            responder.onMessage((connection, call) -> connection.send(RawReplies.plain(call, CREDITS)));
            for (Case each : List.of(
                    new Case("f6ab0e18 01000303", 4096),
                    new Case("", 1024),
                    new Case("f6ab0e18 01000301", 2048),
                    new Case("f6ab0e18 010003", 1024),
                    new Case("aabbccdd f6ab0e18 01000301", 2048),
                    new Case("f6ab0e18 01003fff", 4096))) {
                responder.privateData(each.privateData);
                if (responder.connectionCount() > 0) {
                    responder.connection().breakOff();
                    rig.await("it is over", () -> responder.connection().hasEnded());
                }
                int before = responder.connectionCount();
                int fits = each.threshold - 28 - 44;
                for (int length : new int[] {0, fits, fits + 4}) {
                    int xid = client.newXid();
                    Words rpc = Toy.call(xid, Toy.ECHO).opaque(new byte[length]);
                    client.awaitSuccess(client.send(ClientUnderTest.message(rpc, builder -> {})));
                    RawMessage message = responder.connection().messages().getLast();
                    assertThat(message.length()).isLessThanOrEqualTo(each.threshold);
                    assertThat(message.procedure()).isEqualTo(length <= fits ? Words.RDMA_MSG : Words.RDMA_NOMSG);
                }
                assertThat(responder.connectionCount()).isEqualTo(before + 1);
            }
            client.finish();
        }
    }

    /** Every handle of a call may be invalidated by the server, once; the result is right, and regions are used again. */
    @ParameterizedTest
    @MethodSource("rigs")
    void theServerMayInvalidateAnyHandleOfTheCall(Supplier<Rig> rigs) {
        try (Rig rig = rigs.get();
                Arena arena = Arena.ofShared();
                RawResponder responder = new RawResponder(rig).privateData("f6ab0e18 01010303");
                ClientUnderTest client = ClientUnderTest.start(rig, responder)) {
            byte[] item = Toy.pattern(1, 9001);
            MemorySegment source = Toy.memory(arena, item);
            MemorySegment target = arena.allocate(7000, 4096);
            for (int i = 0; i < 40; i++) {
                int turn = i;
                responder.onMessage((connection, call) -> {
                    Set<Integer> handles = new HashSet<>();
                    call.readList().forEach(entry -> handles.add(entry.segment().handle()));
                    call.writeList().getFirst().forEach(segment -> handles.add(segment.handle()));
                    List<Segment> chunk = call.replyChunk();
                    if (chunk != null) {
                        chunk.forEach(segment -> handles.add(segment.handle()));
                    }
                    List<Integer> ordered = handles.stream().sorted().toList();
                    connection.write(call.writeList().getFirst().getFirst(), Toy.pattern(turn, 100));
                    List<Integer> lengths = new ArrayList<>(
                            Collections.nCopies(call.writeList().getFirst().size(), 0));
                    lengths.set(0, 100);
                    connection.sendInvalidating(
                            ordered.get(turn % ordered.size()),
                            RawReplies.lists(call, CREDITS, 0, lengths)
                                    .add(Words.reply(call.xid(), 0))
                                    .toBytes());
                });
                ClientUnderTest.Call call = client.send(ClientUnderTest.message(
                        Toy.call(client.newXid(), Toy.STORE).u32(1, 0xaaaa, item.length),
                        builder -> builder.item(source).target(target).maxReplyBytes(20_000)));
                client.awaitSuccess(call);
                assertThat(target.asSlice(0, 100).toArray(ValueLayout.JAVA_BYTE))
                        .isEqualTo(Toy.pattern(turn, 100));
            }
            assertThat(responder.connectionCount()).isEqualTo(1);
            client.finish();
        }
    }
}
