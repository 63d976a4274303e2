// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rpcrdma4j.transport.raw.ClientUnderTest.CREDITS;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.transport.client.TransportException.Kind;

/** RFC 8166, Sections 4.2 to 4.6: replies that can be read and do not fit their call, or almost do not. */
class ClientBadReplyTest {

    /** The bad answer ends the call with a permanent error. */
    private static void expectFailure(
            Network network,
            Function<ReplyCase, ClientUnderTest.Call> sender,
            Kind kind,
            boolean disconnects,
            List<Function<RawMessage, Words>> badOnes) {
        for (int i = 0; i < badOnes.size(); i++) {
            Function<RawMessage, Words> bad = badOnes.get(i);
            try (ReplyCase each = new ReplyCase(network, (connection, call) -> connection.send(bad.apply(call)))) {
                ClientUnderTest.Call call = sender.apply(each);
                each.client.awaitFailure(call, kind);
                long sent = each.responder.messages().stream()
                        .filter(message -> message.xid() == call.xid())
                        .count();
                assertThat(sent).as("it is not sent again: answer %d", i).isEqualTo(1);
                if (disconnects) {
                    each.rig.await(
                            "the connection is given up",
                            () -> each.responder.connection(0).hasEnded());
                    each.client.works();
                } else {
                    each.client.checkUnharmed();
                }
                each.client.finish();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void anErrorOfThePeerEndsTheCallAtOnceAndForGood(Network network) {
        expectFailure(
                network,
                ReplyCase::call,
                Kind.PEER_ERROR_CHUNK,
                false,
                List.of(
                        call -> Words.errorChunk(call.xid(), 1, CREDITS),
                        call -> Words.errorChunk(call.xid(), 1, CREDITS).u32(0, 0)));
        expectFailure(
                network,
                ReplyCase::call,
                Kind.PEER_ERROR_VERSION,
                false,
                List.of(
                        call -> Words.errorVersion(call.xid(), 1, CREDITS, 1, 1),
                        call -> Words.errorVersion(call.xid(), 1, CREDITS, 2, 7)));
        for (Function<ReplyCase, ClientUnderTest.Call> sender : List.<Function<ReplyCase, ClientUnderTest.Call>>of(
                ReplyCase::callWithTarget, ReplyCase::callWithReplyChunk, ReplyCase::callWithBoth)) {
            expectFailure(
                    network,
                    sender,
                    Kind.PEER_ERROR_CHUNK,
                    false,
                    List.of(call -> Words.errorChunk(call.xid(), 1, CREDITS)));
        }
    }

    @ParameterizedTest
    @EnumSource
    void chunksThatWereNotOfferedEndTheCall(Network network) {
        Segment segment = new Segment(0x1234, 0, 0x1000);
        expectFailure(
                network,
                ReplyCase::call,
                Kind.BAD_REPLY,
                false,
                List.of(
                        call -> Words.header(call.xid(), 1, CREDITS, 0)
                                .end()
                                .chunk(segment)
                                .end()
                                .end()
                                .add(Words.reply(call.xid(), 0)),
                        call -> Words.header(call.xid(), 1, CREDITS, 0)
                                .end()
                                .end()
                                .chunk(segment)
                                .add(Words.reply(call.xid(), 0)),
                        call -> Words.header(call.xid(), 1, CREDITS, 1)
                                .end()
                                .end()
                                .chunk(segment.withLength(24))));
    }

    @ParameterizedTest
    @EnumSource
    void aWriteListThatIsNotTheOneOfferedEndsTheCall(Network network) {
        // One chunk too many; none although the result has its bytes.
        expectFailure(
                network,
                ReplyCase::callWithTarget,
                Kind.BAD_REPLY,
                false,
                List.of(
                        call -> Words.header(call.xid(), 1, CREDITS, 0)
                                .end()
                                .chunk(call.writeList().getFirst())
                                .chunk(call.writeList().getFirst())
                                .end()
                                .end()
                                .add(Words.reply(call.xid(), 0).u32(1, 5000, 1)),
                        call -> Words.inline(call.xid(), CREDITS)
                                .add(Words.reply(call.xid(), 0)
                                        .u32(1)
                                        .opaque(Toy.pattern(0, 500))
                                        .u32(Toy.CLOSING_WORD))));
    }

    /** RFC 8166, Sections 6.1 and 3.4.6.2: the result stands in the stream though its chunk was there, or its length is another. */
    @ParameterizedTest
    @EnumSource
    void aResultThatIsNotWhatItsWriteChunkSaysEndsTheCallOfAClientThatKnowsTheProgram(Network network) {
        List<Function<RawMessage, Words>> answers = List.of(
                call -> written(call, 0)
                        .add(Words.reply(call.xid(), 0)
                                .u32(1)
                                .opaque(Toy.pattern(0, 500))
                                .u32(Toy.CLOSING_WORD)),
                call -> written(call, 500).add(Words.reply(call.xid(), 0).u32(1, 501, Toy.CLOSING_WORD)),
                call -> written(call, 500).add(Words.reply(call.xid(), Toy.GARBAGE_ARGS)));
        for (Function<RawMessage, Words> answer : answers) {
            try (ReplyCase each = new ReplyCase(
                    network,
                    (connection, call) -> connection.send(answer.apply(call)),
                    builder -> builder.bindings(Toy.bindings()))) {
                each.client.awaitFailure(each.callWithTarget(), Kind.BAD_REPLY);
                each.client.checkUnharmed();
                each.client.finish();
            }
        }
        try (ReplyCase each = new ReplyCase(
                network,
                (connection, call) -> connection.send(
                        written(call, 500).add(Words.reply(call.xid(), 0).u32(1, 500, 1))),
                builder -> builder.bindings(Toy.bindings()))) {
            assertThat(each.client.await(each.callWithTarget()).reply().placedBytes())
                    .isEqualTo(500);
            each.client.finish();
        }
    }

    /** The header of a reply that says that so many bytes went into the first segment of the Write chunk. */
    private static Words written(RawMessage call, int bytes) {
        List<Integer> lengths =
                new ArrayList<>(Collections.nCopies(call.writeList().getFirst().size(), 0));
        lengths.set(0, bytes);
        return RawReplies.lists(call, CREDITS, 0, lengths);
    }

    @ParameterizedTest
    @EnumSource
    void segmentsThatGrewOrChangedEndTheCallAndTheConnection(Network network) {
        List<Function<Segment, Segment>> changes = List.of(
                segment -> segment.withLength(segment.length() + 1),
                segment -> segment.withLength(0xffff_ffff),
                segment -> new Segment(segment.handle() + 1, segment.length(), segment.offset()),
                segment -> new Segment(segment.handle(), segment.length(), segment.offset() + 4));
        List<Function<RawMessage, Words>> inWriteList = new ArrayList<>();
        List<Function<RawMessage, Words>> inReplyChunk = new ArrayList<>();
        for (Function<Segment, Segment> change : changes) {
            inWriteList.add(call -> Words.header(call.xid(), 1, CREDITS, 0)
                    .end()
                    .chunk(changed(call.writeList().getFirst(), change))
                    .end()
                    .end()
                    .add(Words.reply(call.xid(), 0).u32(1, 5000, Toy.CLOSING_WORD)));
            inReplyChunk.add(call ->
                    Words.header(call.xid(), 1, CREDITS, 1).end().end().chunk(changed(replyChunk(call), change)));
        }
        expectFailure(network, ReplyCase::callWithTarget, Kind.BAD_REPLY, true, inWriteList);
        expectFailure(network, ReplyCase::callWithReplyChunk, Kind.BAD_REPLY, true, inReplyChunk);
    }

    private static List<Segment> replyChunk(RawMessage call) {
        List<Segment> chunk = call.replyChunk();
        if (chunk == null) {
            throw new AssertionError("no Reply chunk: " + call);
        }
        return chunk;
    }

    private static List<Segment> changed(List<Segment> chunk, Function<Segment, Segment> change) {
        List<Segment> changed = new ArrayList<>(chunk);
        changed.set(0, change.apply(chunk.getFirst()));
        return changed;
    }

    @ParameterizedTest
    @EnumSource
    void theFormAndTheReplyChunkMustFitTogether(Network network) {
        // RDMA_MSG with a filled Reply chunk; RDMA_NOMSG with an empty one, with none, and with less than an RPC header
        // in it.
        expectFailure(
                network,
                ReplyCase::callWithReplyChunk,
                Kind.BAD_REPLY,
                false,
                List.of(
                        call -> RawReplies.lists(call, CREDITS, 0, List.of(), 4).add(Words.reply(call.xid(), 0)),
                        call -> RawReplies.lists(call, CREDITS, 1, List.of(), 0),
                        call -> RawReplies.lists(call, CREDITS, 1, List.of(), 20)));
        expectFailure(
                network,
                ReplyCase::callWithTarget,
                Kind.BAD_REPLY,
                false,
                List.of(call -> RawReplies.lists(call, CREDITS, 1, List.of(5000, 0, 0, 0))));
    }

    @ParameterizedTest
    @EnumSource
    void aReplyWhoseXidDiffersBehindTheHeaderCompletesNoCallWithForeignData(Network network) {
        try (ReplyCase each = new ReplyCase(network, (connection, call) -> {
            connection.send(Words.inline(call.xid(), CREDITS)
                    .add(Words.reply(call.xid() + 1, 0).u32(0xbad)));
            connection.send(RawReplies.plain(call, CREDITS));
        })) {
            ClientUnderTest.Call one = each.call();
            ClientUnderTest.Call two = each.call();
            each.rig.await("both end", () -> one.isDone() && two.isDone());
            for (ClientUnderTest.Call call : List.of(one, two)) {
                if (call.isSuccess()) {
                    assertThat(Words.format(call.message()))
                            .isEqualTo(Words.reply(call.xid(), 0).toString());
                } else {
                    assertThat(call.kind()).isEqualTo(Kind.BAD_REPLY);
                }
            }
            each.client.works();
            each.client.finish();
        }
    }

    /** RFC 8166, Section 4.3.3 asks for the chunk's copy; a server that leaves it out does no harm. */
    @ParameterizedTest
    @EnumSource
    void anInlineReplyWithoutTheOfferedReplyChunkIsTaken(Network network) {
        try (ReplyCase each =
                new ReplyCase(network, (connection, call) -> connection.send(RawReplies.plain(call, CREDITS)))) {
            each.client.awaitSuccess(each.callWithReplyChunk());
            each.client.checkUnharmed();
            each.client.finish();
        }
    }

    @ParameterizedTest
    @EnumSource
    void anUnusedAndAnEmptyWriteChunkSayThatThereIsNoResult(Network network) {
        List<Integer> turn = new ArrayList<>();
        try (ReplyCase each = new ReplyCase(network, (connection, call) -> {
            Words status = Words.reply(call.xid(), 0).u32(5);
            turn.add(1);
            int segments = call.writeList().getFirst().size();
            connection.send(
                    turn.size() == 1
                            ? RawReplies.lists(call, CREDITS, 0, Collections.nCopies(segments, 0))
                                    .add(status)
                            : Words.header(call.xid(), 1, CREDITS, 0)
                                    .end()
                                    .chunk()
                                    .end()
                                    .end()
                                    .add(status));
        })) {
            for (int i = 0; i < 2; i++) {
                ClientUnderTest.Call call = each.callWithTarget();
                each.client.await(call);
                assertThat(call.reply().placedBytes()).isZero();
                assertThat(Words.format(call.message()))
                        .isEqualTo(Words.reply(call.xid(), 0).u32(5).toString());
            }
            each.client.checkUnharmed();
            each.client.finish();
        }
    }

    /** Grants of 0, falling, rising and absurd: no deadlock, never more calls out than allowed. */
    @ParameterizedTest
    @EnumSource
    void absurdGrantsNeitherStopTheClientNorMakeItSendTooMuch(Network network) {
        int[] grants = {0, 1, 0x8000_0000, 0xffff_ffff, 64, 32, 2, 1, 0, 8};
        List<Integer> turn = new ArrayList<>();
        try (Rig rig = network.open();
                RawResponder responder = new RawResponder(rig).privateData(ClientUnderTest.SERVER_DATA)) {
            responder.onMessage((connection, call) -> {
                turn.add(1);
                connection.send(RawReplies.plain(call, grants[turn.size() % grants.length]));
            });
            try (ClientUnderTest client = ClientUnderTest.start(rig, responder, builder -> builder.maxInFlight(16))) {
                for (int round = 0; round < 20; round++) {
                    List<ClientUnderTest.Call> calls = new ArrayList<>();
                    for (int i = 0; i < 20; i++) {
                        calls.add(client.send(client.newXid(), Toy.NULL));
                    }
                    calls.forEach(client::awaitSuccess);
                }
                assertThat(responder.connectionCount()).isEqualTo(1);
                client.finish();
            }
        }
    }
}
