// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.LocalInvalidateRequest;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.ProtectionDomain;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.QueuePairOptions;
import org.rpcrdma4j.verbs.RdmaReadRequest;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.RegisterRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.WorkCompletion.Operation;
import org.rpcrdma4j.verbs.WorkCompletion.Status;
import org.rpcrdma4j.verbs.cm.ConnectOptions;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;
import org.rpcrdma4j.verbs.cm.ConnectionListener;
import org.rpcrdma4j.verbs.cm.Disconnect;

/** Failures of single work requests and deregistrations, completions that are lost or late, refusals of posts. */
class InjectedFailuresTest {

    private static final FaultPlan.WorkFailure NOT_DONE = new FaultPlan.WorkFailure(Status.GENERAL_ERROR, false);
    private static final FaultPlan.WorkFailure DONE = new FaultPlan.WorkFailure(Status.LOCAL_QP_OPERATION_ERROR, true);

    private final SimulatedNetwork network = new SimulatedNetwork(7);
    private final ScriptedFaults faults = new ScriptedFaults().forget(FaultPlan.Forgetting.NONE);
    private final End own = new End(
            SimulatedDevice.attach(network, "client", SimulationOptions.DEFAULT.withFaults(faults)),
            Access.LOCAL_WRITE);
    private final End peer =
            new End(SimulatedDevice.attach(network, "server", SimulationOptions.DEFAULT), Access.REMOTE_READ_WRITE);

    /** One end: queues, and 8192 bytes of memory of which the upper half is for Receives. */
    private static final class End implements ConnectionListener {
        final SimulatedDevice device;
        final ProtectionDomain domain;
        final CompletionQueue sends;
        final CompletionQueue receives;
        final QueuePair queuePair;
        final MemorySegment memory = Arena.ofAuto().allocate(8192, 4096);
        final MemoryRegion region;
        int disconnects;

        End(SimulatedDevice device, Access access) {
            this.device = device;
            domain = device.allocateProtectionDomain();
            sends = device.createCompletionQueue(16, null);
            receives = device.createCompletionQueue(16, null);
            queuePair = domain.createQueuePair(new QueuePairOptions(sends, receives, 16, 16, 2));
            region = domain.register(memory, access);
            for (int i = 0; i < 4; i++) {
                queuePair
                        .postReceive(new ReceiveRequest().id(i).sge(region, 4096 + i * 1024L, 1024))
                        .orThrow();
            }
        }

        static List<Status> poll(CompletionQueue queue) {
            List<Status> statuses = new ArrayList<>();
            WorkCompletion[] one = {new WorkCompletion()};
            while (queue.poll(one) > 0) {
                statuses.add(one[0].status());
            }
            return statuses;
        }

        @Override
        public void onEstablished(ConnectionInfo info) {}

        @Override
        public void onRefused(ConnectRefusal refusal) {}

        @Override
        public void onDisconnected(Disconnect disconnect) {
            disconnects++;
        }
    }

    @BeforeEach
    void connect() throws IOException {
        InetSocketAddress address = peer.device
                .connectionManager()
                .listen(
                        new InetSocketAddress(0),
                        1,
                        request -> request.accept(peer.queuePair, ConnectOptions.DEFAULT, peer))
                .localAddress();
        own.device.connectionManager().connect(own.queuePair, address, ConnectOptions.DEFAULT, own);
        network.runUntilIdle();
    }

    private List<Status> post(SendQueueRequest... chain) {
        own.queuePair.postSend(List.of(chain)).orThrow();
        network.runUntilIdle();
        return End.poll(own.sends);
    }

    private FastRegion mapped() {
        FastRegion region = own.domain.allocateFastRegion(2);
        assertThat(region.map(List.of(own.memory.asSlice(0, 4096)), 0x10_0000)).isEqualTo(1);
        return region;
    }

    private static RegisterRequest registration(FastRegion region) {
        return new RegisterRequest().region(region, region.advanceKey()).access(Access.REMOTE_WRITE);
    }

    /** What the peer's RDMA Write to the region does to the memory: whether its byte arrived. */
    private boolean peerReaches(FastRegion region) {
        peer.memory.set(ValueLayout.JAVA_BYTE, 0, (byte) 77);
        own.memory.set(ValueLayout.JAVA_BYTE, 0, (byte) 0);
        peer.queuePair.postSend(
                new RdmaWriteRequest().sge(peer.region, 0, 1).target(region.remoteKey(), region.remoteAddress()));
        network.runUntilIdle();
        return own.memory.get(ValueLayout.JAVA_BYTE, 0) == 77;
    }

    @Test
    void aRequestFailsWithTheGivenStatusAndTheRestIsFlushed() {
        faults.fail(Operation.SEND, 2, NOT_DONE);
        assertThat(post(new SendRequest(), new SendRequest(), new SendRequest()))
                .containsExactly(Status.SUCCESS, Status.GENERAL_ERROR, Status.FLUSHED);
        assertThat(own.queuePair.state()).isEqualTo(QueuePair.State.ERROR);
        assertThat(own.disconnects).isEqualTo(1);
        assertThat(End.poll(peer.receives).stream().filter(Status.SUCCESS::equals))
                .hasSize(1);
    }

    @Test
    void anUnsignaledRequestThatFailsIsReported() {
        faults.fail(Operation.RDMA_WRITE, 1, NOT_DONE);
        assertThat(post(new RdmaWriteRequest().signaled(false), new SendRequest().signaled(false)))
                .containsExactly(Status.GENERAL_ERROR, Status.FLUSHED);
    }

    @Test
    void everyKindOfRequestFailsWithOrWithoutEffect() throws IOException {
        for (Operation operation : Operation.values()) {
            for (FaultPlan.WorkFailure failure : List.of(NOT_DONE, DONE)) {
                InjectedFailuresTest fresh = new InjectedFailuresTest();
                fresh.connect();
                fresh.faults.fail(operation, 1, failure);
                if (operation == Operation.RECEIVE) {
                    fresh.peer.queuePair.postSend(new SendRequest()).orThrow();
                    fresh.network.runUntilIdle();
                    assertThat(End.poll(fresh.own.receives))
                            .containsExactly(failure.status(), Status.FLUSHED, Status.FLUSHED, Status.FLUSHED);
                } else {
                    FastRegion region = fresh.mapped();
                    SendQueueRequest request = switch (operation) {
                        case SEND -> new SendRequest();
                        case RDMA_WRITE ->
                            new RdmaWriteRequest()
                                    .sge(fresh.own.region, 0, 8)
                                    .target(fresh.peer.region.remoteKey(), fresh.peer.region.remoteAddress());
                        case RDMA_READ ->
                            new RdmaReadRequest()
                                    .sge(fresh.own.region, 0, 8)
                                    .source(fresh.peer.region.remoteKey(), fresh.peer.region.remoteAddress());
                        case REGISTER -> registration(region);
                        case LOCAL_INVALIDATE -> new LocalInvalidateRequest().key(region.remoteKey());
                        case RECEIVE -> throw new AssertionError(operation);
                    };
                    assertThat(fresh.post(request))
                            .as("%s %s", operation, failure)
                            .containsExactly(failure.status());
                }
                assertThat(fresh.own.queuePair.state()).isEqualTo(QueuePair.State.ERROR);
                assertThat(fresh.network.violations()).isEmpty();
            }
        }
    }

    @Test
    void anEffectiveRegistrationThatFailsLeavesTheRegionOpen() {
        faults.fail(Operation.REGISTER, 1, DONE);
        FastRegion region = mapped();
        assertThat(post(registration(region))).containsExactly(DONE.status());
        assertThat(region.state()).isEqualTo(FastRegion.State.VALID);
    }

    @Test
    void anInvalidationThatFailsWithoutEffectLeavesTheRegionOpen() {
        faults.fail(Operation.LOCAL_INVALIDATE, 1, NOT_DONE);
        FastRegion region = mapped();
        post(registration(region));
        assertThat(post(new LocalInvalidateRequest().key(region.remoteKey()))).containsExactly(NOT_DONE.status());
        assertThat(region.state()).isEqualTo(FastRegion.State.VALID);
    }

    @Test
    void aFailureIsNeitherSuccessNorFlushed() {
        for (Status status : List.of(Status.SUCCESS, Status.FLUSHED)) {
            assertThatIllegalArgumentException().isThrownBy(() -> new FaultPlan.WorkFailure(status, true));
        }
    }

    @Test
    void aLostCompletionNeverComesAndTheDrainDoesNotEnd() {
        faults.loseCompletion(Operation.SEND, 1);
        assertThat(post(new SendRequest())).isEmpty();
        assertThat(End.poll(peer.receives)).as("the work is done").containsExactly(Status.SUCCESS);
        assertThat(post(new SendRequest())).as("later ones come").containsExactly(Status.SUCCESS);
        CompletableFuture<Void> drain = own.queuePair.drain();
        network.advance(Duration.ofHours(1));
        assertThat(End.poll(own.receives)).hasSize(4);
        network.advance(Duration.ofHours(1));
        assertThat(drain).isNotDone();
        own.queuePair.close();
        assertThat(drain).isCancelled();
    }

    @Test
    void aFlushForgetsAsTheScriptSays() {
        FastRegion region = mapped();
        faults.delayCompletion(Operation.REGISTER, 1, 1_000_000_000L)
                .forget(FaultPlan.Forgetting.ALL)
                .delayFlushes(500_000_000L);
        assertThat(post(registration(region), new SendRequest())).isEmpty();
        assertThat(peerReaches(region)).isTrue();
        own.queuePair.abort();
        network.runUntilIdle();
        own.queuePair
                .postSend(new LocalInvalidateRequest().key(region.remoteKey()))
                .orThrow();
        assertThat(End.poll(own.sends)).as("the flush is late").isEmpty();
        network.advance(Duration.ofMillis(501));
        assertThat(End.poll(own.sends)).containsExactly(Status.FLUSHED, Status.FLUSHED, Status.FLUSHED);
        assertThat(own.disconnects).isEqualTo(1);
    }

    @Test
    void aPostIsRefusedWithTheGivenReason() {
        // Posts 1 to 4 were the Receives.
        faults.refusePost(5, 1, PostResult.Reason.QUEUE_FULL);
        assertThat(own.queuePair.postSend(List.of(new SendRequest(), new SendRequest())))
                .isEqualTo(new PostResult.Refused(1, PostResult.Reason.QUEUE_FULL, "injected fault"));
        faults.acceptOfPost(6, 0);
        assertThat(own.queuePair.postSend(new SendRequest()))
                .isEqualTo(new PostResult.Refused(0, PostResult.Reason.NO_RESOURCES, "injected fault"));
    }

    @Test
    void aRegionWhoseDeregistrationFailsStaysOpenUntilTheQueuePairIsClosed() {
        FastRegion region = mapped();
        post(registration(region));
        faults.failDeregistration(1);
        assertThatIllegalStateException().isThrownBy(region::close);
        assertThat(region.state()).isEqualTo(FastRegion.State.VALID);
        assertThat(own.device.ledger().regions()).isEqualTo(2);
        assertThat(peerReaches(region)).isTrue();
        own.queuePair.close();
        assertThat(peerReaches(region)).isFalse();
        region.close();
        assertThat(own.device.ledger().regions()).isEqualTo(1);
    }

    @Test
    void anOrphanIsTakenBackByItsDevice() {
        MemoryRegion orphan = own.domain.register(Arena.ofAuto().allocate(64), Access.LOCAL_READ);
        faults.failDeregistration(1).failDeregistration(2);
        assertThatIllegalStateException().isThrownBy(orphan::close);
        own.queuePair.close();
        assertThatIllegalStateException().isThrownBy(own.domain::close);
        own.device.close();
        assertThat(own.device.ledger().isBalanced()).isTrue();
        assertThat(faults.deregistrations()).isEqualTo(1);
        assertThat(network.violations()).isEmpty();
    }

    @Test
    void randomFaultsDrawEachKind() {
        RandomFaults random = new RandomFaults(1, 2, 0, 0, 0)
                .withFailures(2)
                .withLostCompletions(2)
                .withFailedDeregistrations(2);
        List<Object> drawn = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            FaultPlan.WorkFailure failure = random.failureOf(Operation.SEND);
            if (failure != null) {
                drawn.add(failure.isEffective());
            }
            drawn.add(random.refusalReason());
            drawn.add(random.forgetting());
            drawn.add("lost " + random.losesCompletion(Operation.SEND));
            drawn.add("failed " + random.failsDeregistration());
            drawn.add("late " + (random.flushDelayNanos() > 0));
        }
        assertThat(drawn)
                .contains(true, false, PostResult.Reason.QUEUE_FULL, PostResult.Reason.NO_RESOURCES)
                .contains(FaultPlan.Forgetting.SOME, FaultPlan.Forgetting.ALL, FaultPlan.Forgetting.NONE)
                .contains("lost true", "lost false", "failed true", "failed false", "late true", "late false");
        random.enable(false);
        assertThat(random.failureOf(Operation.SEND)).isNull();
        assertThat(random.losesCompletion(Operation.SEND)).isFalse();
        assertThat(random.failsDeregistration()).isFalse();
    }
}
