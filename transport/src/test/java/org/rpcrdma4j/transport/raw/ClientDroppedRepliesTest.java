// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rpcrdma4j.transport.raw.ClientUnderTest.CREDITS;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.transport.client.TransportException.Kind;
import org.rpcrdma4j.transport.event.ClientCounter;

/** RFC 8166, Sections 4.2 to 4.6: replies that our client drops without a word. */
class ClientDroppedRepliesTest {

    /** Each bad message is dropped without a word, and the good one behind it completes the call. */
    private static void expectDropped(Network network, List<Function<RawMessage, Words>> badOnes) {
        List<Integer> turn = new ArrayList<>();
        try (ReplyCase each = new ReplyCase(network, (connection, call) -> {
            connection.send(badOnes.get(turn.size()).apply(call));
            turn.add(1);
            connection.send(RawReplies.plain(call, CREDITS));
        })) {
            int messages = each.responder.messageCount();
            for (int i = 0; i < badOnes.size(); i++) {
                long before = each.client.count(ClientCounter.BAD_REPLIES);
                each.client.awaitSuccess(each.call());
                assertThat(each.client.count(ClientCounter.BAD_REPLIES))
                        .as("message %d is counted", i)
                        .isEqualTo(before + 1);
            }
            assertThat(each.responder.messageCount())
                    .as("a requester never sends an error")
                    .isEqualTo(messages + badOnes.size());
            each.client.checkUnharmed();
            each.client.finish();
        }
    }

    @ParameterizedTest
    @EnumSource
    void messagesBelow28BytesAreDroppedSilently(Network network) {
        List<Function<RawMessage, Words>> bad = new ArrayList<>();
        for (int length : new int[] {0, 1, 3, 15, 16, 20, 27}) {
            bad.add(call -> new Words().raw(RawReplies.plain(call, CREDITS).cut(length)));
        }
        // RDMA_ERROR cut before its code, or before the end of ERR_VERS.
        bad.add(call -> new Words().raw(Words.errorChunk(call.xid(), 1, CREDITS).cut(16)));
        bad.add(call -> new Words().raw(Words.errorChunk(call.xid(), 1, CREDITS).cut(19)));
        bad.add(call ->
                new Words().raw(Words.errorVersion(call.xid(), 1, CREDITS, 1, 1).cut(20)));
        bad.add(call ->
                new Words().raw(Words.errorVersion(call.xid(), 1, CREDITS, 1, 1).cut(24)));
        expectDropped(network, bad);
    }

    @ParameterizedTest
    @EnumSource
    void anotherVersionIsDroppedSilently(Network network) {
        List<Function<RawMessage, Words>> bad = new ArrayList<>();
        for (int version : new int[] {0, 2, 0xffff_ffff}) {
            bad.add(call ->
                    Words.header(call.xid(), version, CREDITS, 0).noChunks().add(Words.reply(call.xid(), 0)));
            bad.add(call -> Words.errorChunk(call.xid(), version, CREDITS).u32(0, 0));
        }
        expectDropped(network, bad);
    }

    @ParameterizedTest
    @EnumSource
    void proceduresThatAreNotForARequesterAreDroppedSilently(Network network) {
        List<Function<RawMessage, Words>> bad = new ArrayList<>();
        for (int procedure : new int[] {Words.RDMA_MSGP, Words.RDMA_DONE, 5, 0xffff_ffff}) {
            bad.add(call ->
                    Words.header(call.xid(), 1, CREDITS, procedure).noChunks().add(Words.reply(call.xid(), 0)));
        }
        expectDropped(network, bad);
    }

    @ParameterizedTest
    @EnumSource
    void errorsThatCannotBeDecodedAreDroppedSilently(Network network) {
        List<Function<RawMessage, Words>> bad = new ArrayList<>();
        for (int code : new int[] {0, 3, 0xffff_ffff}) {
            bad.add(call ->
                    Words.header(call.xid(), 1, CREDITS, Words.RDMA_ERROR).u32(code));
            bad.add(call ->
                    Words.header(call.xid(), 1, CREDITS, Words.RDMA_ERROR).u32(code, 1, 1));
        }
        expectDropped(network, bad);
    }

    @ParameterizedTest
    @EnumSource
    void listsThatAreCutOrHaveAWordThatIsNoBoolAreDroppedSilently(Network network) {
        List<Function<RawMessage, Words>> bad = new ArrayList<>();
        Segment segment = new Segment(0x1234, 100, 0x1000);
        for (int cut = 28; cut < 28 + 8 + 32; cut += 4) {
            int length = cut;
            bad.add(call -> new Words()
                    .raw(Words.header(call.xid(), 1, CREDITS, 0)
                            .end()
                            .chunk(segment, segment)
                            .end()
                            .end()
                            .cut(length)));
            bad.add(call -> new Words()
                    .raw(Words.header(call.xid(), 1, CREDITS, 0)
                            .end()
                            .end()
                            .chunk(segment, segment, segment)
                            .cut(length)));
        }
        for (int word : new int[] {2, 0x8000_0000, 0xffff_ffff}) {
            bad.add(call ->
                    Words.header(call.xid(), 1, CREDITS, 0).u32(word, 0, 0).add(Words.reply(call.xid(), 0)));
            bad.add(call ->
                    Words.header(call.xid(), 1, CREDITS, 0).u32(0, word, 0).add(Words.reply(call.xid(), 0)));
            bad.add(call ->
                    Words.header(call.xid(), 1, CREDITS, 0).u32(0, 0, word).add(Words.reply(call.xid(), 0)));
        }
        for (int count : new int[] {2, 0x0fff_ffff, 0x1000_0001, 0x7fff_ffff, 0xffff_ffff}) {
            bad.add(call -> Words.header(call.xid(), 1, CREDITS, 0).u32(0, 1, count, 0x1234, 100, 0, 0, 0, 0));
            bad.add(call -> Words.header(call.xid(), 1, CREDITS, 1).u32(0, 0, 1, count, 0x1234, 100, 0, 0));
        }
        expectDropped(network, bad);
    }

    @ParameterizedTest
    @EnumSource
    void aReplyWithAReadListIsDroppedSilently(Network network) {
        Segment segment = new Segment(0x1234, 100, 0x1000);
        expectDropped(
                network,
                List.of(
                        call -> Words.header(call.xid(), 1, CREDITS, 0)
                                .readSegment(0, segment)
                                .end()
                                .end()
                                .end()
                                .add(Words.reply(call.xid(), 0)),
                        call -> Words.header(call.xid(), 1, CREDITS, 1)
                                .readSegment(0, segment)
                                .end()
                                .end()
                                .end()));
    }

    @ParameterizedTest
    @EnumSource
    void rdmaNomsgWithoutAnyListIsDroppedSilently(Network network) {
        expectDropped(
                network,
                List.of(
                        call -> Words.header(call.xid(), 1, CREDITS, 1).noChunks(),
                        call -> Words.header(call.xid(), 1, CREDITS, 1)
                                .noChunks()
                                .add(Words.reply(call.xid(), 0))));
    }

    @ParameterizedTest
    @EnumSource
    void malformedRepliesAgainAndAgainEndTheConnection(Network network) {
        try (Rig rig = network.open();
                RawResponder responder = new RawResponder(rig).privateData(ClientUnderTest.SERVER_DATA)) {
            responder.onMessage((connection, call) -> {
                if (responder.connectionCount() == 1) {
                    for (int i = 0; i < 3; i++) {
                        connection.send(new Words().u32(call.xid()));
                    }
                } else {
                    connection.send(RawReplies.plain(call, CREDITS));
                }
            });
            try (ClientUnderTest client = ClientUnderTest.start(rig, responder, builder -> builder.badReplyLimit(3))) {
                client.works();
                assertThat(responder.connectionCount()).isEqualTo(2);
                client.finish();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void repliesThatNobodyWaitsForAreDroppedAndChangeNothing(Network network) {
        try (ReplyCase each = new ReplyCase(network, (connection, call) -> {
            // Of nobody, with an absurd grant; the real one; a second copy; and one of a call that has ended.
            connection.send(Words.inline(call.xid() + 1000, 1).add(Words.reply(call.xid() + 1000, 0)));
            connection.send(RawReplies.plain(call, CREDITS));
            connection.send(RawReplies.plain(call, CREDITS));
            connection.send(Words.inline(call.xid() - 1, CREDITS).add(Words.reply(call.xid() - 1, 0)));
            connection.send(Words.header(call.xid(), 1, CREDITS, 1).end().end().chunk(new Segment(0x1234, 100, 0)));
            connection.send(Words.errorChunk(call.xid() + 1001, 1, CREDITS));
        })) {
            for (int i = 0; i < 20; i++) {
                each.client.awaitSuccess(each.call());
            }
            each.rig.settle();
            assertThat(each.client.count(ClientCounter.BAD_XIDS)).isPositive();
            each.client.checkUnharmed();
            each.client.finish();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aCallWhoseReplyIsOnlyEverMalformedEndsByItsDeadline(Network network) {
        try (ReplyCase each =
                new ReplyCase(network, (connection, call) -> connection.send(new Words().u32(call.xid())))) {
            ClientUnderTest.Call call = each.client.send(ClientUnderTest.message(
                    Toy.call(each.client.newXid(), Toy.HOLD), builder -> builder.timeout(Duration.ofSeconds(20))));
            each.rig.await("the call is sent", () -> each.responder.messageCount() == 2);
            each.rig.advance(Duration.ofSeconds(21));
            each.client.awaitFailure(call, Kind.TIMED_OUT);
            assertThat(call.isUndecided()).isTrue();
            each.client.works();
            each.client.finish();
        }
    }
}
