// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.device;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.LocalInvalidateRequest;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.PostResult.Reason;
import org.rpcrdma4j.verbs.PostResult.Refused;
import org.rpcrdma4j.verbs.QueuePair.State;
import org.rpcrdma4j.verbs.QueuePairOptions;
import org.rpcrdma4j.verbs.RegisterRequest;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.cm.Disconnect.Cause;
import org.rpcrdma4j.verbs.cm.ErrorReport;

class QueuePairStateTest {
    private final Loopback loopback =
            new Loopback("states", Map.of("max-queue-pairs", "3", "max-regions", "5", "crc", "off", "enhanced", "off"));
    private final Side client = new Side(loopback.device, 8, 1 << 20);
    private final Side server = new Side(loopback.device, 8, 1 << 20);

    @AfterEach
    void closeAll() {
        client.close();
        server.close();
        assertThat(loopback.device.ledger().isBalanced()).isTrue();
        loopback.close();
    }

    private static void assertRefused(PostResult result, Reason reason, int firstBad) {
        assertThat(result).isInstanceOfSatisfying(Refused.class, refused -> {
            assertThat(refused.reason()).isEqualTo(reason);
            assertThat(refused.firstBad()).isEqualTo(firstBad);
        });
    }

    @Test
    void nothingCanBePostedOnceAQueuePairIsDrained() throws Exception {
        client.queuePair.drain().get(10, TimeUnit.SECONDS);
        assertRefused(client.queuePair.postReceive(client.receive(1, 0, 8)), Reason.WRONG_STATE, 0);
        assertRefused(client.queuePair.postSend(client.send(2, 0, 8)), Reason.WRONG_STATE, 0);
        assertThat(client.poll(client.receiving)).isEmpty();
    }

    @Test
    void anIdleQueuePairTakesReceivesOnly() {
        assertThat(client.queuePair.state()).isEqualTo(State.IDLE);
        assertThat(client.queuePair.postReceive(client.receive(1, 0, 8)).isPosted())
                .isTrue();
        assertRefused(client.queuePair.postSend(client.send(2, 0, 8)), Reason.WRONG_STATE, 0);
        assertThat(client.poll(client.receiving)).isEmpty();
        client.queuePair.abort();
        assertThat(client.await(client.receiving, 1)).containsExactly("1 FLUSHED");
        assertThat(client.queuePair.state()).isEqualTo(State.ERROR);
        assertThatThrownBy(() -> loopback.connect(client, Loopback.anyPort(), Loopback.OPTIONS))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("ERROR, not IDLE");
    }

    @Test
    void whileConnectingReceivesAreTakenAndADisconnectEndsIt() throws Exception {
        try (ServerSocket silent = RawPeer.server()) {
            loopback.connect(client, (java.net.InetSocketAddress) silent.getLocalSocketAddress(), Loopback.OPTIONS);
            assertThat(client.queuePair.state()).isEqualTo(State.CONNECTING);
            client.queuePair.postReceive(client.receive(1, 0, 8)).orThrow();
            assertRefused(client.queuePair.postSend(client.send(2, 0, 8)), Reason.WRONG_STATE, 0);
            client.queuePair.disconnect();
            assertThat(client.queuePair.state()).isEqualTo(State.ERROR);
            client.get(client.refused, "onRefused");
            assertThat(client.await(client.receiving, 1)).containsExactly("1 FLUSHED");
            assertThat(client.established).isNotDone();
        }
    }

    @Test
    void inErrorEveryPostCompletesAsFlushedBehindTheOthers() {
        loopback.join(client, server);
        client.queuePair.postReceive(client.receive(1, 0, 8)).orThrow();
        client.queuePair.abort();
        assertThat(client.queuePair.state()).isEqualTo(State.ERROR);
        client.queuePair.postReceive(client.receive(2, 0, 8)).orThrow();
        client.queuePair
                .postSend(List.of(client.send(3, 0, 8).signaled(false), client.write(4, server, 0, 8)))
                .orThrow();
        assertThat(client.poll(client.receiving)).containsExactly("1 FLUSHED", "2 FLUSHED");
        assertThat(client.poll(client.sending)).containsExactly("3 FLUSHED", "4 FLUSHED");
        assertThat(client.awaitDisconnected().cause()).isEqualTo(Cause.LOCAL_CLOSE);
        server.awaitDisconnected();
        client.queuePair.close();
        assertRefused(client.queuePair.postSend(client.send(5, 0, 8)), Reason.WRONG_STATE, 0);
        assertRefused(client.queuePair.postReceive(client.receive(6, 0, 8)), Reason.WRONG_STATE, 0);
    }

    @Test
    void aClosingQueuePairTakesNothingMore() throws Exception {
        try (ServerSocket listening = RawPeer.server()) {
            loopback.connect(client, (java.net.InetSocketAddress) listening.getLocalSocketAddress(), Loopback.OPTIONS);
            try (RawPeer peer = RawPeer.accept(listening)) {
                client.get(client.established, "onEstablished");
                client.queuePair.postReceive(client.receive(1, 0, 8)).orThrow();
                client.queuePair.disconnect();
                assertThat(client.queuePair.state()).isEqualTo(State.CLOSING);
                assertRefused(client.queuePair.postSend(client.send(2, 0, 8)), Reason.WRONG_STATE, 0);
                assertRefused(client.queuePair.postReceive(client.receive(3, 0, 8)), Reason.WRONG_STATE, 0);
                assertThat(client.poll(client.receiving)).isEmpty();
                while (!peer.isAtFin()) {
                    // The FIN comes behind what was sent.
                }
            }
            assertThat(client.awaitDisconnected().cause()).isEqualTo(Cause.LOCAL_CLOSE);
            assertThat(client.await(client.receiving, 1)).containsExactly("1 FLUSHED");
            assertThat(client.queuePair.state()).isEqualTo(State.ERROR);
        }
    }

    @Test
    void theFailedOneKeepsItsStatusAndAllElseIsFlushedSignaledOrNot() {
        loopback.join(client, server);
        client.queuePair.postReceive(client.receive(9, 0, 8)).orThrow();
        FastRegion unmapped = client.domain.allocateFastRegion(1);
        client.queuePair
                .postSend(List.of(
                        client.write(0, server, 0, 100).signaled(false),
                        client.write(1, server, 0, 100),
                        new RegisterRequest().id(2).signaled(false).region(unmapped, unmapped.advanceKey()),
                        client.send(3, 0, 8).signaled(false),
                        client.read(4, server, 0, 8)))
                .orThrow();
        assertThat(client.await(client.sending, 4))
                .containsExactly("1 SUCCESS", "2 LOCAL_QP_OPERATION_ERROR", "3 FLUSHED", "4 FLUSHED");
        assertThat(client.await(client.receiving, 1)).containsExactly("9 FLUSHED");
        // RFC 5040, Section 7.1: an error of our own is told to the peer, without headers.
        ErrorReport told = requireNonNull(server.awaitDisconnected().report());
        assertThat((told.layer() << 8) | told.type()).isZero();
        assertThat(told.segmentHeader().isEmpty()).isTrue();
        assertThat(client.awaitDisconnected().cause()).isEqualTo(Cause.LOCAL_ERROR);
        assertThat(server.awaitDisconnected().cause()).isEqualTo(Cause.REMOTE_ERROR);
        unmapped.unmap();
        unmapped.close();
    }

    @Test
    void registeringAValidRegionAndInvalidatingAnUnknownKeyEndTheConnection() {
        loopback.join(client, server);
        FastRegion region = client.domain.allocateFastRegion(1);
        region.map(List.of(client.memory.asSlice(0, 10)), 77);
        client.queuePair
                .postSend(List.of(
                        new RegisterRequest()
                                .id(0)
                                .region(region, region.advanceKey())
                                .access(Access.REMOTE_READ),
                        new RegisterRequest()
                                .id(1)
                                .region(region, region.advanceKey())
                                .access(Access.REMOTE_READ)))
                .orThrow();
        assertThat(client.await(client.sending, 2)).containsExactly("0 SUCCESS", "1 LOCAL_QP_OPERATION_ERROR");
        assertThat(server.awaitDisconnected().report()).isNotNull();
        region.close();
        try (Side other = new Side(loopback.device, 8, 64);
                Side peer = otherServer()) {
            loopback.join(other, peer);
            other.queuePair
                    .postSend(new LocalInvalidateRequest().id(5).key(0x1234_5678))
                    .orThrow();
            assertThat(other.await(other.sending, 1)).containsExactly("5 LOCAL_QP_OPERATION_ERROR");
            assertThat(peer.awaitDisconnected().report()).isNotNull();
        }
    }

    /** The device takes three queue pairs: one of the first two goes. */
    private Side otherServer() {
        server.queuePair.close();
        return new Side(loopback.device, 8, 64);
    }

    @Test
    void aMemoryOfARequestThatIsGoneAtExecutionIsALocalProtectionError() {
        loopback.join(client, server);
        var gone = client.domain.register(client.memory.asSlice(0, 64), Access.LOCAL_READ);
        gone.close();
        client.queuePair.postSend(new SendRequest().id(1).sge(gone, 0, 64)).orThrow();
        assertThat(client.await(client.sending, 1)).containsExactly("1 LOCAL_PROTECTION_ERROR");
        assertThat(client.awaitDisconnected().cause()).isEqualTo(Cause.LOCAL_ERROR);
    }

    @Test
    void whatCanNeverBePostedIsRefusedAndTheConnectionIsWell() {
        loopback.join(client, server);
        assertRefused(
                client.queuePair.postSend(List.of(
                        client.write(1, server, 0, 8),
                        client.read(2, server, 0, 8).clearSges(),
                        client.send(3, 0, 8))),
                Reason.INVALID_REQUEST,
                1);
        assertThat(client.await(client.sending, 1)).containsExactly("1 SUCCESS");
        assertRefused(client.queuePair.postSend(client.send(4, 0, 8).invalidate(0)), Reason.INVALID_REQUEST, 0);
        assertRefused(client.queuePair.postSend(client.write(5, 0, 0, 0, 8)), Reason.INVALID_REQUEST, 0);
        assertThat(client.queuePair.state()).isEqualTo(State.CONNECTED);
    }

    @Test
    void aDeviceHasLimitsAndOthersAreUnaffectedAtThem() {
        try (Side third = new Side(loopback.device, 4, 8)) {
            assertThatThrownBy(() -> new Side(loopback.device, 4, 8))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("no more than 3 queue pairs");
            client.domain.register(client.memory, Access.LOCAL_READ);
            client.domain.register(client.memory, Access.LOCAL_READ).close();
            var last = client.domain.register(client.memory, Access.LOCAL_READ);
            assertThatThrownBy(() -> client.domain.register(client.memory, Access.LOCAL_READ))
                    .hasMessageContaining("no more than 5 regions");
            last.close();
            loopback.join(client, server);
            assertThat(third.queuePair.state()).isEqualTo(State.IDLE);
            assertThatThrownBy(() -> client.domain.close()).hasMessageContaining("still exist");
            assertThatThrownBy(() -> client.domain.createQueuePair(
                            new QueuePairOptions(client.sending, client.receiving, 1, 1, 1)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("too few");
        }
        loopback.device.close();
    }

    @Test
    void aDrainEndsWhenAllWasPolledAndNotBefore() {
        loopback.join(client, server);
        for (int i = 0; i < 8; i++) {
            client.queuePair.postReceive(client.receive(i, 0, 8)).orThrow();
        }
        CompletableFuture<Void> drained = client.queuePair.drain();
        assertThat(client.queuePair.drain()).isSameAs(drained);
        Waits.pause(Duration.ofMillis(20));
        assertThat(drained).isNotDone();
        List<String> found = new ArrayList<>(client.poll(client.receiving));
        assertThat(found).hasSize(8).allMatch(entry -> entry.endsWith("FLUSHED"));
        client.get(drained, "drained");
        assertThat(client.poll(client.receiving)).isEmpty();
    }

    @Test
    void aDrainOfAClosedQueuePairEndsAtOnceThoughNobodyPolled() {
        client.queuePair.postReceive(client.receive(1, 0, 8)).orThrow();
        client.queuePair.close();
        client.queuePair.close();
        client.get(client.queuePair.drain(), "drained");
        assertThat(client.poll(client.receiving)).as("discarded").isEmpty();
    }
}
