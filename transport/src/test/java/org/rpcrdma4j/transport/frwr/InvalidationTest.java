// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.testkit.sim.FaultPlan;
import org.rpcrdma4j.transport.connection.WorkIds;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.RawMessage;
import org.rpcrdma4j.transport.raw.RawWork;
import org.rpcrdma4j.transport.raw.Segment;
import org.rpcrdma4j.verbs.LocalInvalidateRequest;
import org.rpcrdma4j.verbs.RegisterRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.WorkCompletion;

/** Memory is shut before the call ends: by us, by the peer, once. */
@ParameterizedClass
@EnumSource(Network.class)
class InvalidationTest {

    private final Scene scene;
    private final Caller caller;

    InvalidationTest(Network network) {
        scene = new Scene(network).connected();
        caller = scene.caller;
    }

    @AfterEach
    void giveBack() {
        scene.close();
    }

    private long deviceCount(String counter) {
        return scene.rig.clientDevice().counters().getOrDefault(counter, 0L);
    }

    /** F30 too: what we count is what the device counts. */
    @Test
    void afterAReplyOneChainShutsAllRegions() {
        scene.peerWritesAndAnswers();
        TestCall call = scene.send(1, 3);
        scene.awaitFence(call);
        assertThat(call.fencedCount).isEqualTo(1);
        assertThat(caller.posted).hasSize(2);
        List<? extends SendQueueRequest> chain = caller.posted.get(1).chain();
        assertThat(chain)
                .hasSize(3)
                .allMatch(request -> request instanceof LocalInvalidateRequest && request.signaled());
        assertThat(caller.count(ClientCounter.LOCAL_INVALIDATIONS))
                .isEqualTo(3)
                .isEqualTo(deviceCount("localInvalidations"));
        assertThat(caller.count(ClientCounter.REGISTRATIONS)).isEqualTo(3).isEqualTo(deviceCount("registrations"));
        assertThat(caller.disconnects).isZero();
    }

    /** U81: what the peer is told is the key of this use. */
    @Test
    void thePeerReachesAllOfTheMemoryUnderWhatItWasTold() {
        scene.peerWritesAndAnswers();
        for (int xid = 1; xid <= 5; xid++) {
            TestCall call = scene.send(xid, 3);
            scene.awaitFence(call);
            MemorySegment memory = call.written.getFirst();
            byte[] expected = Scene.pattern((int) memory.byteSize());
            assertThat(memory.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(expected);
        }
    }

    /** R8166-8.1.1-1, U73. */
    @Test
    void aHandleUsedOnAnotherConnectionEndsThatOne() {
        TestCall call = scene.send(1, 1);
        scene.awaitMessage(0);
        Caller other = Caller.open(scene.rig, Scene.PAGES_PER_REGION).connected(1);
        // On iWARP, the side that connects is the first to send.
        other.newCall(2).send(List.of(), List.of());
        other.peer().write(call.segment(0), Scene.pattern(10));
        other.await("the other connection's end", () -> other.disconnects > 0);
        assertThat(caller.disconnects).isZero();
        assertThat(call.written.getFirst().get(ValueLayout.JAVA_BYTE, 0)).isZero();
        caller.peer().write(call.segment(0), Scene.pattern(10));
        caller.peer().send(Scene.xidOf(caller.peer().message(0)));
        scene.awaitFence(call);
        assertThat(call.fencedCount).isEqualTo(1);
        other.close();
    }

    @Test
    void registrationsAreUnsignaledAndInOneChainBeforeTheSend() {
        TestCall call = scene.send(1, 3);
        assertThat(call.chain).hasSize(4);
        for (SendQueueRequest request : call.chain.subList(0, 3)) {
            assertThat(request).isInstanceOf(RegisterRequest.class);
            assertThat(request.signaled()).isFalse();
            assertThat(((RegisterRequest) request).scope()).isEqualTo(RegisterRequest.Scope.QUEUE_PAIR);
        }
        assertThat(call.chain.getLast().signaled()).isTrue();
    }

    @Test
    void whatThePeerHasInvalidatedTakesNoWorkRequest() {
        caller.server.onMessage((connection, message) -> connection.sendInvalidating(
                Scene.segments(message, PeerAccess.WRITE).get(1).handle(), Scene.xidOf(message)));
        TestCall call = scene.send(1, 3);
        scene.awaitFence(call);
        assertThat(call.fencedCount).isEqualTo(1);
        assertThat(caller.posted.get(1).chain()).hasSize(2);
        assertThat(caller.count(ClientCounter.LOCAL_INVALIDATIONS)).isEqualTo(2);
        assertThat(caller.count(ClientCounter.REMOTE_INVALIDATIONS))
                .isEqualTo(1)
                .isEqualTo(deviceCount("remoteInvalidations"));
        assertThat(caller.remoteInvalidations).containsExactly(RemoteInvalidation.OWN);
    }

    @Test
    void aSingleRegionThatThePeerHasInvalidatedIsShutAtTheReply() {
        caller.server.onMessage((connection, message) -> connection.sendInvalidating(
                Scene.segments(message, PeerAccess.WRITE).getFirst().handle(), Scene.xidOf(message)));
        TestCall call = scene.send(1, 1);
        scene.await("reply", () -> call.replied);
        assertThat(call.fencedCount).isEqualTo(1);
        assertThat(caller.posted).hasSize(1);
    }

    /** F29. */
    @Test
    void aRegionIsSaidToBeInvalidOnlyWhenTheDeviceHasShutIt() {
        TestCall call = scene.send(1, 2);
        scene.awaitMessage(0);
        caller.checkInvariants();
        Region region = call.list.region(0);
        caller.monitor.run(() -> {
            call.giveUp();
            assertThat(region.state()).isEqualTo(RegionState.VALID);
            assertThat(region.custody()).isEqualTo(Custody.REGISTERED);
        });
        scene.awaitFence(call);
        assertThat(region.state()).isEqualTo(RegionState.INVALID);
        assertThat(region.custody()).isEqualTo(Custody.FREE);
    }

    /** F11. */
    @Test
    void aCallWithoutReplyIsShutLikeAnyOther() {
        TestCall call = scene.send(1, 3);
        call.giveUp();
        scene.awaitFence(call);
        assertThat(call.fencedCount).isEqualTo(1);
        assertThat(caller.disconnects).isZero();
    }

    @Test
    void aCallWithoutMemoryIsShutAtOnce() {
        TestCall call = caller.newCall(1).send(List.of(), List.of());
        call.giveUp();
        assertThat(call.fencedCount).isEqualTo(1);
        assertThat(caller.posted).hasSize(1);
    }

    @Test
    void aCallThatIsOnlyMappedIsShutAtOnce() {
        TestCall call = caller.newCall(1);
        call.map(scene.memoryOf(2), PeerAccess.WRITE);
        call.giveUp();
        assertThat(call.fencedCount).isEqualTo(1);
        assertThat(caller.posted).isEmpty();
        caller.checkInvariants();
    }

    /** F12, F13, R8166-4.4.1-1, R8166-4.4.1-3, U47. */
    @Test
    void fromTheFenceOnAWriteOfThePeerIsRefusedAndChangesNothing() {
        TestCall call = scene.send(1, 2);
        scene.awaitMessage(0);
        call.giveUp();
        scene.awaitFence(call);
        caller.peer().write(call.segment(1), Scene.pattern(100));
        scene.await("the connection's end", () -> caller.disconnects > 0);
        call.checkUnchanged();
        assertThat(call.written.getFirst().get(ValueLayout.JAVA_BYTE, 4L * Scene.PAGE))
                .isZero();
    }

    /** F12: nor does the peer read any more. */
    @Test
    void fromTheFenceOnAReadOfThePeerIsRefusedAndTellsNothing() {
        List<MemorySegment> memory = scene.memoryOf(1);
        memory.getFirst().fill((byte) 7);
        TestCall call = caller.newCall(1).send(memory, List.of());
        scene.awaitMessage(0);
        call.giveUp();
        scene.awaitFence(call);
        RawWork read = caller.peer().read(call.segment(0));
        scene.await("the connection's end", () -> caller.disconnects > 0);
        scene.rig.await("the Read's end", read::isDone);
        assertThat(read.isSuccess()).isFalse();
        assertThat(read.data()).containsOnly(0);
    }

    /** R8166-8.1-1: only what was registered, only as it was registered. */
    @Test
    void memoryForReadingCannotBeWritten() {
        TestCall call = caller.newCall(1).send(scene.memoryOf(1), List.of());
        scene.awaitMessage(0);
        caller.peer().write(call.segment(0), Scene.pattern(8));
        scene.await("the connection's end", () -> caller.disconnects > 0);
    }

    /** F20: the key is the same again after 256 uses; the offset is not. */
    @Test
    void aSegmentOfA256UsesOldRegistrationIsOutOfBounds() {
        scene.peerWritesAndAnswers();
        List<MemorySegment> memory = scene.memoryOf(1);
        TestCall first = caller.newCall(1).send(List.of(), memory);
        scene.awaitFence(first);
        Segment old = first.segment(0);
        RegionList list = first.list;
        for (int xid = 2; xid <= 256; xid++) {
            TestCall call = caller.newCallOn(list, xid).send(List.of(), memory);
            scene.awaitFence(call);
        }
        caller.server.onMessage((connection, message) -> {});
        TestCall last = caller.newCallOn(list, 257).send(List.of(), memory);
        scene.awaitMessage(256);
        assertThat(last.segment(0).handle()).isEqualTo(old.handle());
        memory.getFirst().fill((byte) 0);
        caller.peer().write(old, Scene.pattern(100));
        scene.await("the connection's end", () -> caller.disconnects > 0);
        assertThat(memory.getFirst().get(ValueLayout.JAVA_BYTE, 0)).isZero();
    }

    /** F28. */
    @Test
    void aKeyThatOpensNothingIsCountedAndOwnRegionsAreShutAllTheSame() {
        TestCall call = scene.send(1, 2);
        caller.monitor.run(() -> {
            assertThat(caller.registrar.remotelyInvalidated(call.list, call.list.handle(0) ^ 0xFF))
                    .isEqualTo(RemoteInvalidation.UNKNOWN);
            call.onReply();
        });
        scene.awaitFence(call);
        assertThat(call.fencedCount).isEqualTo(1);
        assertThat(caller.count(ClientCounter.FOREIGN_INVALIDATIONS)).isEqualTo(1);
        assertThat(caller.count(ClientCounter.LOCAL_INVALIDATIONS)).isEqualTo(2);
    }

    /** F28. */
    @Test
    void aReplyThatInvalidatesAnotherCallsRegionBreaksTheProtocol() {
        TestCall victim = scene.send(1, 1);
        scene.awaitMessage(0);
        caller.server.onMessage((connection, message) ->
                connection.sendInvalidating(victim.segment(0).handle(), Scene.xidOf(message)));
        TestCall call = scene.send(2, 1);
        scene.awaitFence(call);
        scene.awaitFence(victim);
        assertThat(caller.remoteInvalidations).containsExactly(RemoteInvalidation.FOREIGN);
        assertThat(victim.lostCount).as("not trusted").isEqualTo(1);
        assertThat(caller.disconnects).isEqualTo(1);
    }

    /** F28: the peer's invalidation and ours may cross. */
    @Test
    void aLateInvalidationOfACallThatWasGivenUpIsHarmless() {
        TestCall call = scene.send(1, 1);
        RawMessage message = scene.awaitMessage(0);
        int key = Scene.segments(message, PeerAccess.WRITE).getFirst().handle();
        caller.monitor.run(() -> {
            caller.peer().sendInvalidating(key, Scene.xidOf(message));
            call.giveUp();
        });
        scene.awaitFence(call);
        scene.rig.settle();
        assertThat(call.fencedCount).isEqualTo(1);
        assertThat(caller.remoteInvalidations).doesNotContain(RemoteInvalidation.FOREIGN);
    }

    /** F13: reply and cancel cannot both shut a call's memory. */
    @Test
    void aSecondFenceIsRefused() {
        TestCall call = scene.send(1, 2);
        scene.awaitMessage(0);
        caller.monitor.run(() -> {
            call.giveUp();
            assertThatThrownBy(() -> caller.registrar.invalidate(call.list, call))
                    .isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> caller.registrar.map(scene.memoryOf(1), PeerAccess.READ, 9, call.list))
                    .isInstanceOf(IllegalStateException.class);
        });
        scene.awaitFence(call);
        assertThat(call.fencedCount).isEqualTo(1);
        assertThat(deviceCount("localInvalidations")).isEqualTo(2);
    }

    private static WorkCompletion completion(
            WorkIds.Kind kind, int generation, int index, WorkCompletion.Status status) {
        WorkCompletion completion = new WorkCompletion();
        WorkCompletion.Operation operation = kind == WorkIds.Kind.REGISTER
                ? WorkCompletion.Operation.REGISTER
                : WorkCompletion.Operation.LOCAL_INVALIDATE;
        completion.set(WorkIds.of(kind, generation, index), status, operation, 1, 0);
        return completion;
    }

    /** F10. */
    @Test
    void aFlushedRegistrationNeverEndsACall() {
        scene.faults.forget(FaultPlan.Forgetting.ALL);
        TestCall call = scene.send(1, 1);
        scene.awaitMessage(0);
        Region region = call.list.region(0);
        caller.monitor.run(() -> {
            call.giveUp();
            caller.registrar.onRegisterCompletion(completion(
                    WorkIds.Kind.REGISTER, region.generation(), region.index(), WorkCompletion.Status.FLUSHED));
            assertThat(call.isOver()).isFalse();
            assertThat(region.custody()).isEqualTo(Custody.REGISTERED);
        });
        scene.awaitFence(call);
    }

    /** F10. */
    @Test
    void aCompletionOfAnEarlierUseChangesNothing() {
        scene.peerWritesAndAnswers();
        TestCall first = scene.send(1, 1);
        scene.awaitFence(first);
        Region region = first.told.getFirst().owner();
        int earlier = region.generation();
        caller.server.onMessage((connection, message) -> {});
        TestCall second = caller.newCallOn(first.list, 2).send(List.of(), scene.memoryOf(1));
        assertThat(second.list.region(0)).isSameAs(region);
        caller.monitor.run(() -> {
            second.giveUp();
            caller.registrar.onInvalidateCompletion(
                    completion(WorkIds.Kind.INVALIDATE, earlier, region.index(), WorkCompletion.Status.SUCCESS));
            caller.registrar.onInvalidateCompletion(
                    completion(WorkIds.Kind.INVALIDATE, earlier, 12_345, WorkCompletion.Status.SUCCESS));
            assertThat(second.isOver()).isFalse();
            assertThat(region.state()).isEqualTo(RegionState.VALID);
            caller.registrar.onRegisterCompletion(
                    completion(WorkIds.Kind.REGISTER, earlier, region.index(), WorkCompletion.Status.FLUSHED));
            assertThat(region.state()).isEqualTo(RegionState.VALID);
        });
        scene.awaitFence(second);
    }

    /** F10: a device may report an executed registration as flushed when the connection ends. */
    @Test
    void aFlushThatComesAfterTheFenceMakesNothingStale() {
        scene.peerWritesAndAnswers();
        TestCall call = scene.send(1, 1);
        scene.awaitFence(call);
        Region region = call.told.getFirst().owner();
        caller.monitor.run(() -> {
            caller.registrar.onRegisterCompletion(completion(
                    WorkIds.Kind.REGISTER, region.generation(), region.index(), WorkCompletion.Status.FLUSHED));
            assertThat(region.state()).isEqualTo(RegionState.INVALID);
        });
    }

    /** R8166-8.1.2-1. */
    @Test
    void nothingIsOpenWhileNoCallIsOut() {
        scene.peerWritesAndAnswers();
        for (int xid = 1; xid <= 20; xid++) {
            scene.awaitFence(scene.send(xid, 2));
            for (Region region : caller.pool.regions()) {
                assertThat(region.device().isValid()).isFalse();
            }
        }
    }
}
