// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.LocalInvalidateRequest;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.RdmaReadRequest;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.WorkCompletion.Status;

/** Failures of local memory, states that refuse work, and the flush. */
abstract class ErrorsContract extends ContractCase {

    private void expectProtectionError(ConnectedPair pair, SendQueueRequest request) {
        postAndAwait(pair.client(), request);
        assertThat(pair.client().sends.getLast().status())
                .as("%s", describe())
                .isEqualTo(Status.LOCAL_PROTECTION_ERROR);
        awaitError(pair);
        assertThat(pair.server().receives).noneMatch(Completion::isSuccess);
    }

    @Test
    void sendingFromOutsideOfARegionFails() throws Exception {
        ConnectedPair pair = connectWithReceives(1);
        expectProtectionError(pair, new SendRequest().id(1).sge(pair.client().region, Endpoint.MEMORY_BYTES - 10, 11));
    }

    @Test
    void sendingFromAClosedRegionFails() throws Exception {
        ConnectedPair pair = connectWithReceives(1);
        MemoryRegion region = pair.client().domain.register(pair.client().bytes(100, 1), Access.LOCAL_READ);
        region.close();
        expectProtectionError(pair, new SendRequest().id(1).sge(region, 0, 10));
    }

    @Test
    void sendingFromARegionOfAnotherDomainFails() throws Exception {
        ConnectedPair pair = connectWithReceives(1);
        ConnectedPair other = connect();
        expectProtectionError(pair, new SendRequest().id(1).sge(other.client().region, 0, 10));
    }

    @Test
    void sendingFromAnInvalidFastRegionFails() throws Exception {
        ConnectedPair pair = connectWithReceives(1);
        MemoryRegion region = fastRegion(pair.client(), pair.client().bytes(100, 1));
        expectProtectionError(pair, new SendRequest().id(1).sge(region, 0, 10));
    }

    @Test
    void readingIntoMemoryWithoutLocalWriteFails() throws Exception {
        ConnectedPair pair = connect();
        MemorySegment sink = pair.client().bytes(100, 1);
        byte[] before = bytesOf(sink);
        MemoryRegion region = pair.client().own(pair.client().domain.register(sink, Access.LOCAL_READ));
        MemoryRegion source =
                pair.server().own(pair.server().domain.register(pair.server().bytes(100, 2), Access.REMOTE_READ));
        expectProtectionError(
                pair,
                new RdmaReadRequest().id(1).sge(region, 0, 100).source(source.remoteKey(), source.remoteAddress()));
        assertThat(bytesOf(sink)).isEqualTo(before);
    }

    @Test
    void receivingIntoMemoryWithoutLocalWriteFails() throws Exception {
        ConnectedPair pair = connect();
        Endpoint server = pair.server();
        MemorySegment sink = server.bytes(100, 1);
        byte[] before = bytesOf(sink);
        MemoryRegion region = server.own(server.domain.register(sink, Access.LOCAL_READ));
        server.queuePair
                .postReceive(new ReceiveRequest().id(1).sge(region, 0, 100))
                .orThrow();
        pair.client()
                .queuePair
                .postSend(new SendRequest().id(1).sge(pair.client().region, 0, 10))
                .orThrow();
        awaitError(pair);
        await("the Receive completes", () -> server.receives.size() == 1);
        assertThat(server.receives.getFirst().status()).isEqualTo(Status.LOCAL_PROTECTION_ERROR);
        assertThat(bytesOf(sink)).isEqualTo(before);
    }

    @Test
    void aRegionClosedWhileTheDeviceUsesItIsNotTouchedAnyMore() throws Exception {
        for (int round = 0; round < 5; round++) {
            ConnectedPair pair = connect();
            Endpoint server = pair.server();
            MemorySegment target = server.arena.allocate(500_000, 4096);
            MemoryRegion region = server.domain.register(target, Access.REMOTE_WRITE);
            Endpoint.fill(pair.client().memory.asSlice(0, 500_000), 1);
            for (int i = 0; i < 4; i++) {
                pair.client()
                        .queuePair
                        .postSend(new RdmaWriteRequest()
                                .id(i)
                                .sge(pair.client().region, 0, 500_000)
                                .target(region.remoteKey(), region.remoteAddress()))
                        .orThrow();
            }
            byte first = pair.client().memory.get(ValueLayout.JAVA_BYTE, 1);
            await("it has begun", () -> target.get(ValueLayout.JAVA_BYTE, 1) == first);
            region.close();
            target.fill((byte) 0x5A);
            settle();
            assertThat(bytesOf(target)).containsOnly(0x5A);
        }
    }

    @Test
    void theFailedRequestHasItsOwnStatusAndAllLaterOnesAreFlushed() throws Exception {
        requireFastRegistration();
        ConnectedPair pair = connectWithReceives(4);
        Endpoint client = pair.client();
        client.postReceives(2);
        client.queuePair
                .postSend(List.of(
                        new RdmaWriteRequest().id(0),
                        new LocalInvalidateRequest().id(1).signaled(false).key(0x7654_3210),
                        new SendRequest().id(2).signaled(false),
                        new SendRequest().id(3)))
                .orThrow();
        awaitError(pair);
        await("all complete", () -> client.sends.size() == 4 && client.receives.size() == 2);
        settle();
        assertThat(client.sendIds()).containsExactly(0L, 1L, 2L, 3L);
        assertThat(client.sends.get(1).status()).isEqualTo(Status.LOCAL_QP_OPERATION_ERROR);
        assertThat(client.sends.get(2).status()).isEqualTo(Status.FLUSHED);
        assertThat(client.sends.get(3).status()).isEqualTo(Status.FLUSHED);
        assertThat(client.receives).hasSize(2).allMatch(Completion::isFlushed);
        assertThat(pair.server().receives).hasSize(4).allMatch(Completion::isFlushed);
    }

    @Test
    void theStateDecidesWhatIsTaken() throws Exception {
        Endpoint client = endpointOf(device.client(), EndpointOptions.DEFAULT);
        Endpoint server = endpointOf(device.server(), EndpointOptions.DEFAULT);
        assertThat(client.queuePair.state()).isEqualTo(QueuePair.State.IDLE);
        assertRefusedForState(client.queuePair.postSend(new SendRequest()));
        client.postReceives(1);
        ConnectedPair pair = connect(client, server);
        assertThat(client.queuePair.state()).isEqualTo(QueuePair.State.CONNECTED);
        client.postReceives(1);
        client.queuePair.disconnect();
        if (client.queuePair.state() == QueuePair.State.CLOSING) {
            PostResult send = client.queuePair.postSend(new SendRequest());
            PostResult receive = client.queuePair.postReceive(new ReceiveRequest());
            if (client.queuePair.state() == QueuePair.State.CLOSING) {
                assertRefusedForState(send);
                assertRefusedForState(receive);
            }
        }
        awaitError(pair);
        await("the Receives are flushed", () -> client.receives.size() >= 2);
    }

    private static void assertRefusedForState(PostResult result) {
        assertThat(result).isInstanceOfSatisfying(PostResult.Refused.class, refused -> {
            assertThat(refused.reason()).isEqualTo(PostResult.Reason.WRONG_STATE);
            assertThat(refused.firstBad()).isZero();
        });
    }

    @Test
    void inErrorAllWorkIsTakenAndFlushed() throws Exception {
        ConnectedPair pair = connect();
        Endpoint client = pair.client();
        client.queuePair.abort();
        assertThat(client.queuePair.state()).isEqualTo(QueuePair.State.ERROR);
        client.queuePair
                .postSend(List.of(
                        new SendRequest().id(1), new RdmaWriteRequest().id(2).signaled(false), new SendRequest().id(3)))
                .orThrow();
        client.queuePair.postReceive(new ReceiveRequest().id(4)).orThrow();
        await("all complete", () -> client.sends.size() == 3 && client.receives.size() == 1);
        assertThat(client.sendIds()).containsExactly(1L, 2L, 3L);
        assertThat(client.all).allMatch(Completion::isFlushed);
        awaitError(pair);
    }

    @Test
    void aPeerThatVanishesFlushesEachRequestOnce() throws Exception {
        EndpointOptions options = EndpointOptions.DEFAULT.withReceives(10);
        ConnectedPair pair = connect(options, options);
        Endpoint client = pair.client();
        MemoryRegion source =
                pair.server().own(pair.server().domain.register(pair.server().bytes(1_000_000, 1), Access.REMOTE_READ));
        for (int i = 0; i < 6; i++) {
            client.queuePair
                    .postSend(new RdmaReadRequest()
                            .id(i)
                            .sge(client.region, 0, 1_000_000)
                            .source(source.remoteKey(), source.remoteAddress()))
                    .orThrow();
        }
        pair.server().queuePair.close();
        await("the client is told", () -> isDead(client));
        await("all complete", () -> client.sends.size() == 6 && client.receives.size() == 10);
        settle();
        assertThat(client.sendIds()).containsExactly(0L, 1L, 2L, 3L, 4L, 5L);
        assertThat(client.receives).hasSize(10).allMatch(Completion::isFlushed);
    }

    @Test
    void anAbortStopsTheDeviceFromTouchingReceives() throws Exception {
        for (int round = 0; round < 5; round++) {
            ConnectedPair pair = connect();
            Endpoint server = pair.server();
            MemorySegment sink = server.memory.asSlice(0, 500_000);
            server.queuePair
                    .postReceive(List.of(
                            new ReceiveRequest().id(1).sge(server.region, 0, 500_000),
                            new ReceiveRequest().id(2).sge(server.region, 0, 500_000)))
                    .orThrow();
            Endpoint.fill(pair.client().memory.asSlice(0, 500_000), 1);
            for (int i = 0; i < 2; i++) {
                pair.client()
                        .queuePair
                        .postSend(new SendRequest().id(i).sge(pair.client().region, 0, 500_000))
                        .orThrow();
            }
            byte first = pair.client().memory.get(ValueLayout.JAVA_BYTE, 1);
            await("it has begun", () -> sink.get(ValueLayout.JAVA_BYTE, 1) == first);
            server.queuePair.abort();
            await("both Receives completed", () -> server.receives.size() == 2);
            sink.fill((byte) 0x5A);
            settle();
            assertThat(bytesOf(sink)).containsOnly(0x5A);
        }
    }
}
