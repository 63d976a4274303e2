// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.LocalInvalidateRequest;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.RdmaReadRequest;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.WorkCompletion.Status;

/** The rules O1 to O9 of {@link org.rpcrdma4j.verbs.QueuePair}, each by its name. */
abstract class OrderingContract extends ContractCase {

    @Test
    void o1_aRegistrationIsInEffectBeforeALaterSendIsSeen() throws Exception {
        ConnectedPair pair = connectWithReceives(10);
        Endpoint client = pair.client();
        Endpoint server = pair.server();
        MemorySegment memory = client.bytes(5000, 9);
        FastRegion region = fastRegion(client, memory);
        for (int i = 0; i < 10; i++) {
            int key = region.advanceKey();
            client.queuePair
                    .postSend(List.of(
                            registration(region, Access.REMOTE_READ)
                                    .region(region, key)
                                    .signaled(false),
                            new SendRequest().id(i).signaled(false)))
                    .orThrow();
            int count = i + 1;
            await("the Send arrives", () -> server.receives.size() == count);
            postAndSucceed(
                    server,
                    new RdmaReadRequest().id(i).sge(server.region, 0, 5000).source(key, region.remoteAddress()));
            assertThat(server.memory.asSlice(0, 5000).mismatch(memory)).isEqualTo(-1);
            postAndSucceed(client, new LocalInvalidateRequest().id(i).key(key));
        }
    }

    @Test
    void o2_invalidationsAndRegistrationsOfOneQueueKeepTheirOrder() throws Exception {
        Endpoint client = connect().client();
        FastRegion region = fastRegion(client, client.bytes(100, 1));
        List<SendQueueRequest> chain = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            int key = region.advanceKey();
            chain.add(
                    registration(region, Access.REMOTE_READ).region(region, key).signaled(false));
            chain.add(new LocalInvalidateRequest().id(i).signaled(i == 9).key(key));
        }
        client.queuePair.postSend(chain).orThrow();
        await("the last invalidation completes", () -> client.sends.size() == 1);
        assertThat(client.sends.getFirst().status()).isEqualTo(Status.SUCCESS);
        assertThat(region.state()).isEqualTo(FastRegion.State.INVALID);
    }

    @Test
    void o3_completionsComeInPostingOrderAlsoBehindAnUnansweredRead() throws Exception {
        ConnectedPair pair = connectWithReceives(10);
        Endpoint client = pair.client();
        MemorySegment source = pair.server().bytes(200_000, 4);
        MemoryRegion region = pair.server().own(pair.server().domain.register(source, Access.REMOTE_READ_WRITE));
        List<Long> ids = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            ids.addAll(List.of(3L * i, 3L * i + 1, 3L * i + 2));
            client.queuePair
                    .postSend(List.of(
                            new RdmaReadRequest()
                                    .id(3L * i)
                                    .sge(client.region, 0, 150_000)
                                    .source(region.remoteKey(), region.remoteAddress()),
                            new RdmaWriteRequest()
                                    .id(3L * i + 1)
                                    .sge(client.region, 160_000, 100)
                                    .target(region.remoteKey(), region.remoteAddress() + 199_000),
                            new SendRequest().id(3L * i + 2)))
                    .orThrow();
        }
        await("all complete", () -> client.sends.size() == 30);
        assertThat(client.sendIds()).isEqualTo(ids);
        assertThat(client.sends).allMatch(Completion::isSuccess);
    }

    @Test
    void o3_aSignaledCompletionImpliesAllEarlierOnes() throws Exception {
        ConnectedPair pair = connect();
        Endpoint client = pair.client();
        MemorySegment source = pair.server().bytes(100_000, 4);
        MemoryRegion region = pair.server().own(pair.server().domain.register(source, Access.REMOTE_READ));
        client.queuePair
                .postSend(List.of(
                        new RdmaReadRequest()
                                .id(1)
                                .signaled(false)
                                .sge(client.region, 0, 100_000)
                                .source(region.remoteKey(), region.remoteAddress()),
                        new RdmaWriteRequest().id(2).target(region.remoteKey(), region.remoteAddress())))
                .orThrow();
        await("the Write completes", () -> client.sends.size() == 1);
        assertThat(client.sends.getFirst().id()).isEqualTo(2);
        assertThat(client.memory.asSlice(0, 100_000).mismatch(source)).isEqualTo(-1);
    }

    @Test
    void o4_inErrorEveryOutstandingRequestYieldsExactlyOneCompletion() throws Exception {
        ConnectedPair pair = connectWithReceives(20);
        Endpoint client = pair.client();
        client.postReceives(20);
        MemorySegment source = pair.server().bytes(1_000_000, 4);
        MemoryRegion region = pair.server().own(pair.server().domain.register(source, Access.REMOTE_READ));
        for (int i = 0; i < 10; i++) {
            client.queuePair
                    .postSend(new RdmaReadRequest()
                            .id(i)
                            .sge(client.region, 0, 1_000_000)
                            .source(region.remoteKey(), region.remoteAddress()))
                    .orThrow();
        }
        for (int i = 10; i < 20; i++) {
            client.queuePair
                    .postSend(new SendRequest().id(i).signaled(false).fence(true))
                    .orThrow();
        }
        pair.server().queuePair.abort();
        awaitError(pair);
        await(
                "all complete",
                () -> client.receives.size() == 20 && pair.server().receives.size() == 20);
        await(
                "the reads complete",
                () -> client.sends.stream().filter(c -> c.id() < 10).count() == 10);
        settle();
        assertThat(client.sendIds()).doesNotHaveDuplicates().isSorted();
        assertThat(client.receives).allMatch(Completion::isFlushed);
        assertThat(client.receiveIds()).doesNotHaveDuplicates().isSorted();
        boolean readsAllDone = client.sends.stream().filter(c -> c.id() < 10).allMatch(Completion::isSuccess);
        if (!readsAllDone) {
            assertThat(client.sendIds())
                    .as("fenced requests behind a Read that failed")
                    .isEqualTo(LongStream.range(0, 20).boxed().toList());
        }
    }

    @Test
    void o5_postingAChainIsPrefixAtomic() throws Exception {
        ConnectedPair pair = connectWithReceives(5);
        Endpoint client = pair.client();
        List<SendRequest> chain = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            chain.add(new SendRequest().id(i));
        }
        for (int entries = 0; entries <= client.options.maxSges(); entries++) {
            chain.get(3).sge(client.region, entries, 1);
        }
        PostResult result = client.queuePair.postSend(chain);
        assertThat(result).isInstanceOfSatisfying(PostResult.Refused.class, refused -> {
            assertThat(refused.firstBad()).isEqualTo(3);
            assertThat(refused.reason()).isEqualTo(PostResult.Reason.INVALID_REQUEST);
        });
        await(
                "three complete",
                () -> client.sends.size() == 3 && pair.server().receives.size() == 3);
        settle();
        assertThat(client.sendIds()).containsExactly(0L, 1L, 2L);
        assertThat(pair.server().receives).hasSize(3);
    }

    @Test
    void o5_postingReceivesIsPrefixAtomic() throws Exception {
        ConnectedPair pair = connect();
        Endpoint server = pair.server();
        ReceiveRequest bad = new ReceiveRequest().id(2);
        for (int entries = 0; entries <= server.options.maxSges(); entries++) {
            bad.sge(server.region, entries, 1);
        }
        PostResult result = server.queuePair.postReceive(
                List.of(new ReceiveRequest().id(0), new ReceiveRequest().id(1), bad, new ReceiveRequest().id(3)));
        assertThat(result)
                .isInstanceOfSatisfying(
                        PostResult.Refused.class,
                        refused -> assertThat(refused.firstBad()).isEqualTo(2));
        server.queuePair.abort();
        await("two are flushed", () -> server.receives.size() == 2);
        settle();
        assertThat(server.receiveIds()).containsExactly(0L, 1L);
    }

    @Test
    void o6_writesArePlacedBeforeTheReceiveOfALaterSendCompletes() throws Exception {
        ConnectedPair pair = connectWithReceives(20);
        Endpoint client = pair.client();
        Endpoint server = pair.server();
        MemorySegment target = server.arena.allocate(100_000, 4096);
        MemoryRegion region = server.own(server.domain.register(target, Access.REMOTE_WRITE));
        for (int round = 1; round <= 20; round++) {
            client.memory.asSlice(0, 100_000).fill((byte) round);
            client.queuePair
                    .postSend(List.of(
                            new RdmaWriteRequest()
                                    .signaled(false)
                                    .sge(client.region, 0, 50_000)
                                    .target(region.remoteKey(), region.remoteAddress()),
                            new RdmaWriteRequest()
                                    .signaled(false)
                                    .sge(client.region, 0, 50_000)
                                    .target(region.remoteKey(), region.remoteAddress() + 50_000),
                            new SendRequest().id(round)))
                    .orThrow();
            int count = round;
            await("the Send arrives", () -> server.receives.size() == count);
            assertThat(target.mismatch(client.memory.asSlice(0, 100_000))).isEqualTo(-1);
            await("the Send completes", () -> client.sends.size() == count);
        }
    }

    @Test
    void o7_aReceiveThatInvalidatedFindsTheRegionInvalid() throws Exception {
        ConnectedPair pair = connect();
        Endpoint client = pair.client();
        client.postReceives(10);
        FastRegion region = fastRegion(client, client.bytes(100, 1));
        for (int i = 0; i < 10; i++) {
            postAndSucceed(client, registration(region, Access.REMOTE_READ_WRITE));
            int key = region.remoteKey();
            pair.server()
                    .queuePair
                    .postSend(new SendRequest().id(i).invalidate(key))
                    .orThrow();
            int count = i + 1;
            await("the message arrives", () -> client.receives.size() == count);
            assertThat(region.state()).isEqualTo(FastRegion.State.INVALID);
            assertThat(client.receives.getLast().withInvalidate()).isTrue();
            assertThat(client.receives.getLast().invalidatedKey()).isEqualTo(key);
        }
    }

    @Test
    void o8_drainEndsOnlyWhenEverythingWasPolledAndNothingComesAfter() throws Exception {
        ConnectedPair pair = connectWithReceives(10);
        Endpoint server = pair.server();
        server.queuePair.postSend(new RdmaWriteRequest().id(1)).orThrow();
        CompletableFuture<Void> drain = server.queuePair.drain();
        device.settle();
        assertThat(drain).as("nothing was polled").isNotDone();
        awaitDrain(drain);
        assertThat(server.sends).hasSize(1);
        assertThat(server.receives).hasSize(10);
        settle();
        assertThat(server.all).hasSize(11);
    }

    @Test
    void o9_afterALocalInvalidationTheMemoryDoesNotChange() throws Exception {
        for (int round = 0; round < 8; round++) {
            ConnectedPair pair = connect();
            Endpoint client = pair.client();
            Endpoint server = pair.server();
            MemorySegment target = server.arena.allocate(400_000, 4096);
            FastRegion region = register(server, target, Access.REMOTE_WRITE);
            Endpoint.fill(client.memory.asSlice(0, 400_000), 1);
            for (int i = 0; i < 4; i++) {
                client.queuePair
                        .postSend(new RdmaWriteRequest()
                                .id(i)
                                .sge(client.region, 0, 400_000)
                                .target(region.remoteKey(), region.remoteAddress()))
                        .orThrow();
            }
            int many = 1 + round * 50_000;
            await(
                    "part of it is placed",
                    () -> target.get(ValueLayout.JAVA_BYTE, many) == client.memory.get(ValueLayout.JAVA_BYTE, many));
            server.queuePair
                    .postSend(new LocalInvalidateRequest().id(9).key(region.remoteKey()))
                    .orThrow();
            await("the invalidation completes", () -> server.sends.stream().anyMatch(c -> c.id() == 9));
            if (server.sends.getLast().isSuccess()) {
                target.fill((byte) 0x5A);
                settle();
                assertThat(bytesOf(target)).containsOnly(0x5A);
            }
        }
    }
}
