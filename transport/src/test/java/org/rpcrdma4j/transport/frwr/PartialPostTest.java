// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.Segment;
import org.rpcrdma4j.verbs.PostResult.Reason;
import org.rpcrdma4j.verbs.WorkCompletion;

/** The device takes the first k of n work requests of a chain. F1, F2, F25, F27. */
@ParameterizedClass
@EnumSource(Network.class)
class PartialPostTest {

    private static final long DELAY_NANOS = 20_000_000;

    private final Scene scene;
    private final Caller caller;

    PartialPostTest(Network network) {
        scene = new Scene(network).connected();
        caller = scene.caller;
    }

    @AfterEach
    void giveBack() {
        scene.close();
    }

    private static Stream<Arguments> partsOfChains() {
        return IntStream.rangeClosed(1, 6)
                .boxed()
                .flatMap(n -> IntStream.rangeClosed(0, n).mapToObj(k -> Arguments.of(k, n)));
    }

    private static int count(TestCall call, RegionState state) {
        int found = 0;
        for (int i = 0; i < call.list.size(); i++) {
            found += call.list.region(i).state() == state ? 1 : 0;
        }
        return found;
    }

    @ParameterizedTest
    @MethodSource("partsOfChains")
    void eachRegionIsInvalidatedOrReplacedAndNoneStaysOpen(int k, int n) {
        TestCall call = scene.send(1, n);
        scene.awaitMessage(0);
        scene.faults.cutNextPost(n, k, Reason.NO_RESOURCES);
        caller.monitor.run(call::onReply);
        scene.awaitFence(call);
        assertThat(call.fencedCount).isEqualTo(1);
        assertThat(caller.count(ClientCounter.REGIONS_RECOVERED)).isEqualTo(n - k);
        assertThat(caller.disconnects).isZero();
        long replaced = call.told.stream()
                .filter(told -> !told.owner().device().equals(told.region()))
                .count();
        assertThat(replaced).isEqualTo(n - k);
        assertThat(call.told).allMatch(told -> told.owner().custody() == Custody.FREE);
        scene.peerWritesAndAnswers();
        scene.awaitFence(scene.send(2, n));
    }

    /** F1: the seed lost its way at a region that the peer had invalidated. */
    @ParameterizedTest
    @MethodSource("partsOfChains")
    void aRegionThatThePeerInvalidatedDoesNotConfuseTheOthers(int k, int n) {
        // A chain of one is as long as the post of a Receive, which comes first here.
        for (int remote = 0; n > 1 && remote <= n; remote++) {
            int xid = 1 + remote;
            TestCall call = scene.send(xid, n + 1);
            Segment shut =
                    Scene.segments(scene.awaitMessage(remote), PeerAccess.WRITE).get(remote);
            scene.faults.cutNextPost(n, k, Reason.NO_RESOURCES);
            caller.peer().sendInvalidating(shut.handle(), new byte[] {0, 0, 0, (byte) xid});
            scene.awaitFence(call);
            assertThat(call.fencedCount).isEqualTo(1);
            assertThat(caller.count(ClientCounter.REGIONS_RECOVERED)).isEqualTo((long) (n - k) * (remote + 1));
        }
        assertThat(caller.disconnects).isZero();
    }

    /** F2. */
    @ParameterizedTest
    @MethodSource("partsOfChains")
    void whatWasPostedIsWaitedFor(int k, int n) {
        TestCall call = scene.send(1, n);
        scene.awaitMessage(0);
        scene.faults.delayCompletions(WorkCompletion.Operation.LOCAL_INVALIDATE, DELAY_NANOS);
        scene.faults.cutNextPost(n, k, Reason.NO_RESOURCES);
        long begin = scene.nanoTime();
        call.giveUp();
        scene.await("recovery of the others", () -> caller.count(ClientCounter.REGIONS_RECOVERED) == n - k);
        caller.monitor.run(() -> {
            if (k > 0 && scene.nanoTime() - begin < DELAY_NANOS) {
                assertThat(call.isOver()).isFalse();
                assertThat(count(call, RegionState.VALID)).isEqualTo(k);
            }
        });
        scene.awaitFence(call);
        assertThat(call.fencedCount).isEqualTo(1);
        if (k > 0) {
            assertThat(scene.nanoTime() - begin).isGreaterThanOrEqualTo(DELAY_NANOS);
        }
    }

    /** F27. */
    @ParameterizedTest
    @MethodSource("partsOfChains")
    void aFullQueueIsWaitedForAndEndsNothing(int k, int n) {
        if (k == 0) {
            scene.faults.delayCompletions(WorkCompletion.Operation.SEND, DELAY_NANOS);
        }
        // If k > 0 it is a completion of the chain itself that makes room, else that of the Send, which must not come
        // too early.
        TestCall call = k > 0 ? scene.send(1, n) : null;
        if (call != null) {
            scene.await("Send completed", () -> caller.sendsCompleted == 1);
            scene.faults.cutNextPost(n, k, Reason.QUEUE_FULL);
            call.giveUp();
        }
        for (int attempt = 1; call == null; attempt++) {
            assertThat(attempt).as("Sends that completed too early").isLessThan(50);
            call = givenUpBeforeItsSendCompletes(attempt, n);
        }
        scene.awaitFence(call);
        assertThat(call.fencedCount).isEqualTo(1);
        assertThat(caller.count(ClientCounter.REGIONS_RECOVERED)).isZero();
        assertThat(caller.disconnects).isZero();
        assertThat(caller.fails).isZero();
    }

    /** Finds the queue full with its invalidations; null if the Send had completed before, for then nothing is left to be waited for. */
    private @Nullable TestCall givenUpBeforeItsSendCompletes(int xid, int n) {
        TestCall call = scene.send(xid, n);
        scene.faults.cutNextPost(n, 0, Reason.QUEUE_FULL);
        AtomicBoolean isInTime = new AtomicBoolean();
        caller.monitor.run(() -> {
            isInTime.set(caller.sendsCompleted < xid);
            if (isInTime.get()) {
                caller.registrar.giveUp(call.list, call);
            }
        });
        if (isInTime.get()) {
            return call;
        }
        scene.faults.cutNextPost(Integer.MAX_VALUE, 0, Reason.QUEUE_FULL);
        call.giveUp();
        scene.awaitFence(call);
        return null;
    }

    /** F27: posts are done outside the monitor, so a completion may be handled before the refusal of what was posted after it. */
    @Test
    void aQueueThatWasFullOnlyUntilTheRefusalIsHandledIsNotWaitedForInVain() {
        TestCall call = scene.send(1, 3);
        scene.await("Send completed", () -> caller.sendsCompleted == 1);
        scene.faults.cutNextPost(3, 1, Reason.QUEUE_FULL);
        if (!scene.rig.isSimulated()) {
            scene.faults.beforeRefusal(() -> scene.await(
                    "the first invalidation",
                    () -> call.told.stream().anyMatch(told -> told.owner().custody() == Custody.FREE)));
        }
        call.giveUp();
        scene.awaitFence(call);
        assertThat(call.fencedCount).isEqualTo(1);
        assertThat(caller.disconnects).isZero();
    }

    /** F27: too few places for call and invalidations. The simulated device finds its queue full; iwarp gives places back early. */
    @ParameterizedTest
    @ValueSource(ints = {5, 6, 7, 8})
    void aSendQueueThatIsTooShortIsWaitedForToo(int sendDepth) {
        SendQueuePlan.Supported ample = caller.plan;
        SendQueuePlan.Supported tight = new SendQueuePlan.Supported(
                ample.pageBytes(),
                ample.pagesPerRegion(),
                ample.regionsPerPayload(),
                ample.maxSegments(),
                ample.requests(),
                ample.backchannelRequests(),
                ample.workRequestsPerRequest(),
                sendDepth,
                ample.receiveDepth(),
                ample.maxPayloadBytes(),
                ample.maxRegions(),
                ample.maxCallHeaderBytes(),
                ample.maxReplyHeaderBytes());
        Caller other = new Caller(scene.rig, tight, RegionPool.Options.of(tight)).connected(8);
        for (int xid = 1; xid <= 30; xid++) {
            TestCall call = other.newCall(xid).send(List.of(), scene.memoryOf(4));
            call.giveUp();
            other.await("fence of " + call, call::isOver);
            assertThat(call.fencedCount).isEqualTo(1);
            other.checkInvariants();
        }
        if (scene.rig.isSimulated()) {
            assertThat(other.count(ClientCounter.POST_ERRORS)).isPositive();
        }
        assertThat(other.refusals).isZero();
        assertThat(other.count(ClientCounter.REGIONS_RECOVERED)).isZero();
        assertThat(other.disconnects).isZero();
        other.close();
    }

    @Test
    void whatFoundTheQueueFullIsLeftToTheEndOfTheConnectionWhenThatComesFirst() {
        TestCall call = scene.send(1, 3);
        scene.await("Send completed", () -> caller.sendsCompleted == 1);
        scene.faults.cutNextPost(3, 0, Reason.QUEUE_FULL);
        caller.monitor.run(call::onReply);
        scene.rig.settle();
        assertThat(call.isOver()).isFalse();
        caller.peer().breakOff();
        scene.awaitFence(call);
        assertThat(call.lostCount).isEqualTo(1);
    }

    /** F25: the connection is ended once, and its end is the fence. */
    @ParameterizedTest
    @MethodSource("partsOfChains")
    void aQueuePairThatTakesNothingMoreEndsTheConnectionOnce(int k, int n) {
        TestCall call = scene.send(1, n);
        scene.awaitMessage(0);
        scene.faults.cutNextPost(n, k, Reason.WRONG_STATE);
        caller.monitor.run(call::onReply);
        scene.awaitFence(call);
        assertThat(call.lostCount + call.fencedCount).isEqualTo(1);
        assertThat(call.lostCount).isEqualTo(k < n ? 1 : 0);
        assertThat(caller.disconnects).isEqualTo(k < n ? 1 : 0);
        assertThat(caller.count(ClientCounter.FENCES_BY_DISCONNECT)).isEqualTo(call.lostCount);
    }

    @ParameterizedTest
    @MethodSource("partsOfChains")
    void registrationsThatWereNotPostedAreTakenBack(int k, int n) {
        scene.faults.cutNextPost(n + 1, k, Reason.NO_RESOURCES);
        TestCall call = scene.send(1, n);
        scene.awaitFence(call);
        assertThat(call.fencedCount).isEqualTo(1);
        assertThat(caller.count(ClientCounter.LOCAL_INVALIDATIONS)).isEqualTo(k);
        assertThat(caller.count(ClientCounter.REGIONS_RECOVERED)).isZero();
        assertThat(caller.refusals).isEqualTo(1);
        assertThat(caller.disconnects).isZero();
        scene.peerWritesAndAnswers();
        scene.awaitFence(scene.send(2, n));
    }

    /** The call is given up before the outbox comes to post it; then the device takes only a part of it. */
    @ParameterizedTest
    @MethodSource("partsOfChains")
    void anInvalidationIsTakenBackWithItsRegistration(int k, int n) {
        List<MemorySegment> memory = scene.memoryOf(n);
        scene.faults.cutNextPost(n + 1, k, Reason.NO_RESOURCES);
        TestCall call = caller.newCall(1);
        caller.monitor.run(() -> {
            call.send(List.of(), memory);
            call.giveUp();
            assertThat(caller.posted).hasSize(2);
        });
        scene.awaitFence(call);
        assertThat(call.fencedCount).isEqualTo(1);
        assertThat(caller.posted.get(1).chain()).hasSize(k);
        assertThat(caller.count(ClientCounter.REGIONS_RECOVERED)).isZero();
        assertThat(caller.disconnects).isZero();
    }
}
