// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.rpcrdma4j.testkit.sim.ScriptedFaults;
import org.rpcrdma4j.testkit.sim.SimulationOptions;
import org.rpcrdma4j.transport.connection.DisconnectCause;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.Rig;
import org.rpcrdma4j.transport.raw.SimulatedRig;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.cm.ConnectOptions;

/** The end of a connection gives everything back, at whatever moment it comes, and no call waits longer than its time limit. */
class ReleaseTest {

    private static final int CALLS = 4;

    /** F3, F8, F23, I8: for every step of a run. Closing the scene checks that the device has no region and no lease left. */
    @Test
    void aConnectionThatIsLostAtAnyStepShutsEveryCallAndGivesEverythingBack() {
        long steps = stepsOfARun();
        assertThat(steps).isGreaterThan(50);
        for (long step = 1; step <= steps; step++) {
            ScriptedFaults faults = new ScriptedFaults().loseConnectionAtStep(step);
            SimulatedRig rig = new SimulatedRig(
                    1, SimulationOptions.DEFAULT.withFaults(faults), SimulationOptions.DEFAULT.withFaults(faults));
            Caller caller = Caller.open(rig, Scene.PAGES_PER_REGION);
            connect(caller);
            List<TestCall> calls = new ArrayList<>();
            if (caller.isEstablished) {
                calls.addAll(sendCalls(caller));
                rig.await("all calls of step " + step, () -> calls.stream().allMatch(TestCall::isOver));
            }
            caller.close();
            assertThat(calls).allMatch(call -> call.fencedCount + call.lostCount == 1);
            caller.calls.forEach(TestCall::checkUnchanged);
            assertThat(caller.disconnects).isLessThanOrEqualTo(1);
            rig.close();
        }
    }

    private static long stepsOfARun() {
        SimulatedRig rig = new SimulatedRig(1, SimulationOptions.DEFAULT, SimulationOptions.DEFAULT);
        Caller caller = Caller.open(rig, Scene.PAGES_PER_REGION);
        connect(caller);
        List<TestCall> calls = sendCalls(caller);
        rig.await("calls", () -> calls.stream().allMatch(TestCall::isOver));
        assertThat(calls).allMatch(call -> call.fencedCount == 1);
        long steps = rig.network().steps();
        caller.close();
        rig.close();
        return steps;
    }

    @ParameterizedTest
    @EnumSource
    void whatWasOpenWhenTheConnectionEndedIsCounted(Network network) {
        try (Scene scene = new Scene(network).connected()) {
            TestCall call = scene.send(1, 3);
            scene.awaitMessage(0);
            scene.caller.peer().breakOff();
            scene.await("end of the call", call::isOver);
            assertThat(scene.caller.count(ClientCounter.REGIONS_RECLAIMED)).isEqualTo(3);
            assertThat(scene.caller.count(ClientCounter.REGIONS_RECOVERED)).isZero();
        }
    }

    /** The same on the real device: the peer breaks off at each post and each completion of the caller's side. */
    @Test
    void aRealConnectionThatIsLostAtAnyEventShutsEveryCallAndGivesEverythingBack() {
        SwitchedFaults faults = new SwitchedFaults();
        try (Rig rig = Scene.openRig(Network.IWARP, faults)) {
            int lost = 0;
            boolean wasReached = true;
            for (int event = 1; wasReached; event++) {
                Caller caller = Caller.open(rig, Scene.PAGES_PER_REGION).connected(CALLS * 3);
                faults.atEvent(
                        event, () -> rig.worker().execute(() -> caller.peer().breakOff()));
                List<TestCall> calls = sendCalls(caller);
                caller.await("calls, event " + event, () -> calls.stream().allMatch(TestCall::isOver));
                caller.close();
                wasReached = faults.hasReachedEvent();
                assertThat(calls).isNotEmpty().allMatch(call -> call.fencedCount + call.lostCount == 1);
                lost += calls.stream().mapToInt(call -> call.lostCount).sum();
                caller.calls.forEach(TestCall::checkUnchanged);
                assertThat(caller.disconnects).isEqualTo(1);
                assertThat(rig.clientDevice().ledger().isBalanced()).isTrue();
            }
            assertThat(lost).as("calls that the end has shut").isPositive();
        }
    }

    private static void connect(Caller caller) {
        caller.monitor.run(() -> {
            caller.endpoint.ensureReceives(8);
            caller.endpoint.connect(caller.server.address(), ConnectOptions.DEFAULT);
        });
        caller.rig.await("an outcome", () -> caller.isEstablished || caller.isClosed);
    }

    private static List<TestCall> sendCalls(Caller caller) {
        caller.server.onMessage((connection, message) -> {
            Scene.segments(message, PeerAccess.WRITE)
                    .forEach(segment -> connection.write(segment, Scene.pattern(segment.length())));
            connection.send(Scene.xidOf(message));
        });
        List<TestCall> calls = new ArrayList<>();
        for (int xid = 1; xid <= CALLS; xid++) {
            TestCall call = caller.newCall(xid);
            call.send(List.of(), List.of(Arena.ofAuto().allocate(3L * Scene.PAGE, Scene.PAGE)));
            if (call.sent || call.list.isWaiting()) {
                calls.add(call);
            }
        }
        calls.removeIf(call -> !call.sent && caller.disconnects > 0);
        return calls;
    }

    private static Stream<Arguments> lostCompletions() {
        return Stream.of(Network.values())
                .flatMap(network -> IntStream.rangeClosed(1, 3).mapToObj(lost -> Arguments.of(network, lost)));
    }

    /** F3: nobody waits for it without end, and no thread waits for it at all. */
    @ParameterizedTest
    @MethodSource("lostCompletions")
    void aCompletionThatNeverComesIsNotWaitedForOnceTheConnectionIsEnded(Network network, int lost) {
        try (Scene scene = new Scene(network).connected()) {
            for (int i = 0; i < lost; i++) {
                scene.faults.loseNextCompletion(WorkCompletion.Operation.LOCAL_INVALIDATE);
            }
            TestCall call = scene.send(1, 3);
            scene.awaitMessage(0);
            call.giveUp();
            scene.rig.settle();
            assertThat(call.isOver()).isFalse();
            scene.caller.monitor.run(() -> scene.caller.endpoint.abort(DisconnectCause.FENCE, "grace is over"));
            scene.rig.advance(Duration.ofSeconds(10));
            scene.awaitFence(call);
            assertThat(call.lostCount).isEqualTo(1);
            assertThat(scene.caller.count(ClientCounter.FENCES_BY_DISCONNECT)).isEqualTo(1);
        }
    }

    /** F23: regions are of one connection; the next begins with its own. */
    @ParameterizedTest
    @EnumSource(Network.class)
    void nothingOfOneConnectionIsMetOnTheNext(Network network) {
        Rig rig = network.open();
        for (int connection = 1; connection <= 3; connection++) {
            Caller caller = Caller.open(rig, Scene.PAGES_PER_REGION).connected(8);
            List<TestCall> calls = sendCalls(caller);
            caller.peer().breakOff();
            caller.await("calls", () -> calls.stream().allMatch(TestCall::isOver));
            caller.close();
            assertThat(rig.clientDevice().ledger().regions()).isZero();
            assertThat(rig.clientDevice().ledger().isBalanced()).isTrue();
        }
        rig.close();
    }

    /** F24: a reply that comes while the connection ends posts nothing; the simulation complains about posts after the drain. */
    @ParameterizedTest
    @EnumSource(Network.class)
    void aReplyThatComesDuringTheDrainPostsNothing(Network network) {
        try (Scene scene = new Scene(network).connected()) {
            Caller caller = scene.caller;
            caller.endsCallsWhenDisconnected = false;
            TestCall call = scene.send(1, 2);
            scene.awaitMessage(0);
            int posted = caller.posted.size();
            caller.monitor.run(() -> {
                caller.peer().send(Scene.xidOf(caller.peer().message(0)));
                caller.endpoint.disconnect(DisconnectCause.LOCAL_CLOSE, "test");
            });
            scene.await("reply or end", () -> call.replied || caller.isClosed);
            caller.awaitClosed();
            assertThat(caller.posted).hasSize(posted);
            assertThat(call.isOver()).isEqualTo(call.replied);
        }
    }

    /** F16, I9: more work than the queue has places, in all; never more at a time. */
    @ParameterizedTest
    @EnumSource(Network.class)
    void theSendQueueAsPlannedIsNeverFull(Network network) {
        try (Scene scene = network == Network.SIMULATION
                ? new Scene(5, options -> options.withLimits(16, 1, 70, 8192))
                : Scene.ofFewRequests(network, 4)) {
            Caller caller = scene.caller.connected(8);
            scene.peerWritesAndAnswers();
            assertThat(caller.plan.requests()).isEqualTo(4);
            List<RegionList> lists = new ArrayList<>();
            for (int i = 0; i < caller.plan.requests(); i++) {
                lists.add(caller.newCall(0).list);
            }
            TestCall[] running = new TestCall[lists.size()];
            for (int xid = 1; xid <= 200; xid++) {
                int slot = xid % lists.size();
                if (running[slot] != null) {
                    scene.awaitFence(running[slot]);
                }
                running[slot] = caller.newCallOn(lists.get(slot), xid)
                        .send(scene.memoryOf(2), scene.memoryOf(caller.plan.maxSegments() - 2));
            }
            assertThat(caller.count(ClientCounter.POST_ERRORS)).isZero();
            assertThat(caller.refusals).isZero();
        }
    }
}
