// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rpcrdma4j.testkit.sim.SimulationOptions;
import org.rpcrdma4j.transport.client.TransportException.Kind;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.RawMessage;
import org.rpcrdma4j.transport.raw.Segment;
import org.rpcrdma4j.transport.raw.SimulatedRig;
import org.rpcrdma4j.transport.raw.Words;

/** Which form a call takes, at the very sizes where it changes. T is the threshold of the direction concerned. */
class FormSizesTest {

    private static final int EMPTY_HEADER = 28;

    private final Arena arena = Arena.ofShared();

    @AfterEach
    void closeArena() {
        arena.close();
    }

    private static MemorySegment head(ClientFixture fixture, int bytes) {
        return MemorySegment.ofArray(Words.call(fixture.client.nextXid(), ClientFixture.PROGRAM, 1, 7)
                .u32(new int[(bytes - 40) / 4])
                .toBytes());
    }

    private static RawMessage sent(ClientFixture fixture, CallMessage message) {
        PendingReply pending = fixture.client.send(message);
        RawMessage call = fixture.callOf(message);
        Words lists = new Words().end();
        call.writeList()
                .forEach(chunk -> lists.chunk(
                        chunk.stream().map(segment -> segment.withLength(0)).toList()));
        lists.end();
        List<Segment> replyChunk = call.replyChunk();
        if (replyChunk == null) {
            lists.end();
        } else {
            lists.chunk(
                    replyChunk.stream().map(segment -> segment.withLength(0)).toList());
        }
        fixture.responder
                .connection()
                .send(Words.header(call.xid(), 1, 8, Words.RDMA_MSG).add(lists).add(Words.reply(call.xid(), 0)));
        fixture.reply(pending);
        return call;
    }

    private ClientFixture fixture(String peer) {
        return new ClientFixture(Network.SIMULATION.open(), peer, builder -> builder.inlineBytes(4096, 4096));
    }

    @ParameterizedTest
    @CsvSource({"f6ab0e18 01010303,4096", "f6ab0e18 01010303 0000,4096", "'',1024", "f6ab0e18 01010001,2048"})
    void aCallOfTBytesIsInlineAndAboveALongCall(String peer, int threshold) {
        try (ClientFixture fixture = fixture(peer)) {
            RawMessage fits = sent(
                    fixture,
                    CallMessage.builder(head(fixture, threshold - EMPTY_HEADER)).build());
            assertThat(fits.length()).isEqualTo(threshold);
            assertThat(fits.procedure()).isEqualTo(Words.RDMA_MSG);
            RawMessage above = sent(
                    fixture,
                    CallMessage.builder(head(fixture, threshold - EMPTY_HEADER + 4))
                            .build());
            assertThat(above.procedure()).isEqualTo(Words.RDMA_NOMSG);
        }
    }

    @Test
    void anItemIsInlineAsLongAsItFitsWithItsPad() {
        try (ClientFixture fixture = fixture(ClientFixture.PEER_4096)) {
            for (int length = 3900; length < 4100; length++) {
                MemorySegment head = head(fixture, 44);
                CallMessage message =
                        CallMessage.builder(head).item(arena.allocate(length)).build();
                RawMessage call = sent(fixture, message);
                int inline = EMPTY_HEADER + 44 + (length + 3) / 4 * 4;
                if (inline <= 4096) {
                    assertThat(call.length()).as("item of %s", length).isEqualTo(inline);
                    assertThat(call.readList()).isEmpty();
                } else {
                    assertThat(call.readList()).as("item of %s", length).hasSize(1);
                    assertThat(call.length()).isEqualTo(EMPTY_HEADER + 24 + 44);
                    assertThat(call.readList().getFirst().segment().length()).isEqualTo(length);
                    assertThat(call.readList().getFirst().position()).isEqualTo(44);
                }
            }
        }
    }

    @Test
    void theReplyChunkIsThereExactlyWhenTheLargestReplyExceedsT() {
        try (ClientFixture fixture = fixture(ClientFixture.PEER_4096)) {
            int fits = 4096 - EMPTY_HEADER;
            assertThat(sent(fixture, fixture.nullCall().maxReplyBytes(fits).build())
                            .replyChunk())
                    .isNull();
            assertThat(sent(fixture, fixture.nullCall().maxReplyBytes(fits + 3).build())
                            .replyChunk())
                    .isNull();
            RawMessage above =
                    sent(fixture, fixture.nullCall().maxReplyBytes(fits + 4).build());
            assertThat(above.replyChunk()).hasSize(1);
            assertThat(above.replyChunk().getFirst().length()).isEqualTo(fits + 4);
        }
    }

    @Test
    void besideAWriteChunkTheReplysHeaderIsLonger() {
        try (ClientFixture fixture = fixture(ClientFixture.PEER_4096)) {
            int fits = 4096 - EMPTY_HEADER - 8 - 16;
            for (int more : new int[] {0, 4}) {
                RawMessage call = sent(
                        fixture,
                        fixture.nullCall()
                                .target(arena.allocate(777))
                                .maxReplyBytes(fits + more)
                                .build());
                assertThat(call.writeList().getFirst().getFirst().length()).isEqualTo(777);
                assertThat(call.replyChunk() != null).isEqualTo(more > 0);
            }
        }
    }

    @Test
    void noMessageEverExceedsTWhateverIsMixed() {
        for (String peer : List.of("", ClientFixture.PEER_4096)) {
            int threshold = peer.isEmpty() ? 1024 : 4096;
            try (ClientFixture fixture = fixture(peer)) {
                for (int headBytes = 40; headBytes < threshold + 60; headBytes += 36) {
                    for (int form = 0; form < 8; form++) {
                        CallMessage.Builder builder = CallMessage.builder(head(fixture, headBytes));
                        if ((form & 1) != 0) {
                            builder.item(arena.allocate(5000));
                        }
                        if ((form & 2) != 0) {
                            builder.target(arena.allocate(5000));
                        }
                        if ((form & 4) != 0) {
                            builder.maxReplyBytes(5000);
                        }
                        RawMessage call = sent(fixture, builder.build());
                        assertThat(call.length()).isLessThanOrEqualTo(threshold);
                    }
                }
            }
        }
    }

    @Test
    void piecesThatTakeTooManySegmentsAreBouncedInOne() {
        SimulationOptions narrow = SimulationOptions.DEFAULT.withFastRegistration(256, false, false);
        try (SimulatedRig rig = new SimulatedRig(1, narrow, SimulationOptions.DEFAULT);
                ClientFixture fixture = new ClientFixture(rig)) {
            List<MemorySegment> pieces = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                pieces.add(arena.allocate(1001).fill((byte) i));
            }
            MemorySegment[] all = pieces.toArray(MemorySegment[]::new);
            RawMessage call = sent(
                    fixture,
                    CallMessage.builder(head(fixture, 44)).item(all).target(all).build());
            assertThat(call.readList()).hasSizeLessThanOrEqualTo(16);
            assertThat(call.readList().stream()
                            .mapToInt(segment -> segment.segment().length())
                            .sum())
                    .isEqualTo(40_040);
            assertThat(call.writeList().getFirst().stream()
                            .mapToInt(Segment::length)
                            .sum())
                    .isEqualTo(40_040);
        }
    }

    @Test
    void whatIsTooLongFailsAtOnceAndAlone() {
        try (ClientFixture fixture =
                new ClientFixture(Network.SIMULATION.open(), builder -> builder.maxPayloadBytes(65_536))) {
            fixture.answering(4);
            List<CallMessage> tooLong = List.of(
                    fixture.nullCall().item(arena.allocate(65_537)).build(),
                    fixture.nullCall().target(arena.allocate(65_537)).build(),
                    fixture.nullCall().maxReplyBytes(65_540).build(),
                    CallMessage.builder(head(fixture, 65_540)).build());
            for (CallMessage message : tooLong) {
                TransportException failure = fixture.failure(fixture.client.send(message));
                assertThat(failure.kind()).isEqualTo(Kind.MESSAGE_TOO_LONG);
                assertThat(failure.undecided()).isFalse();
            }
            fixture.reply(fixture.client.send(fixture.nullCall().build()));
            assertThat(fixture.responder.messageCount()).isEqualTo(1);
        }
    }

    @Test
    void memoryThatCannotBeRegisteredFailsItsCallAlone() {
        try (Arena ofThisThread = Arena.ofConfined();
                ClientFixture fixture = new ClientFixture(Network.SIMULATION.open()).answering(4)) {
            MemorySegment closed;
            try (Arena gone = Arena.ofShared()) {
                closed = gone.allocate(5000);
            }
            MemorySegment readOnly = arena.allocate(5000).asReadOnly();
            MemorySegment confined = ofThisThread.allocate(5000);
            for (CallMessage message : List.of(
                    fixture.nullCall().target(closed).build(),
                    fixture.nullCall().target(readOnly).build(),
                    fixture.nullCall().target(confined).build())) {
                TransportException failure = fixture.failure(fixture.client.send(message));
                assertThat(failure.kind()).isEqualTo(Kind.REGISTRATION_FAILED);
                assertThat(failure.undecided()).isFalse();
            }
            fixture.reply(fixture.client.send(fixture.nullCall().build()));
        }
    }
}
