// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.LocalInvalidateRequest;
import org.rpcrdma4j.verbs.QueuePairOptions;
import org.rpcrdma4j.verbs.RdmaReadRequest;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.WorkCompletion.Operation;

/** Signaled and unsignaled work, fences, and how completion queues wake their owner. */
abstract class CompletionsContract extends ContractCase {

    @Test
    void everyKindOfRequestSignalsIfAskedTo() throws Exception {
        ConnectedPair pair = connectWithReceives(1);
        runOneOfEach(pair, true);
        assertThat(pair.client().sends.stream().map(Completion::operation))
                .containsExactly(
                        Operation.REGISTER,
                        Operation.RDMA_WRITE,
                        Operation.RDMA_READ,
                        Operation.SEND,
                        Operation.LOCAL_INVALIDATE,
                        Operation.RDMA_WRITE);
        assertThat(pair.client().sendIds()).containsExactly(1L, 2L, 3L, 4L, 5L, 99L);
    }

    @Test
    void everyKindOfRequestIsSilentIfAskedTo() throws Exception {
        ConnectedPair pair = connectWithReceives(1);
        runOneOfEach(pair, false);
        settle();
        assertThat(pair.client().sendIds()).containsExactly(99L);
        assertThat(pair.server().receives).hasSize(1).allMatch(Completion::isSuccess);
    }

    private void runOneOfEach(ConnectedPair pair, boolean signaled) {
        Endpoint client = pair.client();
        Endpoint server = pair.server();
        FastRegion remote = register(server, server.bytes(100, 1), Access.REMOTE_READ_WRITE);
        FastRegion own = fastRegion(client, client.bytes(100, 1));
        int key = own.advanceKey();
        client.queuePair
                .postSend(List.of(
                        registration(own, Access.REMOTE_READ)
                                .region(own, key)
                                .id(1)
                                .signaled(signaled),
                        new RdmaWriteRequest()
                                .id(2)
                                .signaled(signaled)
                                .sge(client.region, 0, 10)
                                .target(remote.remoteKey(), remote.remoteAddress()),
                        new RdmaReadRequest()
                                .id(3)
                                .signaled(signaled)
                                .sge(client.region, 0, 10)
                                .source(remote.remoteKey(), remote.remoteAddress()),
                        new SendRequest().id(4).signaled(signaled),
                        new LocalInvalidateRequest().id(5).signaled(signaled).key(key),
                        new RdmaWriteRequest().id(99).target(remote.remoteKey(), remote.remoteAddress())))
                .orThrow();
        await("the last one completes", () -> client.sendIds().contains(99L) && server.receives.size() == 1);
        assertThat(client.sends).allMatch(Completion::isSuccess);
    }

    @Test
    void aFencedSendWaitsForEarlierReads() throws Exception {
        ConnectedPair pair = connectWithReceives(8);
        Endpoint client = pair.client();
        Endpoint server = pair.server();
        MemorySegment source = server.bytes(300_000, 1);
        FastRegion region = register(server, source, Access.REMOTE_READ);
        for (int round = 0; round < 8; round++) {
            byte value = (byte) (round + 1);
            source.fill(value);
            client.queuePair
                    .postSend(List.of(
                            new RdmaReadRequest()
                                    .id(round)
                                    .sge(client.region, 0, 300_000)
                                    .source(region.remoteKey(), region.remoteAddress()),
                            new SendRequest().id(100 + round).fence(true)))
                    .orThrow();
            int count = round + 1;
            await("the fenced Send arrives", () -> server.receives.size() == count);
            source.fill((byte) 0x77);
            await("both complete", () -> client.sends.size() == 2 * count);
            assertThat(bytesOf(client.memory.asSlice(0, 300_000)))
                    .as("the Read was answered before the Send")
                    .containsOnly(value);
        }
    }

    @Test
    void aFenceMakesAChainOfReadAndSendUsable() throws Exception {
        ConnectedPair pair = connectWithReceives(1);
        Endpoint client = pair.client();
        Endpoint server = pair.server();
        MemorySegment source = server.bytes(4000, 21);
        FastRegion region = register(server, source, Access.REMOTE_READ);
        client.queuePair
                .postSend(List.of(
                        new RdmaReadRequest()
                                .signaled(false)
                                .sge(client.region, 0, 4000)
                                .source(region.remoteKey(), region.remoteAddress()),
                        new SendRequest().fence(true).sge(client.region, 0, 4000)))
                .orThrow();
        await("what was read comes back", () -> server.receives.size() == 1);
        assertThat(server.memory.asSlice(server.receives.getFirst().id(), 4000).mismatch(source))
                .isEqualTo(-1);
    }

    @Test
    void aFencedInvalidationWaitsForReadsIntoTheRegion() throws Exception {
        ConnectedPair pair = connect();
        Endpoint client = pair.client();
        Endpoint server = pair.server();
        MemorySegment source = server.bytes(200_000, 4);
        FastRegion region = register(server, source, Access.REMOTE_READ);
        MemorySegment sink = client.arena.allocate(200_000, 4096);
        FastRegion sinkRegion = register(client, sink, client.sinkAccess());
        int before = client.sends.size();
        client.queuePair
                .postSend(List.of(
                        new RdmaReadRequest()
                                .id(1)
                                .sge(sinkRegion, 0, 200_000)
                                .source(region.remoteKey(), region.remoteAddress()),
                        new LocalInvalidateRequest().id(2).fence(true).key(sinkRegion.remoteKey())))
                .orThrow();
        await("both complete", () -> client.sends.size() == before + 2);
        assertThat(client.sends).allMatch(Completion::isSuccess);
        assertThat(sink.mismatch(source)).isEqualTo(-1);
        sinkRegion.unmap();
    }

    @Test
    void aReadIntoAnInvalidatedRegionFailsAndDoesNotTouchIt() throws Exception {
        ConnectedPair pair = connect();
        Endpoint client = pair.client();
        Endpoint server = pair.server();
        FastRegion region = register(server, server.bytes(200_000, 4), Access.REMOTE_READ);
        MemorySegment sink = client.arena.allocate(200_000, 4096);
        FastRegion sinkRegion = register(client, sink, client.sinkAccess());
        client.sends.clear();
        client.queuePair
                .postSend(List.of(
                        new RdmaReadRequest()
                                .id(1)
                                .sge(sinkRegion, 0, 200_000)
                                .source(region.remoteKey(), region.remoteAddress()),
                        new LocalInvalidateRequest().id(2).key(sinkRegion.remoteKey())))
                .orThrow();
        await("both complete", () -> client.sends.size() == 2);
        assertThat(sinkRegion.state()).isEqualTo(FastRegion.State.INVALID);
        byte[] then = bytesOf(sink);
        settle();
        assertThat(bytesOf(sink)).isEqualTo(then);
        assertThat(client.sendIds()).containsExactly(1L, 2L);
    }

    @Test
    void anArmedQueueCallsItsHandlerOnce() throws Exception {
        ConnectedPair pair = connectWithReceives(3);
        Endpoint server = pair.server();
        server.receiveQueue.requestNotify(CompletionQueue.Notify.ANY);
        settle();
        assertThat(server.handlerCalls).hasValue(0);
        for (int i = 0; i < 3; i++) {
            postAndSucceed(pair.client(), new SendRequest().id(i));
        }
        await(
                "all arrived and the handler was called",
                () -> server.receives.size() == 3 && server.handlerCalls.get() > 0);
        settle();
        assertThat(server.handlerCalls).hasValue(1);
    }

    @Test
    void aQueueThatIsNotArmedCallsNobody() throws Exception {
        ConnectedPair pair = connectWithReceives(1);
        postAndSucceed(pair.client(), new SendRequest().id(1));
        await("it arrives", () -> pair.server().receives.size() == 1);
        settle();
        assertThat(pair.server().handlerCalls).hasValue(0);
        assertThat(pair.client().handlerCalls).hasValue(0);
    }

    @Test
    void entriesBeforeArmingCallNobody() throws Exception {
        ConnectedPair pair = connectWithReceives(2);
        Endpoint server = pair.server();
        postAndSucceed(pair.client(), new SendRequest().id(1));
        await("it arrives", () -> server.receives.size() == 1);
        server.receiveQueue.requestNotify(CompletionQueue.Notify.ANY);
        settle();
        assertThat(server.handlerCalls).hasValue(0);
        postAndSucceed(pair.client(), new SendRequest().id(2));
        await("the handler is called", () -> server.handlerCalls.get() == 1);
    }

    @Test
    void armedForSolicitedOnlySuchMessagesAndFailuresWakeIt() throws Exception {
        ConnectedPair pair = connectWithReceives(6);
        Endpoint client = pair.client();
        Endpoint server = pair.server();
        server.receiveQueue.requestNotify(CompletionQueue.Notify.SOLICITED);
        postAndSucceed(client, new SendRequest().id(1));
        await("it arrives", () -> server.receives.size() == 1);
        settle();
        assertThat(server.handlerCalls).hasValue(0);
        postAndSucceed(client, new SendRequest().id(2).solicited(true));
        await("the solicited one wakes it", () -> server.handlerCalls.get() == 1);
        server.receiveQueue.requestNotify(CompletionQueue.Notify.ANY);
        server.receiveQueue.requestNotify(CompletionQueue.Notify.SOLICITED);
        postAndSucceed(client, new SendRequest().id(3));
        await("ANY outlives SOLICITED", () -> server.handlerCalls.get() == 2);
        await("three arrived", () -> server.receives.size() == 3);
        server.receiveQueue.requestNotify(CompletionQueue.Notify.SOLICITED);
        server.queuePair.abort();
        await("a failure wakes it", () -> server.handlerCalls.get() == 3);
    }

    @Test
    void pollArmPollStrandsNothing() throws Exception {
        ConnectedPair pair = connectWithReceives(32);
        Endpoint client = pair.client();
        Endpoint server = pair.server();
        for (int round = 0; round < 10; round++) {
            int expected = 20 * (round + 1);
            int calls = server.handlerCalls.get();
            server.poll();
            server.receiveQueue.requestNotify(CompletionQueue.Notify.ANY);
            client.queuePair
                    .postSend(IntStream.range(0, 20)
                            .mapToObj(i -> new SendRequest().id(i))
                            .toList())
                    .orThrow();
            int[] seen = {calls};
            awaitUnpolled("all arrive, polling only when woken", () -> {
                client.poll();
                if (server.handlerCalls.get() != seen[0]) {
                    seen[0] = server.handlerCalls.get();
                    server.poll();
                    server.receiveQueue.requestNotify(CompletionQueue.Notify.ANY);
                    server.poll();
                }
                return server.receives.size() == expected && client.sends.size() == expected;
            });
            server.postReceives(20);
        }
    }

    @Test
    void aHandlerMayPollAndPostAndItsExceptionsHarmNobody() throws Exception {
        Endpoint client = endpointOf(device.client(), EndpointOptions.DEFAULT);
        Endpoint server = endpointOf(device.server(), EndpointOptions.DEFAULT);
        AtomicInteger got = new AtomicInteger();
        WorkCompletion[] into = {new WorkCompletion()};
        CompletionQueue queue = own(device.server().createCompletionQueue(8, called -> {
            called.requestNotify(CompletionQueue.Notify.ANY);
            while (called.poll(into) > 0) {
                got.incrementAndGet();
            }
            throw new IllegalStateException("thrown by the test");
        }));
        var queuePair = own(server.domain.createQueuePair(new QueuePairOptions(queue, queue, 4, 4, 1)));
        for (int i = 0; i < 3; i++) {
            queuePair
                    .postReceive(new ReceiveRequest().id(i).sge(server.region, 0, 10))
                    .orThrow();
        }
        queue.requestNotify(CompletionQueue.Notify.ANY);
        try (var listen = device.server()
                .connectionManager()
                .listen(
                        device.listenAddress(),
                        4,
                        request -> request.accept(queuePair, server.options.connect(), server.events))) {
            device.client()
                    .connectionManager()
                    .connect(client.queuePair, listen.localAddress(), client.options.connect(), client.events);
            await("established", () -> client.events.isEstablished() && server.events.isEstablished());
        }
        for (int i = 0; i < 3; i++) {
            int count = i + 1;
            postAndSucceed(client, new SendRequest().id(i));
            await("the handler polled it", () -> got.get() == count);
        }
    }

    @Test
    void pollFillsNoMoreThanItWasGiven() throws Exception {
        ConnectedPair pair = connectWithReceives(5);
        for (int i = 0; i < 5; i++) {
            postAndSucceed(pair.client(), new SendRequest().id(i));
        }
        Endpoint server = pair.server();
        await("all arrived", () -> server.receives.size() == 5);
        for (int i = 0; i < 5; i++) {
            pair.server().queuePair.postSend(new RdmaWriteRequest().id(i)).orThrow();
        }
        device.settle();
        WorkCompletion[] two = {new WorkCompletion(), new WorkCompletion()};
        assertThat(server.sendQueue.poll(new WorkCompletion[0])).isZero();
        assertThat(server.sendQueue.poll(two)).isEqualTo(2);
        assertThat(two[0].id()).isZero();
        assertThat(two[1].id()).isEqualTo(1);
        server.poll();
        assertThat(server.sendIds()).isEqualTo(LongStream.range(2, 5).boxed().toList());
    }
}
