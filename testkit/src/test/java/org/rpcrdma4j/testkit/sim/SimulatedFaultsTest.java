// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.ProtectionDomain;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.QueuePairOptions;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.cm.ConnectOptions;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;
import org.rpcrdma4j.verbs.cm.ConnectionListener;
import org.rpcrdma4j.verbs.cm.Disconnect;

/** Faults on demand, virtual time, and what the simulation notices of its users. */
class SimulatedFaultsTest {

    private final SimulatedNetwork network = new SimulatedNetwork(5);
    private final ScriptedFaults faults = new ScriptedFaults();
    private final SimulatedDevice device =
            SimulatedDevice.attach(network, "client", SimulationOptions.DEFAULT.withFaults(faults));
    private final SimulatedDevice peer = SimulatedDevice.attach(network, "server", SimulationOptions.DEFAULT);
    private final ProtectionDomain domain = device.allocateProtectionDomain();
    private final List<Object> told = new ArrayList<>();
    private final MemorySegment memory = Arena.ofAuto().allocate(100_000, 4096);

    private final ConnectionListener listener = new ConnectionListener() {
        @Override
        public void onEstablished(ConnectionInfo info) {
            told.add(info);
        }

        @Override
        public void onRefused(ConnectRefusal refusal) {
            told.add(refusal);
        }

        @Override
        public void onDisconnected(Disconnect disconnect) {
            told.add(disconnect);
        }
    };

    private static QueuePair queuePair(ProtectionDomain domain) {
        CompletionQueue queue = domain.device().createCompletionQueue(16, null);
        return domain.createQueuePair(new QueuePairOptions(queue, queue, 8, 8, 2));
    }

    private QueuePair dialled(ConnectOptions options) throws IOException {
        QueuePair client = queuePair(domain);
        QueuePair server = queuePair(peer.allocateProtectionDomain());
        server.postReceive(List.of(new ReceiveRequest(), new ReceiveRequest())).orThrow();
        var endpoint = peer.connectionManager()
                .listen(
                        new InetSocketAddress(0),
                        1,
                        request -> request.accept(server, ConnectOptions.DEFAULT, new ToyListener()));
        device.connectionManager().connect(client, endpoint.localAddress(), options, listener);
        network.runUntilIdle();
        return client;
    }

    private static final class ToyListener implements ConnectionListener {
        @Override
        public void onEstablished(ConnectionInfo info) {}

        @Override
        public void onRefused(ConnectRefusal refusal) {}

        @Override
        public void onDisconnected(Disconnect disconnect) {}
    }

    private static List<WorkCompletion.Status> polled(QueuePair queuePair, CompletionQueue queue) {
        List<WorkCompletion.Status> statuses = new ArrayList<>();
        WorkCompletion[] one = {new WorkCompletion()};
        while (queue.poll(one) > 0) {
            assertThat(one[0].queuePairNumber()).isEqualTo(queuePair.number());
            statuses.add(one[0].status());
        }
        return statuses;
    }

    @Test
    void aPostTakesSoManyOfAChainAsTheScriptSays() throws IOException {
        QueuePair client = dialled(ConnectOptions.DEFAULT);
        faults.acceptOfPost(1, 2);
        PostResult result =
                client.postSend(List.of(new RdmaWriteRequest(), new RdmaWriteRequest(), new RdmaWriteRequest()));
        assertThat(result).isEqualTo(new PostResult.Refused(2, PostResult.Reason.NO_RESOURCES, "injected fault"));
        assertThat(client.postSend(new RdmaWriteRequest()).isPosted()).isTrue();
    }

    @Test
    void theConnectionIsLostAtTheGivenAction() throws IOException {
        faults.loseConnectionBefore(ActionKind.EXECUTE, 2);
        QueuePair client = dialled(ConnectOptions.DEFAULT);
        client.postSend(List.of(new RdmaWriteRequest().id(1), new RdmaWriteRequest().id(2)))
                .orThrow();
        network.runUntilIdle();
        assertThat(client.state()).isEqualTo(QueuePair.State.ERROR);
        assertThat(told.getLast())
                .isInstanceOfSatisfying(
                        Disconnect.class, end -> assertThat(end.cause()).isEqualTo(Disconnect.Cause.CONNECTION_LOST));
    }

    @Test
    void aDelayedCompletionComesInVirtualTime() throws IOException {
        faults.delayCompletion(1, 1_000_000_000);
        CompletionQueue queue = device.createCompletionQueue(16, null);
        QueuePair delayed = domain.createQueuePair(new QueuePairOptions(queue, queue, 8, 8, 2));
        QueuePair server = queuePair(peer.allocateProtectionDomain());
        var endpoint = peer.connectionManager()
                .listen(
                        new InetSocketAddress(0),
                        1,
                        request -> request.accept(server, ConnectOptions.DEFAULT, new ToyListener()));
        device.connectionManager().connect(delayed, endpoint.localAddress(), ConnectOptions.DEFAULT, listener);
        network.runUntilIdle();
        delayed.postSend(new RdmaWriteRequest()).orThrow();
        network.runUntilIdle();
        assertThat(polled(delayed, queue)).isEmpty();
        network.advance(Duration.ofMillis(999));
        assertThat(polled(delayed, queue)).isEmpty();
        network.advance(Duration.ofMillis(2));
        assertThat(polled(delayed, queue)).containsExactly(WorkCompletion.Status.SUCCESS);
    }

    @Test
    void connectingFailsAsTheScriptSays() throws IOException {
        faults.failConnect(1, FaultPlan.ConnectFault.REJECTED)
                .failConnect(2, FaultPlan.ConnectFault.UNREACHABLE)
                .failConnect(3, FaultPlan.ConnectFault.SILENCE);
        for (ConnectRefusal.Reason reason : List.of(
                ConnectRefusal.Reason.REJECTED, ConnectRefusal.Reason.UNREACHABLE, ConnectRefusal.Reason.TIMED_OUT)) {
            dialled(ConnectOptions.DEFAULT.withTimeout(Duration.ofSeconds(3)));
            network.advance(Duration.ofSeconds(4));
            assertThat(told.getLast())
                    .isInstanceOfSatisfying(
                            ConnectRefusal.class,
                            refusal -> assertThat(refusal.reason()).isEqualTo(reason));
        }
    }

    @Test
    void resourcesAreRefusedAsTheScriptSays() {
        faults.refuse(FaultPlan.Resource.MAP, 2).refuse(FaultPlan.Resource.FAST_REGION, 2);
        FastRegion region = domain.allocateFastRegion(4);
        assertThatIllegalStateException().isThrownBy(() -> domain.allocateFastRegion(4));
        assertThat(region.map(List.of(memory.asSlice(0, 10)), 0)).isEqualTo(1);
        region.unmap();
        assertThat(region.map(List.of(memory.asSlice(0, 10)), 0)).isZero();
        assertThat(region.length()).isZero();
        assertThat(device.ledger().mappedBytes()).isZero();
    }

    @Test
    void mergedPiecesTakeOnePageAndAreCountedAsTheyWere() {
        SimulatedDevice merging =
                SimulatedDevice.attach(network, "merging", SimulationOptions.DEFAULT.withMergedPieces(true));
        FastRegion region = merging.allocateProtectionDomain().allocateFastRegion(1);
        List<MemorySegment> pieces =
                List.of(memory.asSlice(0, 100), memory.asSlice(100, 200), memory.asSlice(300, 4096 - 300));
        assertThat(region.map(pieces, 0)).isEqualTo(3);
        assertThat(merging.ledger().maps()).isEqualTo(3);
        region.unmap();
        assertThat(merging.ledger().unmaps()).isEqualTo(3);
    }

    @Test
    void noticesMemoryChangedBeforeTheCompletion() throws IOException {
        MemoryRegion region = domain.register(memory, Access.LOCAL_READ);
        faults.delayCompletion(2, 1_000_000);
        QueuePair sender = dialled(ConnectOptions.DEFAULT);
        SendRequest send = new SendRequest();
        for (int i = 0; i < 2; i++) {
            sender.postSend(send.clearSges().sge(region, 0, 0)).orThrow();
        }
        network.runUntilIdle();
        memory.fill((byte) 1);
        network.advance(Duration.ofMillis(2));
        assertThat(network.violations()).as("empty messages").isEmpty();
        faults.delayCompletion(3, 1_000_000);
        sender.postSend(new RdmaWriteRequest().sge(region, 0, 10).target(1, 1)).orThrow();
        network.runUntil(() -> network.trace().getLast().contains("piece"));
        memory.fill((byte) 2);
        network.advance(Duration.ofMillis(2));
        assertThat(network.violations()).singleElement().asString().contains("was changed before its completion");
    }

    @Test
    void noticesARegionClosedUnderAnOutstandingRequest() throws IOException {
        QueuePair client = dialled(ConnectOptions.DEFAULT);
        MemoryRegion region = domain.register(memory, Access.LOCAL_WRITE);
        client.postReceive(new ReceiveRequest().sge(region, 0, 10)).orThrow();
        region.close();
        assertThat(network.violations()).singleElement().asString().contains("was closed while");
    }

    @Test
    void noticesAPostAfterTheDrain() throws IOException {
        QueuePair client = dialled(ConnectOptions.DEFAULT);
        var drain = client.drain();
        network.runUntilIdle();
        assertThat(drain).isCompleted();
        assertThat(client.postSend(new SendRequest()).isPosted()).isFalse();
        assertThat(network.violations()).singleElement().asString().contains("after its drain");
    }

    @Test
    void noticesMemoryFreedUnderALease() {
        MemoryRegion region;
        try (Arena arena = Arena.ofShared()) {
            region = domain.register(arena.allocate(10), Access.LOCAL_READ);
        }
        region.close();
        assertThat(network.violations()).singleElement().asString().contains("was freed while");
    }

    @Test
    void timersGoOffInOrderOfVirtualTime() {
        List<Integer> fired = new ArrayList<>();
        network.schedule(Duration.ofSeconds(2), () -> fired.add(2));
        network.schedule(Duration.ofSeconds(1), () -> fired.add(1));
        network.advance(Duration.ofMillis(1500));
        assertThat(fired).containsExactly(1);
        assertThat(network.nanoTime()).isEqualTo(1_500_000_000);
        network.runUntil(() -> fired.size() == 2);
        assertThat(fired).containsExactly(1, 2);
    }

    @Test
    void theClockDoesNotStopForACancelledTimer() {
        List<Integer> fired = new ArrayList<>();
        SimulatedNetwork.Scheduled cancelled = network.schedule(Duration.ofSeconds(1), () -> fired.add(1));
        network.schedule(Duration.ofSeconds(2), () -> fired.add(2));
        cancelled.cancel();
        assertThat(network.step()).isTrue();
        assertThat(network.nanoTime()).isEqualTo(2_000_000_000);
        assertThat(fired).containsExactly(2);
        cancelled.cancel();
    }
}
