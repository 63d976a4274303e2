// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rpcrdma4j.transport.raw.ClientUnderTest.CREDITS;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.testkit.sim.FaultPlan;
import org.rpcrdma4j.testkit.sim.ScriptedFaults;
import org.rpcrdma4j.testkit.sim.SimulationOptions;
import org.rpcrdma4j.transport.client.TransportException.Kind;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.WorkCompletion.Operation;
import org.rpcrdma4j.verbs.WorkCompletion.Status;

/** RFC 8166, Section 4.5.4, and registration: the client's own device fails in the middle of a call. On the simulation. */
class ClientFaultsTest {

    private static final int PIECES = 6;

    /** A client on a device that fails as told, a raw server that answers all, and memory in pieces that need a region each. */
    private static final class Case implements AutoCloseable {
        final ScriptedFaults faults = new ScriptedFaults();
        final SimulatedRig rig;
        final RawResponder responder;
        final ClientUnderTest client;
        final Arena arena = Arena.ofShared();
        final MemorySegment memory = arena.allocate(2L * PIECES * 16_384, 4096);

        Case() {
            SimulationOptions options = SimulationOptions.DEFAULT
                    .withFastRegistration(20, false, true)
                    .withFaults(faults);
            rig = new SimulatedRig(1, options, SimulationOptions.DEFAULT).withoutLedgerCheck();
            responder = new RawResponder(rig).privateData(ClientUnderTest.SERVER_DATA);
            answerAll();
            client = ClientUnderTest.start(
                    rig, responder, builder -> builder.reconnectDelay(Duration.ofMillis(1), Duration.ofMillis(8)));
            client.works();
        }

        void answerAll() {
            responder.onMessage((connection, call) -> connection.send(RawReplies.withoutResults(call, CREDITS)));
        }

        /** Pieces with holes between them, so that each takes a region of its own. */
        MemorySegment[] pieces(int first) {
            MemorySegment[] pieces = new MemorySegment[PIECES];
            for (int i = 0; i < PIECES; i++) {
                pieces[i] = memory.asSlice((first + i) * 16_384L + 100, 3000);
            }
            return pieces;
        }

        /** A call with Read chunk, Write chunk and Reply chunk. */
        ClientUnderTest.Call bigCall() {
            return client.send(ClientUnderTest.message(
                    Toy.call(client.newXid(), Toy.STORE).u32(1, 1, PIECES * 3000),
                    builder -> builder.item(pieces(0))
                            .target(pieces(PIECES))
                            .maxReplyBytes(20_000)
                            .timeout(Duration.ofSeconds(20))));
        }

        /** The call ended well, or with an error that tells of the device; so do a few more; then all go well. */
        void checkAfter(ClientUnderTest.Call call) {
            checkEnd(call);
            for (int i = 0; i < 4; i++) {
                checkEnd(bigCall());
            }
            for (int i = 0; i < 4; i++) {
                client.awaitSuccess(bigCall());
            }
            checkHandles();
            client.finishLosingRegions();
        }

        private void checkEnd(ClientUnderTest.Call call) {
            client.await(call);
            if (!call.isSuccess()) {
                assertThat(call.kind())
                        .as("%s%n%s", call, rig.describe())
                        .isIn(Kind.REGISTRATION_FAILED, Kind.CONNECTION_LOST, Kind.TIMED_OUT);
            }
        }

        /** No message ever named a key that is not one. */
        void checkHandles() {
            for (RawMessage message : responder.messages()) {
                message.readList()
                        .forEach(entry -> assertThat(entry.segment().handle()).isNotIn(0, -1));
                message.writeList()
                        .forEach(chunk -> chunk.forEach(
                                segment -> assertThat(segment.handle()).isNotIn(0, -1)));
            }
        }

        @Override
        public void close() {
            client.close();
            responder.close();
            rig.close();
            arena.close();
        }
    }

    @Test
    void aMappingThatFailsAnywhereInACallIsRolledBack() {
        for (int n = 1; n <= 2 * PIECES + 2; n++) {
            try (Case each = new Case()) {
                each.faults.refuse(FaultPlan.Resource.MAP, n);
                int before = each.responder.messageCount();
                ClientUnderTest.Call call = each.bigCall();
                each.client.await(call);
                if (call.kind() == Kind.REGISTRATION_FAILED) {
                    assertThat(each.responder.messageCount())
                            .as("nothing was sent")
                            .isEqualTo(before);
                }
                each.checkAfter(call);
            }
        }
    }

    @Test
    void regionsThatCannotBeMadeAreWaitedForOrTheCallFails() {
        for (int n = 1; n <= 8; n++) {
            try (Case each = new Case()) {
                for (int i = 0; i < n; i++) {
                    each.faults.refuse(FaultPlan.Resource.FAST_REGION, 1 + 2 * i);
                }
                each.checkAfter(each.bigCall());
            }
        }
    }

    @Test
    void aPostThatIsRefusedAnywhereInTheChainLeavesNothingHalfDone() {
        for (PostResult.Reason reason : List.of(PostResult.Reason.QUEUE_FULL, PostResult.Reason.NO_RESOURCES)) {
            for (int post = 1; post <= 3; post++) {
                for (int accepted = 0; accepted <= 2 * PIECES + 2; accepted += 3) {
                    try (Case each = new Case()) {
                        each.faults.refusePost(each.faults.posts() + post, accepted, reason);
                        each.checkAfter(each.bigCall());
                    }
                }
            }
        }
    }

    /** The connection is closed before the call ends, since the memory could not be shut otherwise. */
    @Test
    void anInvalidationThatFailsClosesTheConnectionBeforeTheCallEnds() {
        for (boolean effective : new boolean[] {false, true}) {
            for (int n = 1; n <= 2 * PIECES; n += 2) {
                try (Case each = new Case()) {
                    each.faults.fail(
                            Operation.LOCAL_INVALIDATE, n, new FaultPlan.WorkFailure(Status.GENERAL_ERROR, effective));
                    ClientUnderTest.Call call = each.bigCall();
                    AtomicLong flushesAtEnd = new AtomicLong(-1);
                    call.onEnd(() ->
                            flushesAtEnd.set(each.rig.clientDevice().counters().getOrDefault("flushes", 0L)));
                    each.client.await(call);
                    assertThat(flushesAtEnd.get()).as("closed before the end").isPositive();
                    each.checkAfter(call);
                }
            }
        }
    }

    @Test
    void arbitraryRequestsThatFailEndOnlyTheirConnection() {
        for (Operation operation : List.of(Operation.SEND, Operation.REGISTER, Operation.RECEIVE)) {
            for (boolean effective : new boolean[] {false, true}) {
                for (int n = 1; n <= 4; n++) {
                    try (Case each = new Case()) {
                        each.faults.fail(
                                operation,
                                n + 1,
                                new FaultPlan.WorkFailure(Status.LOCAL_QP_OPERATION_ERROR, effective));
                        each.checkAfter(each.bigCall());
                    }
                }
            }
        }
    }

    /** A completion that never comes: the fence's grace ends the connection, and the connection's end does not wait for ever. */
    @Test
    void aCompletionThatIsLostHoldsUpNoCallForEver() {
        for (Operation operation : List.of(Operation.SEND, Operation.LOCAL_INVALIDATE, Operation.RECEIVE)) {
            for (int n = 1; n <= 4; n++) {
                try (Case each = new Case()) {
                    each.faults.loseCompletion(operation, n + 1);
                    each.checkAfter(each.bigCall());
                }
            }
        }
    }

    @Test
    void aRegistrationThatComesBackAsFlushedWhenTheReplyIsThereIsNotTrusted() {
        for (FaultPlan.Forgetting forgetting : FaultPlan.Forgetting.values()) {
            try (Case each = new Case()) {
                each.faults
                        .forget(forgetting)
                        .delayFlushes(Duration.ofMillis(300).toNanos())
                        .delayCompletion(
                                Operation.SEND, 2, Duration.ofSeconds(1).toNanos());
                List<Integer> turn = new ArrayList<>();
                each.responder.onMessage((connection, call) -> {
                    turn.add(1);
                    connection.send(RawReplies.withoutResults(call, CREDITS));
                    if (turn.size() == 1) {
                        connection.breakOff();
                    }
                });
                each.checkAfter(each.bigCall());
            }
        }
    }

    /** Deregistrations that fail at the end of a connection lose a region, and nothing else. */
    @Test
    void aDeregistrationThatFailsLosesItsRegionAndNothingElse() {
        for (int n = 1; n <= 12; n++) {
            try (Case each = new Case()) {
                each.client.awaitSuccess(each.bigCall());
                each.faults.failDeregistration(each.faults.deregistrations() + n);
                each.responder.connection().breakOff();
                each.checkAfter(each.bigCall());
            }
        }
    }

    /** A key comes again only after 256 uses of its region, and never with the offset that it had. */
    @ParameterizedTest
    @EnumSource
    void whatOneCallWasOfferedOpensNothingOfAnother(Network network) {
        try (Rig rig = network.open();
                Arena arena = Arena.ofShared();
                RawResponder responder = new RawResponder(rig).privateData(ClientUnderTest.SERVER_DATA);
                ClientUnderTest client = ClientUnderTest.start(rig, responder)) {
            responder.onMessage((connection, call) -> connection.send(RawReplies.withoutResults(call, CREDITS)));
            MemorySegment target = arena.allocate(5000, 4096);
            List<Segment> segments = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                ClientUnderTest.Call call = client.send(ClientUnderTest.message(
                        Toy.call(client.newXid(), Toy.FETCH),
                        builder -> builder.target(target).maxReplyBytes(100)));
                client.awaitSuccess(call);
                segments.add(responder
                        .connection()
                        .messages()
                        .getLast()
                        .writeList()
                        .getFirst()
                        .getFirst());
            }
            for (int i = 0; i + 256 <= segments.size(); i++) {
                assertThat(segments.subList(i, i + 256).stream()
                                .map(Segment::handle)
                                .distinct()
                                .count())
                        .as("handles from call %d on", i)
                        .isEqualTo(256);
            }
            for (int i = 1; i < segments.size(); i++) {
                assertThat(Math.abs(
                                segments.get(i).offset() - segments.get(i - 1).offset()))
                        .as("offsets of two calls do not overlap")
                        .isGreaterThanOrEqualTo(5000);
            }
            assertThat(segments.stream().map(Segment::offset).distinct().count())
                    .isEqualTo(500);
            assertThat(client.count(ClientCounter.CALLS_FAILED)).isZero();
            client.finish();
        }
    }
}
