// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.cm.ConnectOptions;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectRequest;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;
import org.rpcrdma4j.verbs.cm.Disconnect;
import org.rpcrdma4j.verbs.cm.ListenEndpoint;
import org.rpcrdma4j.verbs.cm.Octets;

/** Connecting, refusing and ending. */
abstract class ConnectionContract extends ContractCase {

    private final List<ConnectRequest> requests = new CopyOnWriteArrayList<>();

    private ListenEndpoint listen(int backlog) throws IOException {
        return own(device.server().connectionManager().listen(device.listenAddress(), backlog, requests::add));
    }

    private Endpoint dial(ListenEndpoint listen, ConnectOptions options) {
        Endpoint client = endpointOf(device.client(), EndpointOptions.DEFAULT);
        device.client().connectionManager().connect(client.queuePair, listen.localAddress(), options, client.events);
        return client;
    }

    private Endpoint server() {
        return endpointOf(device.server(), EndpointOptions.DEFAULT);
    }

    private static Octets octets(int length, int seed) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = Endpoint.patternAt(seed, i);
        }
        return Octets.of(bytes);
    }

    @Test
    void privateDataGoesBothWays() throws Exception {
        int max = Math.min(
                device.client().attributes().maxPrivateDataBytes(),
                device.server().attributes().maxPrivateDataBytes());
        ListenEndpoint listen = listen(4);
        int seed = 0;
        for (int length : new int[] {0, 1, 8, 56, max}) {
            requests.clear();
            Octets there = octets(length, ++seed);
            Octets back = octets(max - length, ++seed);
            Endpoint client = dial(listen, ConnectOptions.DEFAULT.withPrivateData(there));
            await("the request arrives", () -> !requests.isEmpty());
            Endpoint server = server();
            assertThat(requests.getFirst().privateData()).isEqualTo(there);
            requests.getFirst().accept(server.queuePair, ConnectOptions.DEFAULT.withPrivateData(back), server.events);
            await("established", () -> client.events.isEstablished() && server.events.isEstablished());
            assertThat(client.events.established().privateData()).isEqualTo(back);
            assertThat(server.events.established().privateData()).isEqualTo(there);
        }
    }

    @Test
    void refusesOptionsBeyondTheDevicesLimits() throws Exception {
        ListenEndpoint listen = listen(4);
        var attributes = device.client().attributes();
        for (ConnectOptions bad : List.of(
                ConnectOptions.DEFAULT.withPrivateData(octets(attributes.maxPrivateDataBytes() + 1, 1)),
                ConnectOptions.DEFAULT.withReads(attributes.maxInboundReads() + 1, 1),
                ConnectOptions.DEFAULT.withReads(1, attributes.maxOutboundReads() + 1))) {
            assertThatIllegalArgumentException().isThrownBy(() -> dial(listen, bad));
        }
        settle();
        assertThat(requests).isEmpty();
    }

    @Test
    void readLimitsAreReportedUnswapped() throws Exception {
        ConnectedPair pair = connect(
                EndpointOptions.DEFAULT.withConnect(
                        ConnectOptions.DEFAULT.withPeerToPeer(true).withReads(4, 8)),
                EndpointOptions.DEFAULT.withConnect(
                        ConnectOptions.DEFAULT.withPeerToPeer(true).withReads(16, 2)));
        ConnectionInfo client = pair.client().events.established();
        ConnectionInfo server = pair.server().events.established();
        assertThat(client.inboundReads()).isEqualTo(4);
        assertThat(client.outboundReads()).isEqualTo(8);
        assertThat(client.peerInboundReads()).isIn(8, 16);
        assertThat(client.peerOutboundReads()).isEqualTo(2);
        assertThat(server.inboundReads()).isIn(8, 16);
        assertThat(server.outboundReads()).isEqualTo(2);
        assertThat(server.peerInboundReads()).isEqualTo(4);
        assertThat(server.peerOutboundReads()).isEqualTo(8);
    }

    @Test
    void ourOutboundReadsAreBoundedByThePeersInboundReads() throws Exception {
        ListenEndpoint listen = listen(4);
        Endpoint client = dial(listen, ConnectOptions.DEFAULT.withReads(2, 8));
        await("the request arrives", () -> !requests.isEmpty());
        assertThat(requests.getFirst().peerInboundReads()).isEqualTo(2);
        assertThat(requests.getFirst().peerOutboundReads()).isEqualTo(8);
        Endpoint server = server();
        requests.getFirst().accept(server.queuePair, ConnectOptions.DEFAULT.withReads(8, 16), server.events);
        await("established", () -> client.events.isEstablished() && server.events.isEstablished());
        assertThat(server.events.established().outboundReads()).isEqualTo(2);
        assertThat(client.events.established().outboundReads()).isEqualTo(8);
    }

    @Test
    void addressesAreThoseOfTheTwoEnds() throws Exception {
        ConnectedPair pair = connect();
        ConnectionInfo client = pair.client().events.established();
        ConnectionInfo server = pair.server().events.established();
        assertThat(client.remoteAddress()).isEqualTo(server.localAddress());
        assertThat(client.localAddress()).isEqualTo(server.remoteAddress());
    }

    @Test
    void aRejectionCarriesPrivateData() throws Exception {
        ListenEndpoint listen = listen(4);
        for (int length : new int[] {0, 11}) {
            requests.clear();
            Endpoint client = dial(listen, ConnectOptions.DEFAULT);
            await("the request arrives", () -> !requests.isEmpty());
            requests.getFirst().reject(octets(length, 6));
            await("the client is told", client.events::hasEnded);
            assertThat(client.events.refused().reason()).isEqualTo(ConnectRefusal.Reason.REJECTED);
            assertThat(client.events.refused().privateData()).isEqualTo(octets(length, 6));
            assertThat(client.queuePair.state()).isEqualTo(QueuePair.State.ERROR);
            assertThat(client.events.all()).hasSize(1);
        }
    }

    @Test
    void aRequestIsAnsweredOnce() throws Exception {
        ListenEndpoint listen = listen(4);
        dial(listen, ConnectOptions.DEFAULT);
        await("the request arrives", () -> !requests.isEmpty());
        ConnectRequest request = requests.getFirst();
        Endpoint server = server();
        Endpoint second = server();
        request.accept(server.queuePair, ConnectOptions.DEFAULT, server.events);
        assertThatIllegalStateException().isThrownBy(() -> request.reject(Octets.EMPTY));
        assertThatIllegalStateException()
                .isThrownBy(() -> request.accept(second.queuePair, ConnectOptions.DEFAULT, second.events));
        await("established", server.events::isEstablished);
    }

    @Test
    void onlyAnIdleQueuePairIsConnectedOrAccepted() throws Exception {
        ConnectedPair pair = connect();
        ListenEndpoint listen = listen(4);
        assertThatIllegalStateException()
                .isThrownBy(() -> device.client()
                        .connectionManager()
                        .connect(
                                pair.client().queuePair,
                                listen.localAddress(),
                                ConnectOptions.DEFAULT,
                                pair.client().events));
        dial(listen, ConnectOptions.DEFAULT);
        await("the request arrives", () -> !requests.isEmpty());
        assertThatIllegalStateException()
                .isThrownBy(() -> requests.getFirst()
                        .accept(pair.server().queuePair, ConnectOptions.DEFAULT, pair.server().events));
    }

    @Test
    void connectingToNobodyIsRefusedAsUnreachable() throws Exception {
        Endpoint client = endpointOf(device.client(), EndpointOptions.DEFAULT.withReceives(2));
        device.client()
                .connectionManager()
                .connect(client.queuePair, device.deadAddress(), ConnectOptions.DEFAULT, client.events);
        await("refused", client.events::hasEnded);
        assertThat(client.events.refused().reason()).isEqualTo(ConnectRefusal.Reason.UNREACHABLE);
        assertThat(client.queuePair.state()).isEqualTo(QueuePair.State.ERROR);
        await("the Receives are flushed", () -> client.receives.size() == 2);
        settle();
        assertThat(client.events.all()).hasSize(1);
    }

    @Test
    void connectingToOneWhoDoesNotAnswerTimesOut() throws Exception {
        ListenEndpoint listen = listen(4);
        Endpoint client = dial(listen, ConnectOptions.DEFAULT.withTimeout(Duration.ofMillis(300)));
        await("refused", client.events::hasEnded);
        assertThat(client.events.refused().reason()).isEqualTo(ConnectRefusal.Reason.TIMED_OUT);
        assertThat(client.queuePair.state()).isEqualTo(QueuePair.State.ERROR);
    }

    @Test
    void aFullBacklogRejects() throws Exception {
        ListenEndpoint listen = listen(1);
        Endpoint first = dial(listen, ConnectOptions.DEFAULT);
        await("the first request arrives", () -> requests.size() == 1);
        Endpoint second = dial(listen, ConnectOptions.DEFAULT);
        await("the second is refused", second.events::hasEnded);
        assertThat(second.events.refused().reason()).isEqualTo(ConnectRefusal.Reason.REJECTED);
        assertThat(first.events.all()).isEmpty();
        assertThat(requests).hasSize(1);
    }

    @Test
    void whileConnectingReceivesAreTakenAndSendsAreNot() throws Exception {
        ListenEndpoint listen = listen(4);
        Endpoint client = dial(listen, ConnectOptions.DEFAULT);
        assertThat(client.queuePair.state()).isEqualTo(QueuePair.State.CONNECTING);
        assertThat(client.queuePair.postSend(new SendRequest()))
                .isInstanceOfSatisfying(
                        PostResult.Refused.class,
                        refused -> assertThat(refused.reason()).isEqualTo(PostResult.Reason.WRONG_STATE));
        client.postReceives(2);
        client.queuePair.disconnect();
        await("the attempt ends", client.events::hasEnded);
        await("the Receives are flushed", () -> client.receives.size() == 2);
    }

    @Test
    void acceptingOneWhoHasGoneComesToAnEnd() throws Exception {
        ListenEndpoint listen = listen(4);
        Endpoint client = dial(listen, ConnectOptions.DEFAULT);
        await("the request arrives", () -> !requests.isEmpty());
        client.queuePair.close();
        settle();
        Endpoint server = endpointOf(device.server(), EndpointOptions.DEFAULT.withReceives(2));
        try {
            requests.getFirst().accept(server.queuePair, ConnectOptions.DEFAULT, server.events);
        } catch (IllegalStateException answered) {
            return;
        }
        await("the server is told", server.events::hasEnded);
        await("its Receives are flushed", () -> server.receives.size() == 2);
        assertThat(server.queuePair.state()).isEqualTo(QueuePair.State.ERROR);
    }

    @Test
    void closingTheListenerRejectsWhatWaits() throws Exception {
        ListenEndpoint listen = listen(4);
        Endpoint client = dial(listen, ConnectOptions.DEFAULT);
        await("the request arrives", () -> !requests.isEmpty());
        listen.close();
        listen.close();
        await("refused", client.events::hasEnded);
        assertThat(client.events.refused().reason())
                .isIn(ConnectRefusal.Reason.REJECTED, ConnectRefusal.Reason.CLOSED_BY_PEER);
        Endpoint late = dial(listen, ConnectOptions.DEFAULT);
        await("refused too", late.events::hasEnded);
        assertThat(late.events.refused().reason()).isEqualTo(ConnectRefusal.Reason.UNREACHABLE);
    }

    @Test
    void connectionsOutliveTheirListener() throws Exception {
        ConnectedPair pair = connectWithReceives(1);
        settle();
        postAndSucceed(pair.client(), new SendRequest().id(1));
        await("it arrives", () -> pair.server().receives.size() == 1);
    }

    @Test
    void anAddressIsBoundOnce() throws Exception {
        ListenEndpoint first = listen(4);
        assertThat(first.localAddress().getPort()).isPositive();
        assertThatThrownBy(() -> device.server()
                        .connectionManager()
                        .listen(first.localAddress(), 4, requests::add)
                        .close())
                .isInstanceOf(IOException.class);
    }

    @Test
    void closingAConnectingQueuePairEndsTheAttempt() throws Exception {
        ListenEndpoint listen = listen(4);
        Endpoint client = dial(listen, ConnectOptions.DEFAULT);
        client.queuePair.abort();
        await("the listener is told", client.events::hasEnded);
        assertThat(client.events.refused().reason()).isEqualTo(ConnectRefusal.Reason.LOCAL);
        settle();
        assertThat(client.events.all()).hasSize(1);
    }

    @Test
    void aDisconnectDeliversWhatWasPosted() throws Exception {
        ConnectedPair pair = connectWithReceives(25);
        Endpoint client = pair.client();
        Endpoint.fill(client.memory.asSlice(0, 4096), 8);
        for (int i = 0; i < 20; i++) {
            client.queuePair
                    .postSend(new SendRequest().id(i).sge(client.region, 0, 4096))
                    .orThrow();
        }
        client.queuePair.disconnect();
        client.queuePair.disconnect();
        awaitError(pair);
        await(
                "all complete",
                () -> client.sends.size() == 20 && pair.server().receives.size() == 25);
        assertThat(client.sends).allMatch(Completion::isSuccess);
        assertThat(pair.server().receives.subList(0, 20)).allMatch(Completion::isSuccess);
        assertThat(pair.server().receives.subList(20, 25)).allMatch(Completion::isFlushed);
        assertThat(client.events.disconnected().cause()).isEqualTo(Disconnect.Cause.LOCAL_CLOSE);
        assertThat(pair.server().events.disconnected().cause()).isEqualTo(Disconnect.Cause.REMOTE_CLOSE);
        settle();
        assertThat(client.events.all()).hasSize(2);
        assertThat(pair.server().events.all()).hasSize(2);
    }

    @Test
    void bothMayDisconnectAtOnce() throws Exception {
        ConnectedPair pair = connect();
        pair.client().queuePair.disconnect();
        pair.server().queuePair.disconnect();
        awaitError(pair);
        settle();
        assertThat(pair.client().events.all()).hasSize(2);
        assertThat(pair.server().events.all()).hasSize(2);
    }

    @Test
    void anAbortIsToldToBothEndsOnce() throws Exception {
        ConnectedPair pair = connectWithReceives(3);
        pair.client().queuePair.abort();
        awaitError(pair);
        await("the Receives are flushed", () -> pair.server().receives.size() == 3);
        assertThat(pair.server().events.disconnected().cause())
                .isIn(Disconnect.Cause.REMOTE_CLOSE, Disconnect.Cause.CONNECTION_LOST, Disconnect.Cause.REMOTE_ERROR);
        settle();
        assertThat(pair.client().events.all()).hasSize(2);
        assertThat(pair.server().events.all()).hasSize(2);
    }

    @Test
    void manyConnectionsShareOneListener() throws Exception {
        ListenEndpoint listen = listen(16);
        for (int i = 0; i < 8; i++) {
            Endpoint client = dial(listen, ConnectOptions.DEFAULT.withPrivateData(octets(4, i)));
            int count = i + 1;
            await("request " + i, () -> requests.size() == count);
            Endpoint server = endpointOf(device.server(), EndpointOptions.DEFAULT.withReceives(1));
            requests.getLast().accept(server.queuePair, ConnectOptions.DEFAULT, server.events);
            await("established", () -> client.events.isEstablished() && server.events.isEstablished());
            postAndSucceed(client, new SendRequest().id(i).sge(client.region, 0, 100));
            await("it arrives", () -> server.receives.size() == 1);
        }
    }
}
