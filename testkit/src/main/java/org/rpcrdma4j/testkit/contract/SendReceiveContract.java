// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.WorkCompletion.Operation;
import org.rpcrdma4j.verbs.WorkCompletion.Status;

/** Messages. */
abstract class SendReceiveContract extends ContractCase {

    @Test
    void messagesOfManyLengthsArriveWhole() throws Exception {
        ConnectedPair pair = connect();
        Endpoint client = pair.client();
        Endpoint server = pair.server();
        int seed = 1;
        for (long length : new long[] {0, 1, 3, 4, 1023, 4096, 65_535, 65_536, 65_537, 1_000_003}) {
            Endpoint.fill(client.memory.asSlice(0, length), ++seed);
            server.queuePair
                    .postReceive(new ReceiveRequest().id(seed).sge(server.region, 8, length))
                    .orThrow();
            postAndSucceed(client, new SendRequest().id(seed).sge(client.region, 0, length));
            int count = seed - 1;
            await("message of " + length + " bytes arrives", () -> server.receives.size() == count);
            Completion last = server.receives.getLast();
            assertThat(last)
                    .isEqualTo(new Completion(
                            seed, Status.SUCCESS, Operation.RECEIVE, server.queuePair.number(), length, false, 0));
            assertThat(server.memory.asSlice(8, length).mismatch(client.memory.asSlice(0, length)))
                    .isEqualTo(-1);
        }
    }

    @Test
    void aCompletionOfASendTellsWhatItWas() throws Exception {
        ConnectedPair pair = connectWithReceives(1);
        postAndSucceed(pair.client(), new SendRequest().id(-77).sge(pair.client().region, 0, 10));
        Completion sent = pair.client().sends.getLast();
        assertThat(sent.operation()).isEqualTo(Operation.SEND);
        assertThat(sent.queuePairNumber()).isEqualTo(pair.client().queuePair.number());
        assertThat(sent.withInvalidate()).isFalse();
    }

    @Test
    void gathersAndScatters() throws Exception {
        EndpointOptions three = EndpointOptions.DEFAULT.withMaxSges(3);
        ConnectedPair pair = connect(three, three);
        Endpoint client = pair.client();
        Endpoint server = pair.server();
        Endpoint.fill(client.memory.asSlice(0, 10_000), 5);
        server.queuePair
                .postReceive(new ReceiveRequest()
                        .id(1)
                        .sge(server.region, 100, 1)
                        .sge(server.region, 300, 0)
                        .sge(server.region, 200, 9000))
                .orThrow();
        postAndSucceed(
                client,
                new SendRequest()
                        .id(2)
                        .sge(client.region, 7, 5)
                        .sge(client.region, 5000, 0)
                        .sge(client.region, 1000, 3001));
        await("it arrives", () -> server.receives.size() == 1);
        assertThat(server.receives.getFirst().byteLength()).isEqualTo(3006);
        byte[] expected = new byte[3006];
        System.arraycopy(bytesOf(client.memory.asSlice(7, 5)), 0, expected, 0, 5);
        System.arraycopy(bytesOf(client.memory.asSlice(1000, 3001)), 0, expected, 5, 3001);
        byte[] found = new byte[3006];
        System.arraycopy(bytesOf(server.memory.asSlice(100, 1)), 0, found, 0, 1);
        System.arraycopy(bytesOf(server.memory.asSlice(200, 3005)), 0, found, 1, 3005);
        assertThat(found).isEqualTo(expected);
        assertThat(bytesOf(server.memory.asSlice(3205, 100)))
                .as("behind the message")
                .containsOnly(0);
    }

    @Test
    void aReceiveMayBeLongerThanTheMessage() throws Exception {
        ConnectedPair pair = connectWithReceives(1);
        Endpoint client = pair.client();
        Endpoint server = pair.server();
        Endpoint.fill(client.memory.asSlice(0, 100), 3);
        postAndSucceed(client, new SendRequest().id(1).sge(client.region, 0, 100));
        await("it arrives", () -> server.receives.size() == 1);
        Completion got = server.receives.getFirst();
        assertThat(got.byteLength()).isEqualTo(100);
        assertThat(bytesOf(server.memory.asSlice(got.id() + 100, 3996))).containsOnly(0);
    }

    @Test
    void aReceiveThatIsTooShortEndsTheConnection() throws Exception {
        ConnectedPair pair = connect();
        Endpoint client = pair.client();
        Endpoint server = pair.server();
        server.queuePair
                .postReceive(List.of(
                        new ReceiveRequest().id(1).sge(server.region, 0, 99),
                        new ReceiveRequest().id(2).sge(server.region, 200, 99)))
                .orThrow();
        Endpoint.fill(client.memory.asSlice(0, 100), 3);
        client.queuePair
                .postSend(new SendRequest().id(1).sge(client.region, 0, 100))
                .orThrow();
        awaitError(pair);
        await("both Receives complete", () -> server.receives.size() == 2);
        assertThat(server.receives.get(0).status()).isEqualTo(Status.LOCAL_LENGTH_ERROR);
        assertThat(server.receives.get(1).status()).isEqualTo(Status.FLUSHED);
        assertThat(bytesOf(server.memory.asSlice(99, 300)))
                .as("nothing behind the Receive")
                .containsOnly(0);
    }

    @Test
    void aMessageWithoutReceiveEndsTheConnection() throws Exception {
        ConnectedPair pair = connectWithReceives(1);
        Endpoint client = pair.client();
        postAndSucceed(client, new SendRequest().id(1).sge(client.region, 0, 10));
        client.queuePair
                .postSend(new SendRequest().id(2).sge(client.region, 0, 10))
                .orThrow();
        awaitError(pair);
        await("the second Send completes", () -> client.sends.size() == 2);
        assertThat(pair.server().receives).hasSize(1).allMatch(Completion::isSuccess);
    }

    @Test
    void messagesArriveInOrderAndUseReceivesInOrder() throws Exception {
        ConnectedPair pair = connectWithReceives(32);
        Endpoint client = pair.client();
        Endpoint server = pair.server();
        List<Long> expectedIds = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            client.memory.asSlice(i * 8L, 1).fill((byte) i);
            postAndSucceed(client, new SendRequest().id(i).sge(client.region, i * 8L, 1 + i % 5));
            int count = i + 1;
            await("message " + i, () -> server.receives.size() == count);
            expectedIds.add(Endpoint.MEMORY_BYTES / 2 + (long) i * Endpoint.RECEIVE_BYTES);
            Completion got = server.receives.getLast();
            assertThat(got.byteLength()).isEqualTo(1 + i % 5);
            assertThat(bytesOf(server.memory.asSlice(got.id(), 1))).containsExactly((byte) i);
            server.postReceives(1);
        }
        assertThat(server.receiveIds()).isEqualTo(expectedIds);
    }

    @Test
    void bothSidesSendAtOnce() throws Exception {
        EndpointOptions options = EndpointOptions.DEFAULT.withReceives(30);
        ConnectedPair pair = connect(options, options);
        for (int i = 0; i < 30; i++) {
            for (Endpoint end : List.of(pair.client(), pair.server())) {
                end.queuePair
                        .postSend(new SendRequest().id(i).sge(end.region, 0, 4000))
                        .orThrow();
            }
        }
        await(
                "all are done",
                () -> pair.client().receives.size() == 30
                        && pair.server().receives.size() == 30
                        && pair.client().sends.size() == 30
                        && pair.server().sends.size() == 30);
        assertThat(pair.client().all).allMatch(Completion::isSuccess);
        assertThat(pair.server().all).allMatch(Completion::isSuccess);
    }

    @Test
    void aWorkRequestObjectIsTheCallersAgainOnceThePostReturned() throws Exception {
        ConnectedPair pair = connectWithReceives(2);
        Endpoint client = pair.client();
        Endpoint.fill(client.memory.asSlice(0, 16), 9);
        SendRequest request = new SendRequest().id(1).sge(client.region, 0, 8);
        client.queuePair.postSend(request).orThrow();
        request.id(2).clearSges().sge(client.region, 8, 4);
        client.queuePair.postSend(request).orThrow();
        request.id(3).clearSges();
        await("both arrive", () -> pair.server().receives.size() == 2 && client.sends.size() == 2);
        assertThat(client.sendIds()).containsExactly(1L, 2L);
        assertThat(pair.server().receives.stream().map(Completion::byteLength)).containsExactly(8L, 4L);
        MemorySegment got = pair.server().memory;
        assertThat(got.asSlice(pair.server().receives.get(0).id(), 8).mismatch(client.memory.asSlice(0, 8)))
                .isEqualTo(-1);
    }

    @Test
    void aQueuePairCanTalkToAnotherOneOfItsOwnDevice() throws Exception {
        Endpoint client = endpointOf(device.server(), EndpointOptions.DEFAULT);
        Endpoint server = endpointOf(device.server(), EndpointOptions.DEFAULT.withReceives(1));
        try (var listen = device.server()
                .connectionManager()
                .listen(device.listenAddress(), 4, request -> accept(request, server))) {
            device.server()
                    .connectionManager()
                    .connect(client.queuePair, listen.localAddress(), client.options.connect(), client.events);
            await("both are established", () -> client.events.isEstablished() && server.events.isEstablished());
        }
        postAndSucceed(client, new SendRequest().id(1).sge(client.region, 0, 10));
        await("it arrives", () -> server.receives.size() == 1);
    }
}
