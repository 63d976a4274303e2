// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.Rig;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.cm.ConnectOptions;
import org.rpcrdma4j.verbs.cm.ConnectRequest;
import org.rpcrdma4j.verbs.cm.ListenEndpoint;

/** One endpoint's life, on every device. The rig checks in the end that the devices have all of their own back. */
class EndpointTest {

    private static List<Integer> numbers(int count) {
        return IntStream.range(0, count).boxed().toList();
    }

    @ParameterizedTest
    @EnumSource
    void carriesMessagesBothWaysAndGivesEverythingBack(Network network) throws IOException {
        try (Rig rig = network.open();
                EndpointPair pair = EndpointPair.connected(rig)) {
            for (int i = 0; i < 100; i++) {
                int number = i;
                pair.client.sendFromOutside(number);
                pair.server().sendFromOutside(number);
                rig.await(
                        "message " + i + " has come and its Send has completed",
                        () -> pair.server().receivedCount() > number
                                && pair.client.receivedCount() > number
                                && pair.client.isSettled()
                                && pair.server().isSettled());
            }
            pair.client.monitor.run(() -> pair.client.endpoint.disconnect(DisconnectCause.IDLE, "enough"));
            pair.awaitClosed();

            assertThat(pair.client.received).isEqualTo(numbers(100));
            assertThat(pair.server().received).isEqualTo(numbers(100));
            assertThat(pair.client.course())
                    .containsExactly("established", "disconnecting IDLE", "queue pair closed", "closed");
            assertThat(pair.server().course())
                    .containsExactly("established", "disconnecting REMOTE_CLOSE", "queue pair closed", "closed");
        }
    }

    @ParameterizedTest
    @EnumSource
    void isToldOnceThatNobodyListens(Network network) {
        try (Rig rig = network.open()) {
            TestEnd end = new TestEnd(rig, rig.clientDevice(), "client");
            end.connect(rig.deadAddress());
            rig.await("it is closed", end::isClosed);

            assertThat(end.course()).containsExactly("refused UNREACHABLE", "queue pair closed", "closed");
            assertThat(end.faults).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aDisconnectInOrderSendsWhatWasPostedBefore(Network network) throws IOException {
        try (Rig rig = network.open();
                EndpointPair pair = EndpointPair.connected(rig)) {
            pair.client.monitor.run(() -> {
                numbers(TestEnd.BUFFERS).forEach(pair.client::send);
                pair.client.endpoint.disconnect(DisconnectCause.LOCAL_CLOSE, "first");
                // Once it is ending, nothing happens: the second one does not cut the first one short.
                pair.client.endpoint.disconnect(DisconnectCause.TIMED_OUT, "second");
            });
            pair.awaitClosed();

            assertThat(pair.server().received).isEqualTo(numbers(TestEnd.BUFFERS));
            assertThat(pair.client.course())
                    .containsExactly("established", "disconnecting LOCAL_CLOSE", "queue pair closed", "closed");
            assertThat(pair.client.told).doesNotContain("SEND FLUSHED");
        }
    }

    @ParameterizedTest
    @EnumSource
    void anAbortEndsADisconnectThatIsTooSlow(Network network) throws IOException {
        try (Rig rig = network.open();
                EndpointPair pair = EndpointPair.connected(rig)) {
            pair.client.monitor.run(() -> {
                pair.client.endpoint.disconnect(DisconnectCause.LOCAL_CLOSE, "in order");
                pair.client.endpoint.abort(DisconnectCause.TIMED_OUT, "too slow");
            });
            pair.awaitClosed();

            assertThat(pair.client.course())
                    .containsExactly("established", "disconnecting LOCAL_CLOSE", "queue pair closed", "closed");
        }
    }

    @ParameterizedTest
    @EnumSource
    void endsInTheMiddleOfTrafficWithEachRequestAccountedFor(Network network) throws IOException {
        for (int round = 0; round < 20; round++) {
            try (Rig rig = network.open();
                    EndpointPair pair = EndpointPair.connected(rig)) {
                int enough = 1 + 13 * round;
                keepSending(pair.client);
                keepSending(pair.server());
                rig.await("some messages went over", () -> pair.server().receivedCount() >= enough);
                TestEnd ending = round % 2 == 0 ? pair.client : pair.server();
                ending.monitor.run(() -> ending.endpoint.abort(DisconnectCause.FENCE, "now"));
                pair.awaitClosed();

                assertThat(pair.client.isSettled()).as("%s", pair.client).isTrue();
                assertThat(pair.server().isSettled()).as("%s", pair.server()).isTrue();
                assertThat(ending.course()).contains("disconnecting FENCE").endsWith("queue pair closed", "closed");
            }
        }
    }

    /** Each message is answered by the next, also while the connection is ending, as a careless user does. */
    private static void keepSending(TestEnd end) {
        end.monitor.run(() -> {
            end.onReceive = buffer -> end.send(0);
            numbers(4).forEach(end::send);
        });
    }

    @ParameterizedTest
    @EnumSource
    void closesWithoutEverHavingConnected(Network network) {
        try (Rig rig = network.open()) {
            TestEnd end = new TestEnd(rig, rig.clientDevice(), "client");
            end.monitor.run(() -> {
                end.endpoint.ensureReceives(TestEnd.BUFFERS);
                end.endpoint.abort(DisconnectCause.LOCAL_CLOSE, "not needed");
            });
            rig.await("it is closed", end::isClosed);

            assertThat(end.told).containsExactly("disconnecting LOCAL_CLOSE", "queue pair closed", "closed");
            assertThatThrownBy(() -> end.connect(rig.deadAddress())).isInstanceOf(IllegalStateException.class);
            assertThat(end.faults).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void closesWhileItIsConnecting(Network network) throws IOException {
        try (Rig rig = network.open();
                EndpointPair pair = EndpointPair.prepare(rig, end -> {}, end -> {})) {
            pair.client.monitor.run(() -> {
                pair.connect();
                pair.client.endpoint.abort(DisconnectCause.LOCAL_CLOSE, "changed our mind");
            });
            pair.awaitClosed();

            assertThat(pair.client.told).containsExactly("disconnecting LOCAL_CLOSE", "queue pair closed", "closed");
        }
    }

    /** F25: each failing request makes the user ask for the end; the connection is ended once. */
    @ParameterizedTest
    @EnumSource
    void manyFailingRequestsEndTheConnectionOnce(Network network) throws IOException {
        try (Rig rig = network.open();
                EndpointPair pair = EndpointPair.connected(rig)) {
            TestEnd client = pair.client;
            client.monitor.run(() -> {
                client.onCompletion = completion -> {
                    if (!completion.isSuccess()) {
                        client.endpoint.abort(DisconnectCause.WORK_REQUEST_FAILED, "a Write failed");
                        client.endpoint.disconnect(DisconnectCause.WORK_REQUEST_FAILED, "a Write failed");
                    }
                };
                for (int i = 0; i < 10; i++) {
                    client.post(
                            new RdmaWriteRequest()
                                    .id(WorkIds.of(WorkIds.Kind.WRITE, 1, i))
                                    .sge(client.endpoint.sendRegion(), 0, 64)
                                    .target(0x1234_5600, 0),
                            () -> {});
                }
            });
            pair.awaitClosed();

            assertThat(client.isSettled()).as("%s", client).isTrue();
            assertThat(client.course().stream().filter(what -> what.startsWith("disconnecting")))
                    .hasSize(1);
            assertThat(client.course()).endsWith("queue pair closed", "closed");
        }
    }

    /** F24. The simulation reports a post to drained queues as a breach of contract. */
    @ParameterizedTest
    @EnumSource
    void refusesWhatIsPostedBeforeAndAfterTheConnectionsLife(Network network) throws IOException {
        try (Rig rig = network.open();
                EndpointPair pair =
                        EndpointPair.prepare(rig, end -> {}, end -> end.onQueuePairClosed = () -> end.send(2))) {
            TestEnd client = pair.client;
            client.monitor.run(() -> client.send(1));
            rig.await("it is refused", client::isSettled);
            pair.connect();
            rig.await("it is connected", client::isConnected);
            client.monitor.run(() -> client.endpoint.abort(DisconnectCause.LOCAL_CLOSE, "done"));
            pair.awaitClosed();

            assertThat(client.isSettled()).as("%s", client).isTrue();
            assertThat(client.told.stream().filter("refused WRONG_STATE"::equals))
                    .hasSize(2);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aListenerThatThrowsEndsTheConnectionAndMissesNothing(Network network) throws IOException {
        AtomicInteger throwing = new AtomicInteger();
        try (Rig rig = network.open();
                EndpointPair pair = EndpointPair.connected(
                        rig,
                        end -> end.onReceive = buffer -> {
                            if (throwing.getAndIncrement() == 0) {
                                throw new IllegalStateException("thrown on purpose");
                            }
                        },
                        end -> {})) {
            pair.client.monitor.run(() -> numbers(4).forEach(pair.client::send));
            pair.awaitClosed();

            assertThat(pair.server().course())
                    .containsExactly("established", "disconnecting LOCAL_ERROR", "queue pair closed", "closed");
            assertThat(pair.server().received)
                    .isNotEmpty()
                    .isEqualTo(numbers(pair.server().received.size()));
            assertThat(pair.client.isSettled()).as("%s", pair.client).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatIsLeftForAfterwardsAtTheEndIsDoneBeforeTheDomainIsGivenBack(Network network) throws IOException {
        AtomicBoolean isDone = new AtomicBoolean();
        try (Rig rig = network.open();
                EndpointPair pair = EndpointPair.connected(
                        rig,
                        end -> end.onQueuePairClosed = () -> end.monitor.afterwards(() -> {
                            // Of a domain that was given back there is no region.
                            end.endpoint.domain().allocateFastRegion(1).close();
                            isDone.set(true);
                        }),
                        end -> {})) {
            pair.client.monitor.run(() -> pair.client.endpoint.abort(DisconnectCause.LOCAL_CLOSE, "done"));
            pair.awaitClosed();
            assertThat(isDone).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aRequestThatCannotBeAcceptedLeavesAnEndpointThatCanBeClosed(Network network) throws IOException {
        AtomicReference<TestEnd> second = new AtomicReference<>();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        try (Rig rig = network.open()) {
            TestEnd client = new TestEnd(rig, rig.clientDevice(), "client");
            List<TestEnd> servers = new ArrayList<>();
            try (ListenEndpoint listening = rig.serverDevice()
                    .connectionManager()
                    .listen(rig.listenAddress(), 4, request -> acceptTwice(rig, request, servers, second, failure))) {
                client.connect(listening.localAddress());
                rig.await("the second accept has failed", () -> failure.get() != null);
            }
            assertThat(failure.get()).isInstanceOf(IllegalStateException.class);
            assertThat(second.get().inside(second.get().endpoint::state)).isEqualTo(Endpoint.State.NEW);
            second.get().monitor.run(() -> second.get().endpoint.abort(DisconnectCause.LOCAL_CLOSE, "not needed"));
            rig.await("the second is closed", second.get()::isClosed);
            client.monitor.run(() -> client.endpoint.abort(DisconnectCause.LOCAL_CLOSE, "done"));
            rig.await(
                    "all are closed", () -> client.isClosed() && servers.get(0).isClosed());
        }
    }

    private static void acceptTwice(
            Rig rig,
            ConnectRequest request,
            List<TestEnd> servers,
            AtomicReference<TestEnd> second,
            AtomicReference<Throwable> failure) {
        servers.add(new TestEnd(rig, rig.serverDevice(), "server"));
        servers.get(0).accept(request);
        second.set(new TestEnd(rig, rig.serverDevice(), "second server"));
        try {
            second.get().accept(request);
        } catch (IllegalStateException e) {
            failure.set(e);
        }
    }

    @ParameterizedTest
    @EnumSource
    void optionsThatTheDeviceCannotServeAreRefusedAtOnceAndTheEndpointIsAsBefore(Network network) throws IOException {
        try (Rig rig = network.open();
                EndpointPair pair = EndpointPair.prepare(rig, end -> {}, end -> {})) {
            ConnectOptions tooMany = ConnectOptions.DEFAULT.withReads(1_000_000, 1_000_000);
            assertThatThrownBy(() ->
                            pair.client.monitor.run(() -> pair.client.endpoint.connect(rig.deadAddress(), tooMany)))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThat(pair.client.inside(pair.client.endpoint::state)).isEqualTo(Endpoint.State.NEW);
            pair.connect();
            rig.await("it is connected", pair.client::isConnected);
        }
    }

    @ParameterizedTest
    @EnumSource
    void isClosedAlsoIfTheWorkerTakesNothingAnyMore(Network network) {
        try (Rig rig = network.open()) {
            TestEnd end = new TestEnd(rig, rig.clientDevice(), "client", task -> {
                throw new RejectedExecutionException("shut down");
            });
            end.connect(rig.deadAddress());
            rig.await("it is closed", end::isClosed);

            assertThat(end.faults).isEmpty();
        }
    }

    /** Threads of the program, threads of the device and the end of the connection, all at once. */
    @ParameterizedTest
    @EnumSource(names = "IWARP")
    void keepsEachThreadsOrderAndEndsInTheMidstOfEightThreads(Network network) throws Exception {
        for (int round = 0; round < 5; round++) {
            try (Rig rig = network.open();
                    EndpointPair pair = EndpointPair.connected(rig)) {
                Semaphore credits = new Semaphore(TestEnd.BUFFERS / 2);
                pair.server()
                        .monitor
                        .run(() -> pair.server().onReceive = buffer -> {
                            // After the buffer is released, which is at the end of the turn.
                            pair.server().monitor.afterwards(credits::release);
                        });
                List<Thread> threads = new ArrayList<>();
                for (int i = 0; i < 8; i++) {
                    int first = i * 1_000_000;
                    threads.add(Thread.ofPlatform().start(() -> sendUntilTheEnd(pair.client, first, credits)));
                }
                rig.await("much went over", () -> pair.server().receivedCount() > 2_000);
                pair.client.monitor.run(() -> pair.client.endpoint.abort(DisconnectCause.LOCAL_CLOSE, "now"));
                pair.awaitClosed();
                credits.release(1_000);
                for (Thread thread : threads) {
                    assertThat(thread.join(Duration.ofSeconds(20)))
                            .as("%s", pair.client)
                            .isTrue();
                }

                assertThat(pair.client.isSettled()).as("%s", pair.client).isTrue();
                int[] next = new int[8];
                pair.server()
                        .received
                        .forEach(number -> assertThat(number % 1_000_000).isEqualTo(next[number / 1_000_000]++));
            }
        }
    }

    private static void sendUntilTheEnd(TestEnd end, int first, Semaphore credits) {
        int number = first;
        while (true) {
            credits.acquireUninterruptibly();
            int next = number;
            boolean[] sent = new boolean[1];
            boolean connected = end.inside(() -> {
                boolean is = !end.isClosed() && end.endpoint.isConnected();
                // A Send's own completion may come later than the answer to it.
                sent[0] = is && end.send(next);
                return is;
            });
            if (!connected) {
                return;
            }
            if (sent[0]) {
                number++;
            } else {
                credits.release();
            }
        }
    }
}
