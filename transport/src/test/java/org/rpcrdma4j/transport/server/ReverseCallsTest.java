// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rpcrdma4j.transport.server.ServerFixture.XID;
import static org.rpcrdma4j.transport.server.ServerFixture.assertNullReply;
import static org.rpcrdma4j.transport.server.ServerFixture.nullCall;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.RawConnection;
import org.rpcrdma4j.transport.raw.RawMessage;
import org.rpcrdma4j.transport.raw.Segment;
import org.rpcrdma4j.transport.raw.Words;

/** Calls from the server to a client: RFC 8167. */
class ReverseCallsTest {

    private static final int CALLBACK = 0x4000_0000;
    private static final Duration LONG = Duration.ofSeconds(20);

    /** A server whose handler hands out its end of the reverse direction. */
    private static final class Backchannel implements AutoCloseable {
        private final HeldRequests held = new HeldRequests();
        private final ServerFixture fixture;
        private final RawConnection client;
        private final ReverseClient reverse;

        Backchannel(Network network) {
            fixture = new ServerFixture(network.open(), ServerOptions.DEFAULT, held);
            client = fixture.connect();
            client.send(nullCall(XID));
            fixture.await("the call is there", () -> held.size() == 1);
            ServerRequest request = held.take();
            reverse = request.reverse();
            HeldRequests.answer(request);
            fixture.await("the reply is there", () -> client.messageCount() == 1);
        }

        CompletableFuture<MemorySegment> call(int bytes, Duration timeout) {
            Words call = Words.call(99, CALLBACK, 1, 0).raw(new byte[bytes - 40]);
            return reverse.call(MemorySegment.ofArray(call.toBytes()), timeout);
        }

        /** The reverse calls that the client has. */
        List<RawMessage> calls() {
            return client.messages().stream()
                    .filter(message -> message.procedure() == Words.RDMA_MSG)
                    .filter(message -> message.rpc().word(1) == 0)
                    .toList();
        }

        RawMessage awaitCall(int number) {
            fixture.await("reverse call " + number, () -> calls().size() > number);
            return calls().get(number);
        }

        void reply(int xid, int credits) {
            client.send(Words.inline(xid, credits).add(Words.reply(xid, 0)));
        }

        @Override
        public void close() {
            held.answerAll();
            fixture.close();
        }
    }

    private static void assertFails(CompletableFuture<?> future, ReverseCallException.Kind kind) {
        assertThat(future)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .asInstanceOf(InstanceOfAssertFactories.throwable(ReverseCallException.class))
                .extracting(ReverseCallException::kind)
                .isEqualTo(kind);
    }

    @ParameterizedTest
    @EnumSource
    void sendsNothingBeforeTheClientHasSaidThatItTakesCalls(Network network) {
        try (Backchannel channel = new Backchannel(network)) {
            assertFails(channel.call(40, LONG), ReverseCallException.Kind.NOT_ENABLED);
            channel.fixture.rig.settle();
            assertThat(channel.client.messageCount()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void callsInlineWithItsOwnXidAndCreditsAndGetsTheReply(Network network) {
        try (Backchannel channel = new Backchannel(network)) {
            channel.reverse.enable();
            CompletableFuture<MemorySegment> result = channel.call(44, LONG);
            RawMessage call = channel.awaitCall(0);
            assertThat(call.version()).isEqualTo(1);
            assertThat(call.credits()).isEqualTo(2);
            assertThat(call.rpc().word(0)).isEqualTo(call.xid());
            assertThat(call.rpc().word(3)).isEqualTo(CALLBACK);
            assertThat(call.length()).isEqualTo(28 + 44);
            assertThat(result).isNotDone();
            channel.reply(call.xid(), 16);
            channel.fixture.await("the reply is known", result::isDone);
            assertThat(result.join().toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(Words.reply(call.xid(), 0).toBytes());
            assertThat(channel.fixture.count(ServerCounter.REVERSE_REPLIES)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void beginsWithOneCreditAndHoldsToTheClientsGrant(Network network) {
        try (Backchannel channel = new Backchannel(network)) {
            channel.reverse.enable();
            List<CompletableFuture<MemorySegment>> results = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                results.add(channel.call(40, LONG));
            }
            channel.awaitCall(0);
            channel.fixture.rig.settle();
            assertThat(channel.calls()).hasSize(1);
            channel.reply(channel.calls().getFirst().xid(), 16);
            channel.awaitCall(2);
            channel.fixture.rig.settle();
            // Two is what the server asks for.
            assertThat(channel.calls()).hasSize(3);
            channel.reply(channel.calls().get(2).xid(), 0);
            channel.fixture.rig.settle();
            // A grant of 0 means 1, and one is out.
            assertThat(channel.calls()).hasSize(3);
            channel.reply(channel.calls().get(1).xid(), 1);
            channel.reply(channel.awaitCall(3).xid(), 1);
            channel.reply(channel.awaitCall(4).xid(), 1);
            channel.fixture.await("all are answered", () -> results.stream().allMatch(CompletableFuture::isDone));
            assertThat(results).allMatch(result -> !result.isCompletedExceptionally());
        }
    }

    @ParameterizedTest
    @EnumSource
    void usesTheSameXidInBothDirectionsAtATime(Network network) {
        // RFC 8167, Section 2.4.1.
        try (Backchannel channel = new Backchannel(network)) {
            channel.reverse.enable();
            CompletableFuture<MemorySegment> result = channel.call(40, LONG);
            int xid = channel.awaitCall(0).xid();
            channel.client.send(nullCall(xid));
            channel.fixture.await("the forward call is there", () -> channel.held.size() == 1);
            channel.reply(xid, 1);
            channel.fixture.await("the reverse call has its reply", result::isDone);
            int before = channel.client.messageCount();
            channel.held.answerAll();
            channel.fixture.await("the forward reply", () -> channel.client.messageCount() > before);
            assertNullReply(channel.client.message(before), xid);
        }
    }

    @ParameterizedTest
    @EnumSource
    void failsACallThatDoesNotFitInline(Network network) {
        try (Backchannel channel = new Backchannel(network)) {
            channel.reverse.enable();
            assertThat(channel.reverse.maxCallBytes()).isEqualTo(4096 - 28);
            assertFails(channel.call(4096 - 24, LONG), ReverseCallException.Kind.TOO_LONG);
            CompletableFuture<MemorySegment> largest = channel.call(4096 - 28, LONG);
            assertThat(channel.awaitCall(0).length()).isEqualTo(4096);
            channel.reply(channel.calls().getFirst().xid(), 1);
            channel.fixture.await("the reply is known", largest::isDone);
        }
    }

    @ParameterizedTest
    @EnumSource
    void endsACallByItsDeadlineAndKnowsTheLateReply(Network network) {
        try (Backchannel channel = new Backchannel(network)) {
            channel.reverse.enable();
            CompletableFuture<MemorySegment> result = channel.call(40, Duration.ofMillis(300));
            int xid = channel.awaitCall(0).xid();
            channel.fixture.rig.advance(Duration.ofSeconds(1));
            channel.fixture.await("the call is given up", result::isDone);
            assertFails(result, ReverseCallException.Kind.TIMED_OUT);
            CompletableFuture<MemorySegment> next = channel.call(40, LONG);
            channel.fixture.rig.settle();
            // The client may still hold the first one: its credit is not free.
            assertThat(channel.calls()).hasSize(1);
            channel.reply(xid, 1);
            channel.reply(channel.awaitCall(1).xid(), 1);
            channel.fixture.await("the next call has its reply", next::isDone);
            assertThat(next).isCompletedWithValueMatching(reply -> reply.byteSize() == 24);
        }
    }

    @ParameterizedTest
    @EnumSource
    void endsACallByItsRdmaErrorAndDropsOthers(Network network) {
        try (Backchannel channel = new Backchannel(network)) {
            channel.reverse.enable();
            CompletableFuture<MemorySegment> result = channel.call(40, LONG);
            int xid = channel.awaitCall(0).xid();
            channel.client.send(Words.errorChunk(xid + 1, 1, 16));
            channel.reply(xid + 1, 16);
            channel.fixture.rig.settle();
            assertThat(result).isNotDone();
            channel.client.send(Words.errorChunk(xid, 1, 16));
            channel.fixture.await("the call has ended", result::isDone);
            assertFails(result, ReverseCallException.Kind.REFUSED);
            assertThat(channel.fixture.count(ServerCounter.REVERSE_BAD_XIDS)).isEqualTo(1);
            assertThat(channel.fixture.count(ServerCounter.BAD_CALLS_DROPPED)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void ignoresAReverseReplyWithChunks(Network network) {
        try (Backchannel channel = new Backchannel(network)) {
            channel.reverse.enable();
            CompletableFuture<MemorySegment> result = channel.call(40, LONG);
            int xid = channel.awaitCall(0).xid();
            channel.client.send(Words.header(xid, 1, 1, Words.RDMA_MSG)
                    .end()
                    .chunk(new Segment(1, 2, 3))
                    .end()
                    .end()
                    .add(Words.reply(xid, 0)));
            channel.fixture.rig.settle();
            assertThat(result).isNotDone();
            channel.reply(xid, 1);
            channel.fixture.await("the reply is known", result::isDone);
        }
    }

    @ParameterizedTest
    @EnumSource
    void failsAllCallsWhenTheConnectionEnds(Network network) {
        try (Backchannel channel = new Backchannel(network)) {
            channel.reverse.enable();
            CompletableFuture<MemorySegment> out = channel.call(40, LONG);
            CompletableFuture<MemorySegment> waiting = channel.call(40, LONG);
            channel.awaitCall(0);
            channel.client.breakOff();
            channel.fixture.await("both have ended", () -> out.isDone() && waiting.isDone());
            assertFails(out, ReverseCallException.Kind.CONNECTION_LOST);
            assertFails(waiting, ReverseCallException.Kind.CONNECTION_LOST);
            CompletableFuture<MemorySegment> later = channel.call(40, LONG);
            channel.fixture.await("it ends", later::isDone);
            assertFails(later, ReverseCallException.Kind.CONNECTION_LOST);
        }
    }

    @ParameterizedTest
    @EnumSource
    void takesTheReplyThatIsOutWhileTheServerEndsInOrder(Network network) {
        Backchannel channel = new Backchannel(network);
        channel.reverse.enable();
        CompletableFuture<MemorySegment> result = channel.call(40, LONG);
        RawMessage call = channel.awaitCall(0);
        CompletableFuture<Void> end = channel.fixture.server.shutdown(Duration.ofMinutes(5));
        channel.fixture.rig.settle();
        assertThat(end).as("a call is out").isNotDone();
        channel.reply(call.xid(), 1);
        channel.fixture.await("the reply is known", result::isDone);
        assertThat(result.join().byteSize()).isEqualTo(24);
        // Long before the time that was given for it.
        assertThat(channel.fixture.rig.awaitWithin(Duration.ofSeconds(5), end::isDone))
                .isTrue();
        channel.close();
    }
}
