// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.testkit.sim.FaultPlan;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.Segment;
import org.rpcrdma4j.verbs.PostResult.Reason;
import org.rpcrdma4j.verbs.WorkCompletion;

/** What work requests cannot shut is deregistered off the path of calls, and what cannot be deregistered is kept. */
@ParameterizedClass
@EnumSource(Network.class)
class RecoveryTest {

    private final Scene scene;
    private final Caller caller;

    RecoveryTest(Network network) {
        scene = new Scene(network).connected();
        caller = scene.caller;
    }

    @AfterEach
    void giveBack() {
        scene.close();
    }

    private TestCall callToRecover(int regions) {
        TestCall call = scene.send(1, regions);
        scene.awaitMessage(0);
        scene.faults.cutNextPost(regions, 0, Reason.NO_RESOURCES);
        return call;
    }

    @Test
    void recoveryWaitsForNobodyAndNobodyWaitsInTheCall() {
        TestCall call = callToRecover(3);
        call.giveUp();
        if (scene.rig.isSimulated()) {
            assertThat(call.isOver()).as("deregistered on the worker only").isFalse();
            assertThat(call.told).allMatch(told -> told.owner().custody() == Custody.RECOVERY);
        }
        scene.awaitFence(call);
        assertThat(call.fencedCount).isEqualTo(1);
        assertThat(caller.count(ClientCounter.REGIONS_RECOVERED)).isEqualTo(3);
    }

    @Test
    void aRecoveredRegionHasAHandleThatNobodyKnows() {
        TestCall call = callToRecover(2);
        Segment old = call.segment(0);
        call.giveUp();
        scene.awaitFence(call);
        TestCall.Told told = call.told.getFirst();
        assertThat(told.owner().device()).isNotSameAs(told.region());
        assertThat(told.owner().device().remoteKey() >>> 8).isNotEqualTo(old.handle() >>> 8);
        caller.peer().write(old, Scene.pattern(16));
        scene.await("the connection's end", () -> caller.disconnects > 0);
        call.checkUnchanged();
    }

    /** F4, F5: a region without a new handle is nowhere, and its call is shut all the same. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void aRegionThatGetsNoNewHandleIsForgotten(int failures) {
        int before = caller.pool.existing();
        TestCall call = callToRecover(3);
        scene.faults.refuseNext(FaultPlan.Resource.FAST_REGION, failures);
        call.giveUp();
        scene.awaitFence(call);
        assertThat(call.fencedCount).isEqualTo(1);
        assertThat(caller.pool.existing()).isEqualTo(before - failures);
        assertThat(caller.count(ClientCounter.REGIONS_RECOVERED)).isEqualTo(3 - failures);
        assertThat(caller.count(ClientCounter.REGIONS_ORPHANED)).isZero();
        assertThat(scene.rig.clientDevice().ledger().regions()).isEqualTo(before - failures + 2L);
        scene.peerWritesAndAnswers();
        for (int xid = 2; xid < 40; xid++) {
            scene.awaitFence(scene.send(xid, 3));
        }
        assertThat(caller.disconnects).isZero();
    }

    /** F6. */
    @Test
    void anOrphanIsCountedOnceAndItsFenceWaitsForTheQueuePair() {
        TestCall call = callToRecover(3);
        scene.faults.failDeregistrations(1);
        boolean[] wasQueuePairClosed = new boolean[1];
        call.whenOver = () -> wasQueuePairClosed[0] = caller.isQueuePairClosed;
        call.giveUp();
        scene.awaitFence(call);
        assertThat(call.lostCount).isEqualTo(1);
        assertThat(wasQueuePairClosed[0]).isTrue();
        assertThat(caller.endpoint.isConnected()).isFalse();
        assertThat(caller.count(ClientCounter.REGIONS_ORPHANED)).isEqualTo(1);
    }

    /** F6, F5: the device does not take it back even at the end. */
    @Test
    void aRegionThatIsNeverTakenBackIsCountedOnceAndEverythingElseIsGivenBack() {
        scene.rig.withoutLedgerCheck();
        TestCall call = callToRecover(1);
        scene.faults.failDeregistrations(1);
        caller.whenDisconnecting = () -> scene.faults.failDeregistrations(1);
        call.giveUp();
        scene.awaitFence(call);
        caller.awaitClosed();
        assertThat(call.lostCount).isEqualTo(1);
        assertThat(caller.count(ClientCounter.REGIONS_ORPHANED)).isEqualTo(1);
        assertThat(scene.rig.clientDevice().ledger().regions()).isEqualTo(1);
    }

    /** F12: works with a queue pair that is dead, and does not wait for its end. */
    @Test
    void aCallThatIsGivenUpOnADeadConnectionIsShutBeforeTheConnectionHasEnded() {
        caller.endsCallsWhenDisconnected = false;
        scene.faults.loseNextCompletion(WorkCompletion.Operation.SEND);
        TestCall call = scene.send(1, 3);
        scene.awaitMessage(0);
        caller.peer().breakOff();
        scene.await("ending", () -> caller.disconnects > 0);
        int existing = caller.pool.existing();
        boolean[] wasReleased = new boolean[1];
        call.whenOver = () -> wasReleased[0] = caller.isReleased;
        call.giveUp();
        scene.awaitFence(call);
        assertThat(call.fencedCount).isEqualTo(1);
        assertThat(wasReleased[0]).as("the drain is still waiting").isFalse();
        // F31: no new handles on a connection that is ending.
        assertThat(caller.pool.existing()).isEqualTo(existing - 3);
        assertThat(caller.count(ClientCounter.REGIONS_RECOVERED)).isZero();
        caller.awaitClosed();
    }

    /** F10, F25: each flushed work request is told, the connection is ended once. */
    @Test
    void manyFailuresEndTheConnectionOnce() {
        TestCall first = scene.send(1, 4);
        TestCall second = scene.send(2, 4);
        scene.faults.failNext(WorkCompletion.Operation.LOCAL_INVALIDATE);
        scene.faults.forget(FaultPlan.Forgetting.ALL);
        caller.monitor.run(() -> {
            first.giveUp();
            second.giveUp();
        });
        scene.awaitFence(first);
        scene.awaitFence(second);
        caller.awaitClosed();
        if (scene.rig.isSimulated()) {
            assertThat(caller.fails).isGreaterThan(1);
        }
        assertThat(caller.disconnects).isEqualTo(1);
        assertThat(first.fencedCount + first.lostCount).isEqualTo(1);
    }

    @Test
    void aRegistrationThatFailsMakesItsRegionStaleAndEndsTheConnection() {
        scene.faults.failNext(WorkCompletion.Operation.REGISTER);
        TestCall call = scene.send(1, 2);
        scene.awaitFence(call);
        assertThat(call.lostCount).isEqualTo(1);
        assertThat(caller.disconnects).isEqualTo(1);
        caller.awaitClosed();
        assertThat(caller.pool.existing()).isZero();
    }
}
