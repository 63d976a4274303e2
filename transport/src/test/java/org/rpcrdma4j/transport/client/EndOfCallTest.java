// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.transport.client.TransportException.Kind;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.event.Gauge;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.RawConnection;
import org.rpcrdma4j.transport.raw.RawMessage;
import org.rpcrdma4j.transport.raw.RawWork;
import org.rpcrdma4j.transport.raw.Segment;
import org.rpcrdma4j.transport.raw.Words;

/** Deadlines, cancels and late replies: a call ends once, and its memory is shut by then. */
class EndOfCallTest {

    private final Arena arena = Arena.ofShared();

    @AfterEach
    void closeArena() {
        arena.close();
    }

    private MemorySegment memory(int length) {
        return arena.allocate(length);
    }

    @ParameterizedTest
    @EnumSource
    void aCancelledCallEndsWhenItsMemoryIsShut(Network network) {
        try (ClientFixture fixture = new ClientFixture(network.open())) {
            MemorySegment target = memory(5000);
            PendingReply pending =
                    fixture.client.send(fixture.nullCall().target(target).build());
            RawMessage call = fixture.call(1);
            assertThat(pending.cancel(false)).isTrue();
            fixture.rig.await("the call ends", pending::isDone);
            assertThat(pending.isCancelled()).isTrue();
            assertThat(pending.cancel(false)).isFalse();
            target.fill((byte) 0x33);
            RawConnection server = fixture.responder.connection();
            Segment segment = call.writeList().getFirst().getFirst();
            server.write(segment, new byte[segment.length()]);
            fixture.rig.await("the connection ends", server::hasEnded);
            assertThat(ClientFixture.bytes(target)).containsOnly(0x33);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aCancelledCallsMemoryCannotBeReadByTheServerAnyMore(Network network) {
        try (ClientFixture fixture = new ClientFixture(network.open())) {
            MemorySegment item = memory(8192);
            PendingReply pending =
                    fixture.client.send(fixture.nullCall().item(item).build());
            RawMessage call = fixture.call(1);
            pending.cancel(false);
            fixture.rig.await("the call ends", pending::isDone);
            item.fill((byte) 0x44);
            RawConnection server = fixture.responder.connection();
            RawWork read = server.read(call.readList().getFirst().segment());
            fixture.rig.await("the Read ends", read::isDone);
            assertThat(read.isSuccess()).isFalse();
        }
    }

    @Test
    void aCallThatWasNotSentEndsAtOnceByCancelAndIsNotUndecided() {
        try (ClientFixture fixture = new ClientFixture(Network.SIMULATION.open())) {
            PendingReply first = fixture.client.send(fixture.nullCall().build());
            PendingReply second = fixture.client.send(fixture.nullCall().build());
            fixture.call(1);
            second.cancel(true);
            assertThat(second.isCancelled()).isTrue();
            fixture.answering(4);
            ClientFixture.answer(fixture.responder.connection(), fixture.call(1).xid(), 4);
            fixture.reply(first);
            fixture.rig.settle();
            assertThat(fixture.responder.messageCount()).isEqualTo(1);
        }
    }

    @Test
    void aLateReplyGivesTheCreditBackAndNothingElse() {
        try (ClientFixture fixture = new ClientFixture(Network.SIMULATION.open())) {
            PendingReply first = fixture.client.send(fixture.nullCall().build());
            RawMessage call = fixture.call(1);
            first.cancel(false);
            fixture.rig.await("the call ends", first::isDone);
            PendingReply second = fixture.client.send(fixture.nullCall().build());
            fixture.rig.settle();
            assertThat(fixture.responder.messageCount()).isEqualTo(1);
            assertThat(fixture.client.gauges().get(Gauge.CALLS_ZOMBIE)).isEqualTo(1);
            assertThat(fixture.client.gauges().get(Gauge.CALLS_WAITING)).isEqualTo(1);
            assertThat(fixture.client.gauges().get(Gauge.CALLS_IN_FLIGHT)).isZero();
            ClientFixture.answer(fixture.responder.connection(), call.xid(), 2);
            ClientFixture.answer(fixture.responder.connection(), fixture.call(2).xid(), 2);
            fixture.reply(second);
            assertThat(fixture.counter(ClientCounter.LATE_REPLIES)).isEqualTo(1);
            assertThat(fixture.counter(ClientCounter.BAD_XIDS)).isZero();
            assertThat(fixture.responder.connectionCount()).isEqualTo(1);
        }
    }

    @Test
    void anXidCannotBeUsedAgainBeforeItsReply() {
        try (ClientFixture fixture = new ClientFixture(Network.SIMULATION.open())) {
            CallMessage message = fixture.nullCall().build();
            PendingReply first = fixture.client.send(message);
            assertThatThrownBy(() -> fixture.client.send(message)).isInstanceOf(IllegalArgumentException.class);
            fixture.call(1);
            first.cancel(false);
            fixture.rig.await("the call ends", first::isDone);
            assertThatThrownBy(() -> fixture.client.send(message)).isInstanceOf(IllegalArgumentException.class);
            ClientFixture.answer(fixture.responder.connection(), message.xid(), 2);
            fixture.rig.settle();
            fixture.answering(2);
            fixture.reply(fixture.client.send(message));
        }
    }

    @Test
    void silenceUntilTheDeadlineEndsTheConnectionAndOtherCallsAreSentAgain() {
        try (ClientFixture fixture = new ClientFixture(Network.SIMULATION.open())) {
            PendingReply lost = fixture.client.send(
                    fixture.nullCall().timeout(Duration.ofSeconds(1)).build());
            PendingReply other = fixture.client.send(
                    fixture.nullCall().timeout(Duration.ofSeconds(30)).build());
            TransportException failure = fixture.failure(lost);
            assertThat(failure.kind()).isEqualTo(Kind.TIMED_OUT);
            assertThat(failure.undecided()).isTrue();
            RawMessage sent = fixture.call(2);
            assertThat(fixture.responder.connectionCount()).isEqualTo(2);
            ClientFixture.answer(fixture.responder.connection(), sent.xid(), 2);
            fixture.reply(other);
        }
    }

    @Test
    void callsWithoutCallersDoNotHoldAllCreditsForEver() {
        try (ClientFixture fixture =
                new ClientFixture(Network.SIMULATION.open(), builder -> builder.callTimeout(Duration.ofSeconds(5)))) {
            fixture.answering(2);
            fixture.reply(fixture.client.send(fixture.nullCall().build()));
            fixture.responder.onMessage((connection, call) -> {});
            PendingReply one = fixture.client.send(fixture.nullCall().build());
            PendingReply two = fixture.client.send(fixture.nullCall().build());
            fixture.call(3);
            one.cancel(false);
            two.cancel(false);
            PendingReply third = fixture.client.send(
                    fixture.nullCall().timeout(Duration.ofSeconds(50)).build());
            fixture.rig.settle();
            assertThat(fixture.responder.messageCount()).isEqualTo(3);
            fixture.answering(2);
            fixture.reply(third);
            assertThat(fixture.responder.connectionCount()).isEqualTo(2);
        }
    }

    @Test
    void timeoutsOfOneNanosecondAndOfForeverDoNotOverflow() {
        try (ClientFixture fixture = new ClientFixture(Network.SIMULATION.open())) {
            assertThat(fixture.failure(fixture.client.send(fixture.nullCall()
                                    .timeout(Duration.ofNanos(1))
                                    .build()))
                            .kind())
                    .isEqualTo(Kind.TIMED_OUT);
            assertThat(fixture.failure(fixture.client.send(
                                    fixture.nullCall().timeout(Duration.ZERO).build()))
                            .undecided())
                    .isFalse();
            fixture.answering(2);
            fixture.reply(fixture.client.send(fixture.nullCall()
                    .timeout(Duration.ofSeconds(Long.MAX_VALUE))
                    .build()));
        }
    }

    @Test
    void aRandomHalfIsCancelledAndAllAreAnsweredBackwards() {
        try (ClientFixture fixture =
                new ClientFixture(Network.SIMULATION.open(), builder -> builder.maxInFlight(256))) {
            fixture.answering(200);
            fixture.reply(fixture.client.send(fixture.nullCall().build()));
            fixture.responder.onMessage((connection, call) -> {});
            List<PendingReply> pending = new ArrayList<>();
            List<RawMessage> calls = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                pending.add(fixture.client.send(
                        fixture.nullCall().target(memory(1000)).build()));
            }
            fixture.call(101);
            calls.addAll(fixture.responder.messages().subList(1, 101));
            List<PendingReply> cancelled = new ArrayList<>(pending);
            Collections.shuffle(cancelled, new Random(7));
            cancelled = cancelled.subList(0, 50);
            cancelled.forEach(call -> call.cancel(false));
            for (int i = 99; i >= 0; i--) {
                RawMessage call = calls.get(i);
                fixture.responder
                        .connection()
                        .send(Words.header(call.xid(), 1, 200, 0)
                                .end()
                                .chunk(call.writeList().getFirst().stream()
                                        .map(segment -> segment.withLength(0))
                                        .toList())
                                .end()
                                .end()
                                .add(Words.reply(call.xid(), 0)));
            }
            for (PendingReply call : pending) {
                fixture.rig.await("each ends", call::isDone);
                assertThat(call.isCancelled()).isEqualTo(cancelled.contains(call));
            }
            fixture.rig.await("late replies are counted", () -> fixture.counter(ClientCounter.LATE_REPLIES) == 50);
            assertThat(fixture.responder.connectionCount()).isEqualTo(1);
            assertThat(fixture.client.toString()).contains("0 calls waiting, 0 sent");
        }
    }

    @Test
    void aRegionOfAnotherCallThatIsInvalidatedEndsTheConnection() {
        try (ClientFixture fixture = new ClientFixture(Network.SIMULATION.open()).answering(4)) {
            fixture.reply(fixture.client.send(fixture.nullCall().build()));
            fixture.responder.onMessage((connection, call) -> {});
            PendingReply one =
                    fixture.client.send(fixture.nullCall().target(memory(1000)).build());
            PendingReply two = fixture.client.send(fixture.nullCall().build());
            RawMessage second = fixture.call(3);
            RawMessage first = fixture.responder.messages().get(1);
            int key = first.writeList().getFirst().getFirst().handle();
            RawConnection server = fixture.responder.connection();
            server.sendInvalidating(
                    key,
                    Words.inline(second.xid(), 4)
                            .add(Words.reply(second.xid(), 0))
                            .toBytes());
            fixture.rig.await("the connection ends", server::hasEnded);
            assertThat(fixture.counter(ClientCounter.FOREIGN_INVALIDATIONS)).isEqualTo(1);
            fixture.responder.onMessage((connection, call) -> connection.send(Words.header(call.xid(), 1, 4, 0)
                    .end()
                    .add(writeListOf(call))
                    .end()
                    .end()
                    .add(Words.reply(call.xid(), 0))));
            fixture.reply(one);
            fixture.reply(two);
            assertThat(fixture.counter(ClientCounter.RETRANSMISSIONS)).isEqualTo(2);
        }
    }

    private static Words writeListOf(RawMessage call) {
        Words words = new Words();
        call.writeList()
                .forEach(chunk -> words.chunk(
                        chunk.stream().map(segment -> segment.withLength(0)).toList()));
        return words;
    }

    @Test
    void anInterruptedThreadGetsItsMemoryBackShut() throws InterruptedException {
        try (ClientFixture fixture = new ClientFixture(Network.IWARP.open())) {
            MemorySegment target = memory(5000);
            CallMessage message = fixture.nullCall().target(target).build();
            TransportException[] failure = new TransportException[1];
            boolean[] interrupted = new boolean[1];
            Thread caller = new Thread(() -> {
                try {
                    fixture.client.call(message);
                } catch (TransportException e) {
                    failure[0] = e;
                    interrupted[0] = Thread.currentThread().isInterrupted();
                }
            });
            caller.start();
            fixture.call(1);
            caller.interrupt();
            caller.join(10_000);
            assertThat(failure[0].kind()).isEqualTo(Kind.CANCELLED);
            assertThat(interrupted[0]).isTrue();
        }
    }
}
