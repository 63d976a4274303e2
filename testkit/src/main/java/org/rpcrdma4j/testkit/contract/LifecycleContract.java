// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.Arena;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.ProtectionDomain;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.QueuePairOptions;
import org.rpcrdma4j.verbs.RdmaReadRequest;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.WorkCompletion;

/** Draining and closing, in every order. */
abstract class LifecycleContract extends ContractCase {

    @Test
    void drainingAConnectionPollsBothQueues() throws Exception {
        ConnectedPair pair = connectWithReceives(10);
        Endpoint client = pair.client();
        client.postReceives(10);
        MemoryRegion source =
                pair.server().own(pair.server().domain.register(pair.server().bytes(1_000_000, 1), Access.REMOTE_READ));
        for (int i = 0; i < 10; i++) {
            client.queuePair
                    .postSend(new RdmaReadRequest()
                            .id(i)
                            .sge(client.region, 0, 1_000_000)
                            .source(source.remoteKey(), source.remoteAddress()))
                    .orThrow();
        }
        awaitDrain(client.queuePair.drain());
        assertThat(client.queuePair.state()).isEqualTo(QueuePair.State.ERROR);
        assertThat(client.sendIds()).containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L);
        assertThat(client.receives).hasSize(10).allMatch(Completion::isFlushed);
        awaitError(pair);
    }

    @Test
    void drainingNeedsTheReceiveQueueToBePolled() throws Exception {
        ConnectedPair pair = connectWithReceives(4);
        Endpoint server = pair.server();
        server.queuePair
                .postSend(new RdmaReadRequest().id(1).sge(server.region, 0, 0))
                .orThrow();
        CompletableFuture<Void> drain = server.queuePair.drain();
        awaitUnpolled("the send queue was polled", () -> {
            server.poll(server.sendQueue);
            return server.sends.size() == 1;
        });
        device.settle();
        assertThat(drain).isNotDone();
        awaitDrain(drain);
        assertThat(server.receives).hasSize(4);
    }

    @Test
    void workPostedWhileTheReceiveQueueDrainsIsDrainedToo() throws Exception {
        ConnectedPair pair = connectWithReceives(4);
        Endpoint server = pair.server();
        CompletableFuture<Void> drain = server.queuePair.drain();
        server.queuePair.postSend(new SendRequest().id(5)).orThrow();
        awaitUnpolled("the receive queue was polled", () -> {
            server.poll(server.receiveQueue);
            return server.receives.size() == 4;
        });
        device.settle();
        assertThat(drain).isNotDone();
        awaitDrain(drain);
        assertThat(server.sendIds()).containsExactly(5L);
    }

    @Test
    void drainingAnIdleQueuePairFlushesItsReceives() throws Exception {
        Endpoint client = endpointOf(device.client(), EndpointOptions.DEFAULT.withReceives(3));
        awaitDrain(client.queuePair.drain());
        assertThat(client.receives).hasSize(3).allMatch(Completion::isFlushed);
        assertThat(client.queuePair.state()).isEqualTo(QueuePair.State.ERROR);
    }

    @Test
    void drainingWithNothingOutstandingEnds() throws Exception {
        ConnectedPair pair = connect();
        awaitDrain(pair.client().queuePair.drain());
        awaitDrain(pair.client().queuePair.drain());
        assertThat(pair.client().all).isEmpty();
    }

    @Test
    void everythingClosesTwice() throws Exception {
        RdmaTrio trio = new RdmaTrio(device.client().allocateProtectionDomain());
        try (Arena arena = Arena.ofShared()) {
            CompletionQueue queue = device.client().createCompletionQueue(4, null);
            QueuePair queuePair = trio.domain.createQueuePair(new QueuePairOptions(queue, queue, 1, 1, 1));
            MemoryRegion region = trio.domain.register(arena.allocate(10), Access.LOCAL_READ);
            for (int i = 0; i < 2; i++) {
                queuePair.close();
                region.close();
                queue.close();
                trio.domain.close();
            }
            assertThat(queuePair.state()).isEqualTo(QueuePair.State.ERROR);
        }
        device.client().close();
        device.client().close();
    }

    private record RdmaTrio(ProtectionDomain domain) {}

    @Test
    void theOrderOfClosingIsEnforced() throws Exception {
        try (Arena arena = Arena.ofShared()) {
            ProtectionDomain domain = device.client().allocateProtectionDomain();
            CompletionQueue queue = device.client().createCompletionQueue(4, null);
            QueuePair queuePair = domain.createQueuePair(new QueuePairOptions(queue, queue, 1, 1, 1));
            assertThatIllegalStateException().isThrownBy(queue::close);
            assertThatIllegalStateException().isThrownBy(domain::close);
            queuePair.close();
            queue.close();
            MemoryRegion region = domain.register(arena.allocate(10), Access.LOCAL_READ);
            assertThatIllegalStateException().isThrownBy(domain::close);
            region.close();
            domain.close();
        }
    }

    @Test
    void nothingIsMadeInAClosedDomainOrDevice() throws Exception {
        ProtectionDomain domain = device.client().allocateProtectionDomain();
        domain.close();
        try (Arena arena = Arena.ofShared()) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> domain.register(arena.allocate(10), Access.LOCAL_READ)
                            .close());
        }
        device.client().close();
        assertThatIllegalStateException()
                .isThrownBy(() -> device.client().allocateProtectionDomain().close());
    }

    @Test
    void closingAQueuePairDiscardsWhatWasNotPolled() throws Exception {
        ConnectedPair pair = connectWithReceives(5);
        Endpoint server = pair.server();
        for (int i = 0; i < 3; i++) {
            postAndAwaitUnpolled(pair.client(), i);
        }
        device.settle();
        server.queuePair.close();
        WorkCompletion[] into = {new WorkCompletion()};
        assertThat(server.receiveQueue.poll(into)).isZero();
        settle();
        assertThat(server.receives).isEmpty();
        await("the client is told", () -> isDead(pair.client()));
    }

    private void postAndAwaitUnpolled(Endpoint client, int id) {
        client.queuePair.postSend(new SendRequest().id(id)).orThrow();
        awaitUnpolled("the Send completes", () -> {
            client.poll();
            return client.sendIds().contains((long) id);
        });
    }

    @Test
    void nothingIsToldAfterAQueuePairWasClosed() throws Exception {
        ConnectedPair pair = connect();
        pair.server().queuePair.close();
        int told = pair.server().events.all().size();
        int calls = pair.server().handlerCalls.get();
        await("the client is told", () -> isDead(pair.client()));
        settle();
        assertThat(pair.server().events.all()).hasSize(told);
        assertThat(pair.server().handlerCalls).hasValue(calls);
    }

    @Test
    void closingTheDeviceClosesAllThatLivesOnIt() throws Exception {
        ConnectedPair pair = connectWithReceives(3);
        Endpoint client = pair.client();
        FastRegion region = register(client, client.bytes(100, 1), Access.REMOTE_READ);
        client.device.close();
        assertThat(client.device.ledger().isBalanced())
                .as("%s", client.device.ledger())
                .isTrue();
        assertThat(client.queuePair.state()).isEqualTo(QueuePair.State.ERROR);
        assertThat(region.isValid()).isFalse();
        if (!client.device.equals(pair.server().device)) {
            await("the server is told", () -> isDead(pair.server()));
            await("its Receives are flushed", () -> pair.server().receives.size() == 3);
        }
    }

    @Test
    void queuePairNumbersAreUnique() throws Exception {
        ConnectedPair first = connect();
        ConnectedPair second = connect();
        assertThat(first.client().queuePair.number())
                .isNotEqualTo(second.client().queuePair.number());
        assertThat(first.client().queuePair.protectionDomain()).isSameAs(first.client().domain);
        assertThat(first.client().domain.device()).isSameAs(device.client());
    }
}
