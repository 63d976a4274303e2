// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.testkit.sim.ScriptedFaults;
import org.rpcrdma4j.testkit.sim.SimulationOptions;
import org.rpcrdma4j.transport.connection.DisconnectCause;
import org.rpcrdma4j.transport.event.ClientCounter;
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
        Scene scene = Scene.of();
        connect(scene.caller);
        List<TestCall> calls = sendCalls(scene.caller);
        scene.rig.await("calls", () -> calls.stream().allMatch(TestCall::isOver));
        assertThat(calls).allMatch(call -> call.fencedCount == 1);
        long steps = scene.rig.network().steps();
        scene.close();
        return steps;
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

    /** F3: nobody waits for it without end, and no thread waits for it at all. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void aCompletionThatNeverComesIsNotWaitedForOnceTheConnectionIsEnded(int lost) {
        try (Scene scene = Scene.of().connected()) {
            for (int i = 0; i < lost; i++) {
                scene.faults.loseNextCompletion(WorkCompletion.Operation.LOCAL_INVALIDATE);
            }
            TestCall call = scene.send(1, 3);
            scene.awaitMessage(0);
            call.giveUp();
            scene.rig.settle();
            assertThat(call.isOver()).isFalse();
            scene.caller.monitor.run(() -> scene.caller.endpoint.abort(DisconnectCause.FENCE, "grace is over"));
            scene.awaitFence(call);
            assertThat(call.lostCount).isEqualTo(1);
            assertThat(scene.caller.count(ClientCounter.FENCES_BY_DISCONNECT)).isEqualTo(1);
        }
    }

    /** F23: regions are of one connection; the next begins with its own. */
    @Test
    void nothingOfOneConnectionIsMetOnTheNext() {
        SimulatedRig rig = new SimulatedRig(1, SimulationOptions.DEFAULT, SimulationOptions.DEFAULT);
        for (int connection = 1; connection <= 3; connection++) {
            Caller caller = Caller.open(rig, Scene.PAGES_PER_REGION).connected(8);
            List<TestCall> calls = sendCalls(caller);
            caller.peer().breakOff();
            rig.await("calls", () -> calls.stream().allMatch(TestCall::isOver));
            caller.close();
            assertThat(rig.clientDevice().ledger().regions()).isZero();
            assertThat(rig.clientDevice().ledger().isBalanced()).isTrue();
        }
        rig.close();
    }

    /** F24: a reply that comes while the connection ends posts nothing; the simulation complains about posts after the drain. */
    @Test
    void aReplyThatComesDuringTheDrainPostsNothing() {
        try (Scene scene = Scene.of().connected()) {
            Caller caller = scene.caller;
            caller.endsCallsWhenDisconnected = false;
            TestCall call = scene.send(1, 2);
            scene.awaitMessage(0);
            int posted = caller.posted.size();
            caller.peer().send(Scene.xidOf(caller.peer().message(0)));
            caller.monitor.run(() -> caller.endpoint.disconnect(DisconnectCause.LOCAL_CLOSE, "test"));
            scene.rig.await("reply or end", () -> call.replied || caller.isClosed);
            caller.awaitClosed();
            assertThat(caller.posted).hasSize(posted);
            assertThat(call.isOver()).isEqualTo(call.replied);
        }
    }

    /** F16, I9: more work than the queue has places, in all; never more at a time. */
    @Test
    void theSendQueueAsPlannedIsNeverFull() {
        try (Scene scene = new Scene(5, options -> options.withLimits(16, 1, 70, 8192))) {
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
