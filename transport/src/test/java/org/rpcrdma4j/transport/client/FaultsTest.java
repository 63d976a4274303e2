// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.testkit.sim.FaultPlan;
import org.rpcrdma4j.testkit.sim.ScriptedFaults;
import org.rpcrdma4j.testkit.sim.SimulationOptions;
import org.rpcrdma4j.transport.client.TransportException.Kind;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.raw.RawConnection;
import org.rpcrdma4j.transport.raw.RawMessage;
import org.rpcrdma4j.transport.raw.SimulatedRig;
import org.rpcrdma4j.transport.raw.Words;
import org.rpcrdma4j.verbs.WorkCompletion;

/** A device that is late, short of things, or fails: no call ends before its memory is shut, none is lost. */
class FaultsTest {

    private final Arena arena = Arena.ofShared();

    @AfterEach
    void closeArena() {
        arena.close();
    }

    private static ClientFixture fixture(FaultPlan faults, UnaryOperator<RpcRdmaClient.Builder> settings) {
        SimulationOptions options = SimulationOptions.DEFAULT.withFaults(faults);
        return new ClientFixture(new SimulatedRig(1, options, SimulationOptions.DEFAULT), settings);
    }

    /** Answers every call with an unused Write chunk where it offers one. */
    private static void answerAll(ClientFixture fixture) {
        fixture.responder.onMessage(FaultsTest::answer);
    }

    private static void answer(RawConnection connection, RawMessage call) {
        Words lists = new Words().end();
        call.writeList()
                .forEach(chunk -> lists.chunk(
                        chunk.stream().map(segment -> segment.withLength(0)).toList()));
        connection.send(Words.header(call.xid(), 1, 16, Words.RDMA_MSG)
                .add(lists)
                .end()
                .end()
                .add(Words.reply(call.xid(), 0)));
    }

    private CallMessage withTarget(ClientFixture fixture) {
        return fixture.nullCall().target(arena.allocate(5000)).build();
    }

    @Test
    void aSlotIsNotUsedAgainBeforeItsSendHasCompleted() {
        FaultPlan late = new FaultPlan() {
            @Override
            public long completionDelayNanos(WorkCompletion.Operation operation) {
                return operation == WorkCompletion.Operation.SEND ? 5_000_000 : 0;
            }
        };
        try (ClientFixture fixture = fixture(late, builder -> builder.maxInFlight(2))) {
            answerAll(fixture);
            List<PendingReply> pending = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                pending.add(fixture.client.send(fixture.nullCall().build()));
            }
            // The rig fails if the memory of an outstanding Send changes.
            pending.forEach(fixture::reply);
            assertThat(fixture.counter(ClientCounter.REPLY_WAITS_FOR_SEND)).isPositive();
            assertThat(fixture.counter(ClientCounter.EMPTY_SEND_CONTEXTS)).isPositive();
            assertThat(fixture.responder.connectionCount()).isEqualTo(1);
        }
    }

    @Test
    void callsWaitForRegionsAndGoOnInTheirOrder() {
        ScriptedFaults faults = new ScriptedFaults();
        for (int i = 1; i <= 3; i++) {
            faults.refuse(FaultPlan.Resource.FAST_REGION, i);
        }
        try (ClientFixture fixture = fixture(faults, builder -> builder)) {
            answerAll(fixture);
            CallMessage first = withTarget(fixture);
            CallMessage second = fixture.nullCall().build();
            PendingReply one = fixture.client.send(first);
            PendingReply two = fixture.client.send(second);
            fixture.reply(one);
            fixture.reply(two);
            assertThat(fixture.responder.messages().stream().map(RawMessage::xid))
                    .containsExactly(first.xid(), second.xid());
            assertThat(fixture.counter(ClientCounter.REGIONS_EXHAUSTED)).isPositive();
        }
    }

    @Test
    void aCallThatIsCancelledWhileItWaitsForRegionsLetsTheNextOneGo() {
        ScriptedFaults faults = new ScriptedFaults();
        for (int i = 1; i <= 100; i++) {
            faults.refuse(FaultPlan.Resource.FAST_REGION, i);
        }
        try (ClientFixture fixture = fixture(faults, builder -> builder)) {
            answerAll(fixture);
            PendingReply waits = fixture.client.send(withTarget(fixture));
            PendingReply next = fixture.client.send(fixture.nullCall().build());
            fixture.rig.await("a region is missed", () -> fixture.counter(ClientCounter.REGIONS_EXHAUSTED) > 0);
            waits.cancel(false);
            assertThat(waits.isCancelled()).isTrue();
            PendingReply further = fixture.client.send(fixture.nullCall().build());
            fixture.reply(next);
            fixture.reply(further);
        }
    }

    @Test
    void aRegistrationThatFailsFailsItsCallAndNothingIsSent() {
        for (int i = 1; i <= 3; i++) {
            try (ClientFixture fixture =
                    fixture(new ScriptedFaults().refuse(FaultPlan.Resource.MAP, i), builder -> builder)) {
                answerAll(fixture);
                PendingReply pending = fixture.client.send(fixture.nullCall()
                        .item(arena.allocate(6000))
                        .target(arena.allocate(6000))
                        .maxReplyBytes(6000)
                        .build());
                TransportException failure = fixture.failure(pending);
                assertThat(failure.kind()).isEqualTo(Kind.REGISTRATION_FAILED);
                assertThat(failure.undecided()).isFalse();
                assertThat(fixture.counter(ClientCounter.REGISTRATIONS)).isZero();
                fixture.reply(fixture.client.send(fixture.nullCall().build()));
                assertThat(fixture.responder.messageCount()).isEqualTo(1);
            }
        }
    }

    /** Of the first chain of two registrations and a Send, so many are taken. */
    private static final class PartialPost implements FaultPlan {
        private static final int CHAIN = 3;
        private final int accepted;
        private boolean isOver;

        PartialPost(int accepted) {
            this.accepted = accepted;
        }

        @Override
        public int acceptedOfChain(int length) {
            if (length != CHAIN || isOver) {
                return length;
            }
            isOver = true;
            return accepted;
        }
    }

    @Test
    void aChainThatIsTakenInPartEndsTheConnectionAndTheCallIsSentAgain() {
        for (int accepted = 0; accepted < 3; accepted++) {
            try (ClientFixture fixture = fixture(new PartialPost(accepted), builder -> builder)) {
                answerAll(fixture);
                fixture.reply(fixture.client.send(fixture.nullCall()
                        .item(arena.allocate(6000))
                        .target(arena.allocate(6000))
                        .build()));
                assertThat(fixture.counter(ClientCounter.DISCONNECTS)).isEqualTo(1);
                assertThat(fixture.counter(ClientCounter.POST_ERRORS)).isEqualTo(1);
                assertThat(fixture.responder.messageCount()).isEqualTo(1);
            }
        }
    }

    /** The first local invalidation goes wrong in one of two ways. */
    private static final class BadInvalidation implements FaultPlan {
        private final boolean isLost;
        private int invalidations;

        BadInvalidation(boolean isLost) {
            this.isLost = isLost;
        }

        private boolean isFirst(WorkCompletion.Operation operation) {
            return operation == WorkCompletion.Operation.LOCAL_INVALIDATE && ++invalidations == 1;
        }

        @Override
        public @Nullable WorkFailure failureOf(WorkCompletion.Operation operation) {
            return !isLost && isFirst(operation)
                    ? new WorkFailure(WorkCompletion.Status.LOCAL_QP_OPERATION_ERROR, false)
                    : null;
        }

        @Override
        public boolean losesCompletion(WorkCompletion.Operation operation) {
            return isLost && isFirst(operation);
        }
    }

    @Test
    void anInvalidationThatFailsEndsTheConnectionBeforeItsCallEnds() {
        try (ClientFixture fixture = fixture(new BadInvalidation(false), builder -> builder)) {
            answerAll(fixture);
            long[] disconnects = {-1};
            PendingReply pending = fixture.client.send(withTarget(fixture));
            var told = pending.thenRun(() -> disconnects[0] = fixture.counter(ClientCounter.DISCONNECTS));
            fixture.rig.await("the call ends", told::isDone);
            assertThat(disconnects[0]).isEqualTo(1);
            assertThat(fixture.responder.messageCount()).isEqualTo(2);
            assertThat(fixture.counter(ClientCounter.FENCES_BY_DISCONNECT)).isEqualTo(1);
        }
    }

    @Test
    void anInvalidationWithoutCompletionEndsTheConnectionAfterTheGrace() {
        try (ClientFixture fixture = fixture(
                new BadInvalidation(true),
                builder -> builder.fenceGrace(Duration.ofMillis(300)).drainTimeout(Duration.ofMillis(500)))) {
            answerAll(fixture);
            PendingReply pending = fixture.client.send(withTarget(fixture));
            fixture.reply(pending);
            assertThat(Duration.ofNanos(fixture.rig.time().nanoTime()))
                    .isBetween(Duration.ofMillis(800), Duration.ofMillis(1200));
            assertThat(fixture.responder.messageCount()).isEqualTo(2);
            assertThat(fixture.counter(ClientCounter.DISCONNECTS)).isEqualTo(1);
        }
    }

    @Test
    void aCancelledCallWhoseInvalidationFailsEndsAllTheSame() {
        for (boolean isLost : new boolean[] {true, false}) {
            try (ClientFixture fixture = fixture(new BadInvalidation(isLost), builder -> builder)) {
                PendingReply pending = fixture.client.send(withTarget(fixture));
                fixture.call(1);
                pending.cancel(false);
                fixture.rig.await("the call ends", pending::isDone);
                assertThat(pending.isCancelled()).isTrue();
                answerAll(fixture);
                fixture.reply(fixture.client.send(fixture.nullCall().build()));
            }
        }
    }

    @Test
    void manyFailuresAreOneDisconnect() {
        FaultPlan faults = new FaultPlan() {
            private int sends;

            @Override
            public @Nullable WorkFailure failureOf(WorkCompletion.Operation operation) {
                return operation == WorkCompletion.Operation.SEND && ++sends == 3
                        ? new WorkFailure(WorkCompletion.Status.GENERAL_ERROR, false)
                        : null;
            }
        };
        try (ClientFixture fixture = fixture(faults, builder -> builder)) {
            answerAll(fixture);
            fixture.reply(fixture.client.send(withTarget(fixture)));
            List<PendingReply> pending = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                pending.add(fixture.client.send(withTarget(fixture)));
            }
            pending.forEach(fixture::reply);
            assertThat(fixture.counter(ClientCounter.DISCONNECTS)).isEqualTo(1);
            assertThat(fixture.counter(ClientCounter.CONNECTS)).isEqualTo(2);
        }
    }

    @Test
    void memoryIsOpenOnlyFromSendToEnd() {
        try (ClientFixture fixture = fixture(FaultPlan.none(), builder -> builder)) {
            MemorySegment target = arena.allocate(5000);
            PendingReply pending =
                    fixture.client.send(fixture.nullCall().target(target).build());
            RawMessage call = fixture.call(1);
            assertThat(fixture.counter(ClientCounter.REGISTRATIONS)).isEqualTo(1);
            answer(fixture.responder.connection(), call);
            fixture.reply(pending);
            assertThat(fixture.counter(ClientCounter.LOCAL_INVALIDATIONS)).isEqualTo(1);
            // Two slabs of message buffers stay, nothing of the caller's.
            assertThat(fixture.rig.clientDevice().ledger().maps()
                            - fixture.rig.clientDevice().ledger().unmaps())
                    .isEqualTo(2);
        }
    }
}
