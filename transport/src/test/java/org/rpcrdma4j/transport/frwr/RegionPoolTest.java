// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.testkit.sim.FaultPlan;
import org.rpcrdma4j.transport.connection.DisconnectCause;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.raw.Network;

/** Regions on demand: created in batches, waited for in a row, woken in turn. F14, F31. */
@ParameterizedClass
@EnumSource(Network.class)
class RegionPoolTest {

    private final Network network;
    private Scene scene;

    RegionPoolTest(Network network) {
        this.network = network;
        scene = new Scene(network);
    }

    @AfterEach
    void giveBack() {
        scene.close();
    }

    private Caller use(Scene other, int regions) {
        scene.close();
        scene = other;
        return scene.caller.connected(regions);
    }

    @Test
    void aCallThatFindsNoRegionIsWokenAsSoonAsTheyAreCreated() {
        Caller caller = scene.caller.connected(0);
        long begin = scene.nanoTime();
        TestCall call = caller.newCall(1);
        caller.monitor.run(() -> {
            call.send(List.of(), scene.memoryOf(3));
            assertThat(call.result).isInstanceOf(MapResult.NoRegions.class);
            assertThat(caller.pool.waiting()).isEqualTo(1);
        });
        scene.await("sent", () -> call.sent);
        if (scene.rig.isSimulated()) {
            assertThat(scene.nanoTime() - begin).isLessThan(1_000_000);
        }
        assertThat(call.wakes).isEqualTo(1);
        assertThat(caller.count(ClientCounter.REGIONS_EXHAUSTED)).isEqualTo(1);
    }

    @Test
    void regionsAreCreatedInBatches() {
        Caller caller = scene.caller.connected(0);
        caller.newCall(1).send(List.of(), scene.memoryOf(1));
        scene.await("a batch", () -> caller.pool.existing() > 0);
        scene.rig.settle();
        assertThat(caller.pool.existing()).isEqualTo(32);
        assertThat(caller.count(ClientCounter.REGIONS_ALLOCATED)).isEqualTo(32);
    }

    @Test
    void regionsAreNamedOneByOneOnlyIfTheyAreFew() {
        Caller caller = scene.caller.connected(1);
        caller.newCall(1).send(List.of(), scene.memoryOf(1));
        scene.rig.settle();
        assertThat(caller.pool.existing()).isEqualTo(32);
        assertThat(caller.pool.toString()).contains("in use [").hasSizeGreaterThan(100);
        caller.monitor.run(caller.pool::grow);
        scene.await("another batch", () -> caller.pool.existing() > 32);
        assertThat(caller.pool.toString()).contains(" regions of at most ").doesNotContain("in use");
    }

    @Test
    void regionsAreNeverMoreThanTheLimit() {
        Caller caller = use(new Scene(network, 5), 5);
        for (int xid = 1; xid <= 8; xid++) {
            caller.newCall(xid).send(List.of(), scene.memoryOf(1));
        }
        scene.rig.settle();
        assertThat(caller.pool.existing()).isEqualTo(5);
        assertThat(caller.pool.waiting()).isEqualTo(3);
    }

    /** F14: nobody who comes later is served earlier, even if less would do for him. */
    @Test
    void whoWaitsLongestIsServedFirst() {
        Caller caller = use(new Scene(network, 4), 4);
        List<TestCall> holders = new ArrayList<>();
        for (int xid = 1; xid <= 4; xid++) {
            holders.add(caller.newCall(xid).send(List.of(), scene.memoryOf(1)));
        }
        TestCall large = caller.newCall(10).send(List.of(), scene.memoryOf(3));
        TestCall small = caller.newCall(11).send(List.of(), scene.memoryOf(1));
        assertThat(caller.pool.waiting()).isEqualTo(2);
        for (int i = 0; i < 3; i++) {
            assertThat(large.sent).isFalse();
            assertThat(small.sent).isFalse();
            holders.get(i).giveUp();
            scene.awaitFence(holders.get(i));
            assertThat(caller.newCall(20 + i).map(scene.memoryOf(1), PeerAccess.READ))
                    .as("somebody new")
                    .isInstanceOf(MapResult.NoRegions.class);
            scene.rig.settle();
        }
        assertThat(large.sent).isTrue();
        assertThat(small.sent).isFalse();
        holders.get(3).giveUp();
        scene.await("the small one too", () -> small.sent);
    }

    @Test
    void twoCallsThatTogetherNeedMoreThanThereIsDoNotBlockEachOther() {
        Caller caller = use(new Scene(network, 4), 4);
        scene.peerWritesAndAnswers();
        List<TestCall> calls = new ArrayList<>();
        for (int xid = 1; xid <= 8; xid++) {
            calls.add(caller.newCall(xid).send(scene.memoryOf(1), scene.memoryOf(2)));
        }
        calls.forEach(scene::awaitFence);
        assertThat(calls).allMatch(call -> call.fencedCount == 1);
    }

    @Test
    void aCallThatNeedsMoreThanThereMayBeFails() {
        Caller caller = use(new Scene(network, 2), 2);
        assertThat(caller.newCall(1).map(scene.memoryOf(3), PeerAccess.READ))
                .isEqualTo(new MapResult.Failed("needs more than 2 regions, which is all that there may be"));
        caller.checkInvariants();
    }

    /** F14: a device that is short of regions is asked again, ever more rarely, as long as somebody waits. */
    @Test
    void aRefusedCreationIsTriedAgainWithoutHaste() {
        Caller caller = scene.caller.connected(0);
        scene.faults.refuseNext(FaultPlan.Resource.FAST_REGION, 4);
        long begin = scene.nanoTime();
        TestCall call = caller.newCall(1).send(List.of(), scene.memoryOf(1));
        scene.await("sent", () -> call.sent);
        long millis = (scene.nanoTime() - begin) / 1_000_000;
        assertThat(millis).isGreaterThanOrEqualTo(10L + 20 + 40 + 80);
        if (scene.rig.isSimulated()) {
            assertThat(millis).isLessThan(200);
        }
        assertThat(caller.count(ClientCounter.REGION_ALLOCATION_FAILURES)).isEqualTo(4);
    }

    @Test
    void nobodyAsksTheDeviceAgainWhenNobodyWaits() {
        Caller caller = scene.caller.connected(0);
        scene.faults.refuseNext(FaultPlan.Resource.FAST_REGION, 1000);
        TestCall call = caller.newCall(1).send(List.of(), scene.memoryOf(1));
        caller.monitor.run(() -> caller.registrar.cancelWait(call.list));
        assertThat(caller.pool.waiting()).isZero();
        scene.rig.advance(Duration.ofSeconds(60));
        assertThat(caller.count(ClientCounter.REGION_ALLOCATION_FAILURES)).isLessThanOrEqualTo(2);
        assertThat(call.wakes).isZero();
    }

    @Test
    void aPartOfABatchIsUsed() {
        Caller caller = scene.caller.connected(0);
        monitorGrow(caller);
        scene.await("a batch", () -> caller.pool.existing() == 32);
        scene.faults.refuseNext(FaultPlan.Resource.FAST_REGION, 1);
        monitorGrow(caller);
        scene.await("a refusal", () -> caller.count(ClientCounter.REGION_ALLOCATION_FAILURES) == 1);
        scene.rig.settle();
        assertThat(caller.pool.existing()).isEqualTo(32);
        monitorGrow(caller);
        scene.await("all of them", () -> caller.pool.existing() == caller.plan.maxRegions());
    }

    private static void monitorGrow(Caller caller) {
        caller.monitor.run(caller.pool::grow);
    }

    @Test
    void regionsKeptByIdleListsGoToThoseWhoWait() {
        Caller caller = use(new Scene(network, 4), 4);
        scene.peerWritesAndAnswers();
        TestCall first = caller.newCall(1).send(List.of(), scene.memoryOf(4));
        scene.awaitFence(first);
        assertThat(first.list.kept()).isEqualTo(4);
        TestCall second = caller.newCall(2).send(List.of(), scene.memoryOf(4));
        scene.awaitFence(second);
        assertThat(second.fencedCount).isEqualTo(1);
        caller.checkInvariants();
    }

    @Test
    void aListKeepsItsRegionsForItsNextCallUntilItIsIdle() {
        Caller caller = scene.caller.connected(8);
        scene.peerWritesAndAnswers();
        TestCall call = caller.newCall(1).send(List.of(), scene.memoryOf(2));
        scene.awaitFence(call);
        int available = caller.pool.available();
        assertThat(call.list.kept()).isEqualTo(2);
        caller.monitor.run(() -> caller.registrar.idle(call.list));
        assertThat(call.list.kept()).isZero();
        assertThat(caller.pool.available()).isEqualTo(available + 2);
    }

    /** F31. */
    @Test
    void nothingIsCreatedOnceTheEndHasBegun() {
        Caller caller = scene.caller.connected(0);
        long regions = scene.rig.clientDevice().ledger().regions();
        caller.monitor.run(() -> {
            caller.pool.grow();
            caller.endpoint.abort(DisconnectCause.LOCAL_CLOSE, "test");
        });
        caller.awaitClosed();
        scene.rig.settle();
        assertThat(regions).isEqualTo(2);
        assertThat(caller.count(ClientCounter.REGIONS_ALLOCATED)).isZero();
        assertThat(scene.rig.clientDevice().ledger().regions()).isZero();
    }

    /** F31: a task of the worker that is on its way when the connection ends. */
    @Test
    void aListThatWaitsWhenTheConnectionEndsIsNotWoken() {
        Caller caller = scene.caller.connected(0);
        TestCall call = caller.newCall(1);
        caller.monitor.run(() -> {
            call.send(List.of(), scene.memoryOf(1));
            caller.endpoint.abort(DisconnectCause.LOCAL_CLOSE, "test");
        });
        caller.awaitClosed();
        assertThat(call.wakes).isZero();
        assertThat(call.list.isWaiting()).isFalse();
    }
}
