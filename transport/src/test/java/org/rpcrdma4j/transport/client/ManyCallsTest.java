// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.testkit.sim.SimulationOptions;
import org.rpcrdma4j.transport.client.TransportException.Kind;
import org.rpcrdma4j.transport.connection.Monitor;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.raw.RawResponder;
import org.rpcrdma4j.transport.raw.SimulatedRig;
import org.rpcrdma4j.verbs.DeviceAttributes;

/** As many calls as there may be: what is done for each of them does not depend on how many there are. Counted, not timed. */
class ManyCallsTest {

    private static final int CALLS = 16_384;
    private static final int LOG_OF_CALLS = 14;
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private final SimulatedRig rig = new SimulatedRig(Long.getLong("rpcrdma.seed", 1), large(), large());
    private final RawResponder responder =
            new RawResponder(rig).privateData("f6ab0e18 01000000").receives(CALLS + 16, 1024);
    private final List<PendingReply> pending = new ArrayList<>();
    private final List<Integer> arrived = new ArrayList<>();
    private final Requester requester = new Requester(context());
    private long comparisons;
    private int nextXid = 1;

    /** Queues for so many calls; memory is not watched, which would take long. */
    private static SimulationOptions large() {
        DeviceAttributes a = SimulationOptions.DEFAULT.attributes();
        return SimulationOptions.DEFAULT
                .withAttributes(new DeviceAttributes(
                        a.maxQueuePairs(),
                        200_000,
                        a.maxSges(),
                        a.maxReadSges(),
                        400_000,
                        100_000,
                        true,
                        a.maxFastRegistrationPages(),
                        a.pageBytes(),
                        a.gapsAllowed(),
                        a.remoteAddressIsFree(),
                        a.maxInboundReads(),
                        a.maxOutboundReads(),
                        a.readSinkNeedsRemoteWrite(),
                        a.maxMessageBytes(),
                        a.maxPrivateDataBytes()))
                .withWatchedMemory(false);
    }

    private ClientContext context() {
        ClientOptions options;
        try (RpcRdmaClient pattern = RpcRdmaClient.builder(rig.clientDevice(), responder.address())
                .time(rig.time())
                .worker(rig.worker())
                .maxInFlight(CALLS)
                .inlineBytes(1024, 1024)
                .maxPayloadBytes(4096)
                .callTimeout(TIMEOUT)
                .build()) {
            options = pattern.options();
        }
        Counters<ClientCounter> counters = new Counters<>(ClientCounter.class);
        return new ClientContext(
                rig.clientDevice(),
                options,
                rig.time(),
                rig.worker(),
                rig.worker(),
                null,
                null,
                null,
                new Monitor(),
                counters,
                new BounceBuffers(counters),
                (one, other) -> {
                    comparisons++;
                    return ClientCall.BY_ORDER.compare(one, other);
                });
    }

    private void send() {
        MemorySegment head = ClientFixture.head(nextXid++, 0);
        pending.add(requester.send(CallMessage.builder(head).build()));
    }

    /** A first call that is answered with all credits, and then as many as there are, which are not. */
    private void sendAll() {
        responder.onMessage((connection, call) -> ClientFixture.answer(connection, call.xid(), CALLS));
        send();
        rig.await("the first is answered", () -> pending.getFirst().isDone());
        responder.onMessage((connection, call) -> arrived.add(call.xid()));
        for (int i = 0; i < CALLS; i++) {
            send();
        }
        rig.await("all arrive", () -> arrived.size() == CALLS);
    }

    private void close() {
        CompletableFuture<Void> closed = requester.close();
        rig.await("the client is closed", closed::isDone);
        responder.close();
        rig.close();
    }

    @Test
    void callsByTheThousandAreSentAgainInTheirOrderWithAFewComparisonsEach() {
        sendAll();
        for (int i = 0; i < 100; i++) {
            send();
        }
        List<Integer> before = List.copyOf(arrived);
        arrived.clear();
        comparisons = 0;
        responder.onMessage((connection, call) -> {
            arrived.add(call.xid());
            ClientFixture.answer(connection, call.xid(), CALLS);
        });
        responder.connection().breakOff();
        rig.await("all are answered", () -> pending.getLast().isDone());
        rig.await("all are answered", () -> pending.stream().allMatch(CompletableFuture::isDone));
        assertThat(pending).noneMatch(CompletableFuture::isCompletedExceptionally);
        assertThat(arrived).hasSize(CALLS + 100).startsWith(before.toArray(Integer[]::new));
        assertThat(arrived).isSorted();
        assertThat(requester.walks()).isEqualTo(1);
        assertThat(comparisons).isLessThanOrEqualTo((LOG_OF_CALLS + 2L) * CALLS);
        close();
    }

    @Test
    void callsByTheThousandThatRunOutOfTimeAreNotGoneThroughForEachOfThem() {
        sendAll();
        // The server is alive: it answers what nobody asked. So only the credits can be the reason for giving it up.
        ClientFixture.answer(responder.connection(), 0, CALLS);
        rig.advance(TIMEOUT.plusSeconds(1));
        rig.await("the connection is given up", () -> responder.connection().hasEnded());
        for (PendingReply each : pending.subList(1, CALLS + 1)) {
            assertThatThrownBy(each::get)
                    .isInstanceOf(ExecutionException.class)
                    .cause()
                    .isInstanceOfSatisfying(
                            TransportException.class,
                            failure -> assertThat(failure.kind()).isEqualTo(Kind.TIMED_OUT));
        }
        rig.settle();
        assertThat(requester.toString()).contains("0 calls waiting, 0 sent", "hold all credits");
        assertThat(requester.walks()).isEqualTo(1);
        close();
    }
}
