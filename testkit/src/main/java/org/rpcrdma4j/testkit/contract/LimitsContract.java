// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.DeviceAttributes;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.ProtectionDomain;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.QueuePairOptions;
import org.rpcrdma4j.verbs.RdmaReadRequest;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.RegisterRequest;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.cm.ConnectOptions;

/** Bounds, and what happens at them. */
abstract class LimitsContract extends ContractCase {

    private static void assertRefused(PostResult result, int firstBad, PostResult.Reason reason) {
        assertThat(result).isInstanceOfSatisfying(PostResult.Refused.class, refused -> {
            assertThat(refused.reason()).as("%s", refused).isEqualTo(reason);
            assertThat(refused.firstBad()).isEqualTo(firstBad);
            assertThat(refused.detail()).isNotEmpty();
        });
    }

    @Test
    void attributesMakeSense() {
        DeviceAttributes attributes = device.client().attributes();
        assertThat(attributes.maxQueuePairs()).isPositive();
        assertThat(attributes.maxWorkRequests()).isPositive();
        assertThat(attributes.maxSges()).isPositive();
        assertThat(attributes.maxReadSges()).isBetween(1, attributes.maxSges());
        assertThat(attributes.pageBytes()).isPositive();
        assertThat(attributes.maxMessageBytes()).isBetween(1L << 20, 0xFFFF_FFFFL);
        assertThat(attributes).isEqualTo(device.client().attributes());
        assertThat(device.client().name()).isNotEmpty();
    }

    @Test
    void aFullSendQueueIsBackPressure() throws Exception {
        EndpointOptions four = EndpointOptions.DEFAULT.withDepths(4, 4);
        ConnectedPair pair = connect(four, EndpointOptions.DEFAULT.withReceives(20));
        Endpoint client = pair.client();
        for (int i = 0; i < 4; i++) {
            client.queuePair.postSend(new SendRequest().id(i)).orThrow();
        }
        assertRefused(client.queuePair.postSend(new SendRequest().id(4)), 0, PostResult.Reason.QUEUE_FULL);
        device.settle();
        assertRefused(client.queuePair.postSend(new SendRequest().id(4)), 0, PostResult.Reason.QUEUE_FULL);
        await("all complete", () -> client.sends.size() == 4);
        for (int i = 4; i < 8; i++) {
            postAndSucceed(client, new SendRequest().id(i));
        }
        assertThat(client.events.hasEnded()).isFalse();
        await("all arrive", () -> pair.server().receives.size() == 8);
    }

    @Test
    void unsignaledRequestsGiveTheirPlaceBackWithALaterSignaledOne() throws Exception {
        EndpointOptions four = EndpointOptions.DEFAULT.withDepths(4, 4);
        ConnectedPair pair = connect(four, EndpointOptions.DEFAULT);
        Endpoint client = pair.client();
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < 3; i++) {
                client.queuePair
                        .postSend(new RdmaWriteRequest().id(i).signaled(false))
                        .orThrow();
            }
            postAndSucceed(client, new RdmaWriteRequest().id(3));
        }
        assertThat(client.sends).hasSize(20);
    }

    @Test
    void aChainThatDoesNotFitIsPostedAsFarAsItDoes() throws Exception {
        EndpointOptions four = EndpointOptions.DEFAULT.withDepths(4, 4);
        ConnectedPair pair = connect(four, EndpointOptions.DEFAULT.withReceives(20));
        Endpoint client = pair.client();
        assertRefused(
                client.queuePair.postSend(IntStream.range(0, 6)
                        .mapToObj(i -> new SendRequest().id(i))
                        .toList()),
                4,
                PostResult.Reason.QUEUE_FULL);
        await("four complete", () -> client.sends.size() == 4);
        settle();
        assertThat(client.sendIds()).containsExactly(0L, 1L, 2L, 3L);
    }

    @Test
    void aFullReceiveQueueIsBackPressure() throws Exception {
        EndpointOptions four = EndpointOptions.DEFAULT.withDepths(4, 4);
        ConnectedPair pair = connect(EndpointOptions.DEFAULT, four.withReceives(4));
        Endpoint server = pair.server();
        assertRefused(server.queuePair.postReceive(new ReceiveRequest()), 0, PostResult.Reason.QUEUE_FULL);
        postAndSucceed(pair.client(), new SendRequest().id(1));
        await("it arrives", () -> server.receives.size() == 1);
        server.queuePair.postReceive(new ReceiveRequest()).orThrow();
        assertRefused(server.queuePair.postReceive(new ReceiveRequest()), 0, PostResult.Reason.QUEUE_FULL);
        assertThat(server.events.hasEnded()).isFalse();
    }

    @Test
    void tooManyEntriesAreRefused() throws Exception {
        ConnectedPair pair = connect();
        Endpoint client = pair.client();
        SendRequest send = new SendRequest();
        RdmaWriteRequest write = new RdmaWriteRequest();
        ReceiveRequest receive = new ReceiveRequest();
        for (int i = 0; i <= client.options.maxSges(); i++) {
            send.sge(client.region, i, 1);
            write.sge(client.region, i, 1);
            receive.sge(client.region, i, 1);
        }
        RdmaReadRequest read = new RdmaReadRequest();
        for (int i = 0; i <= client.device.attributes().maxReadSges(); i++) {
            read.sge(client.region, i, 1);
        }
        assertRefused(client.queuePair.postSend(send), 0, PostResult.Reason.INVALID_REQUEST);
        assertRefused(client.queuePair.postSend(write), 0, PostResult.Reason.INVALID_REQUEST);
        assertRefused(client.queuePair.postSend(read), 0, PostResult.Reason.INVALID_REQUEST);
        assertRefused(client.queuePair.postReceive(receive), 0, PostResult.Reason.INVALID_REQUEST);
        settle();
        assertThat(client.all).isEmpty();
        assertThat(client.events.hasEnded()).isFalse();
    }

    @Test
    void messagesOf4GiBAreRefused() throws Exception {
        ConnectedPair pair = connect();
        Endpoint client = pair.client();
        assertRefused(
                client.queuePair.postSend(
                        new SendRequest().sge(client.region, 0, 0xFFFF_FFFFL).sge(client.region, 0, 1)),
                0,
                PostResult.Reason.INVALID_REQUEST);
        assertRefused(
                client.queuePair.postSend(new RdmaWriteRequest()
                        .sge(client.region, 0, 0x8000_0000L)
                        .sge(client.region, 0, 0x8000_0000L)
                        .target(1, 1)),
                0,
                PostResult.Reason.INVALID_REQUEST);
        assertThat(client.events.hasEnded()).isFalse();
    }

    @Test
    void aRegistrationWithoutRegionIsRefused() throws Exception {
        requireFastRegistration();
        Endpoint client = connect().client();
        assertRefused(client.queuePair.postSend(new RegisterRequest()), 0, PostResult.Reason.INVALID_REQUEST);
        assertThat(client.events.hasEnded()).isFalse();
    }

    @Test
    void aReadWithoutOutboundReadsIsRefused() throws Exception {
        ConnectedPair pair = connect(
                EndpointOptions.DEFAULT.withConnect(
                        ConnectOptions.DEFAULT.withPeerToPeer(true).withReads(4, 0)),
                EndpointOptions.DEFAULT);
        assertThat(pair.client().events.established().outboundReads()).isZero();
        PostResult result = pair.client().queuePair.postSend(new RdmaReadRequest().sge(pair.client().region, 0, 1));
        assertRefused(result, 0, PostResult.Reason.INVALID_REQUEST);
    }

    @Test
    void anEmptyChainIsPosted() throws Exception {
        Endpoint client = connect().client();
        assertThat(client.queuePair.postSend(List.<SendRequest>of()).isPosted()).isTrue();
        assertThat(client.queuePair.postReceive(List.of()).isPosted()).isTrue();
    }

    @Test
    void completionQueuesAreBigEnoughForAllTheirQueues() {
        ProtectionDomain domain = own(device.client().allocateProtectionDomain());
        CompletionQueue eight = own(device.client().createCompletionQueue(8, null));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> domain.createQueuePair(new QueuePairOptions(eight, eight, 5, 4, 1))
                        .close());
        QueuePair first = domain.createQueuePair(new QueuePairOptions(eight, eight, 3, 2, 1));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> domain.createQueuePair(new QueuePairOptions(eight, eight, 3, 1, 1))
                        .close());
        first.close();
        own(domain.createQueuePair(new QueuePairOptions(eight, eight, 4, 4, 1)));
        assertThat(eight.capacity()).isGreaterThanOrEqualTo(8);
    }

    @Test
    void refusesDepthsAndCapacitiesBeyondTheDevicesLimits() {
        DeviceAttributes attributes = device.client().attributes();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> device.client().createCompletionQueue(0, null).close());
        if (attributes.maxCompletions() < Integer.MAX_VALUE) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> device.client()
                            .createCompletionQueue(attributes.maxCompletions() + 1, null)
                            .close());
        }
        ProtectionDomain domain = own(device.client().allocateProtectionDomain());
        CompletionQueue queue = own(device.client().createCompletionQueue(16, null));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> domain.createQueuePair(
                                new QueuePairOptions(queue, queue, attributes.maxWorkRequests() + 1, 1, 1))
                        .close());
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () -> domain.createQueuePair(new QueuePairOptions(queue, queue, 1, 1, attributes.maxSges() + 1))
                                .close());
    }
}
