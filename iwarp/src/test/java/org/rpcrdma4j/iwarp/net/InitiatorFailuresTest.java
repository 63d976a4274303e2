// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.C;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.R;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.S;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.reply;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.request;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.words;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectRefusal.Reason;

/** Our connecting side when the peer, the network, the deadline or the program ends the set-up, and its second attempt. */
class InitiatorFailuresTest {
    private static final byte[] REPLY = reply(C | S, 2, words(16, 8));
    private final NetFixture net = new NetFixture();
    private RawMpaPeer.Server server;

    @BeforeEach
    void listen() throws IOException {
        server = new RawMpaPeer.Server();
    }

    @AfterEach
    void close() throws IOException {
        server.close();
        net.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void everyPrefixOfAReplyThenTheEndFailsOnce(boolean reset) throws IOException {
        for (int length = 0; length < REPLY.length; length++) {
            RecordingListener told = net.connect(server.address(), NetFixture.INITIATOR);
            try (RawMpaPeer peer = server.accept()) {
                peer.readFrame();
                peer.send(Arrays.copyOf(REPLY, length));
                if (reset) {
                    peer.reset();
                }
            }
            assertThat(told.refusal().reason()).as("after %d bytes", length).isEqualTo(Reason.CLOSED_BY_PEER);
        }
        assertThat(net.counters.value(Counter.CONNECT_CLOSED_BY_PEER)).isEqualTo(REPLY.length);
    }

    @Test
    void aConnectionEndedBeforeTheRequestIsReadFailsOnce() throws IOException {
        for (int i = 0; i < 100; i++) {
            boolean reset = i % 2 == 0;
            RecordingListener told = net.connect(server.address(), NetFixture.INITIATOR);
            try (RawMpaPeer peer = server.accept()) {
                if (reset) {
                    peer.reset();
                } else {
                    peer.finish();
                }
                assertThat(told.refusal().reason()).isEqualTo(Reason.CLOSED_BY_PEER);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 10, 19, 20, 23})
    void aPeerThatFallsSilentFailsTheConnectAtTheDeadline(int sent) throws IOException {
        long begin = System.nanoTime();
        RecordingListener told = net.connect(server.address(), NetFixture.INITIATOR.withDeadline(NetFixture.SHORT));
        try (RawMpaPeer peer = server.accept()) {
            peer.readFrame();
            peer.send(Arrays.copyOf(REPLY, sent));
            assertThat(told.refusal().reason()).isEqualTo(Reason.TIMED_OUT);
            assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThanOrEqualTo(NetFixture.SHORT);
            assertThat(peer.readUntilEnd()).isEmpty();
            assertThat(told.results()).hasSize(1);
        }
        assertThat(net.counters.value(Counter.SET_UP_TIMEOUTS)).isEqualTo(1);
        assertThat(net.counters.value(Counter.CONNECT_TIMED_OUT)).isEqualTo(1);
    }

    @Test
    void theDeadlineIsForTheWholeExchange() throws IOException {
        RecordingListener told = net.connect(server.address(), NetFixture.INITIATOR.withDeadline(NetFixture.SHORT));
        try (RawMpaPeer peer = server.accept()) {
            peer.readFrame();
            int sent = 0;
            do {
                peer.send(new byte[] {REPLY[sent++]});
            } while (sent < REPLY.length - 1 && !peer.isEndedWithin(30));
            assertThat(sent).as("bytes sent").isBetween(2, 20);
            assertThat(told.refusal().reason()).isEqualTo(Reason.TIMED_OUT);
        }
    }

    @Test
    void aReplyBehindTheDeadlineChangesNothing() throws IOException {
        RecordingListener told = net.connect(server.address(), NetFixture.INITIATOR.withDeadline(NetFixture.SHORT));
        try (RawMpaPeer peer = server.accept()) {
            peer.readFrame();
            assertThat(told.refusal().reason()).isEqualTo(Reason.TIMED_OUT);
            peer.send(REPLY);
            peer.readUntilEnd();
        }
        assertThat(told.results()).hasSize(1);
        assertThat(told.prepared()).isEmpty();
    }

    @Test
    void aPortWithoutAListenerIsUnreachable() throws IOException {
        InetSocketAddress gone = server.address();
        server.close();
        assertThat(net.connect(gone, NetFixture.INITIATOR).refusal().reason()).isEqualTo(Reason.UNREACHABLE);
        assertThat(net.counters.value(Counter.CONNECT_UNREACHABLE)).isEqualTo(1);
    }

    @Test
    void anAddressThatCannotBeReachedEndsWithinTheDeadline() throws IOException {
        // A network for documentation: no route, or nobody there.
        InetSocketAddress nobody = new InetSocketAddress(InetAddress.getByName("192.0.2.1"), 20049);
        RecordingListener told = net.connect(nobody, NetFixture.INITIATOR.withDeadline(NetFixture.SHORT));
        assertThat(told.refusal().reason()).isIn(Reason.UNREACHABLE, Reason.TIMED_OUT);
        RecordingListener unresolved =
                net.connect(InetSocketAddress.createUnresolved("nobody.invalid", 1), NetFixture.INITIATOR);
        assertThat(unresolved.refusal().reason()).isEqualTo(Reason.UNREACHABLE);
    }

    @Test
    void cancelEndsTheSetUpOnceAndClosesTheSocket() throws IOException {
        RecordingListener told = new RecordingListener();
        InitiatorSetUp setUp = InitiatorSetUp.start(
                net.group.next(), server.address(), NetFixture.INITIATOR, net.counters, net.log, told);
        try (RawMpaPeer peer = server.accept()) {
            peer.readFrame();
            setUp.cancel();
            setUp.cancel();
            assertThat(told.refusal().reason()).isEqualTo(Reason.LOCAL);
            assertThat(peer.readUntilEnd()).isEmpty();
        }
        setUp.cancel();
        NetFixture.runOn(net.group.loops().get(0), () -> {});
        NetFixture.runOn(net.group.loops().get(1), () -> {});
        assertThat(told.results()).hasSize(1);
    }

    @Test
    void thereIsOneResultHoweverCancelDeadlineAndReplyRace() throws IOException {
        List<RecordingListener> all = new ArrayList<>();
        Listener listener = net.listen(
                NetFixture.RESPONDER,
                Listener.Limits.ofBacklog(64),
                request -> request.accept(new byte[0], 1, 1, closing()));
        for (int i = 0; i < 300; i++) {
            RecordingListener told = new RecordingListener();
            all.add(told);
            SetUpConfig config = i % 3 == 0
                    ? NetFixture.INITIATOR.withDeadline(Duration.ofNanos(100_000 + i * 2_000L))
                    : NetFixture.INITIATOR;
            InitiatorSetUp setUp = InitiatorSetUp.start(
                    net.group.next(), listener.localAddress(), config, net.counters, net.log, told);
            long until = System.nanoTime() + i * 2_000L;
            while (System.nanoTime() < until) {
                Thread.onSpinWait();
            }
            if (i % 3 != 2) {
                setUp.cancel();
            }
        }
        for (RecordingListener told : all) {
            Waits.until(() -> !told.results().isEmpty(), () -> "no result: " + net.counters.snapshot());
        }
        net.assertNoSetUpIsLeft();
        net.group.loops().forEach(loop -> NetFixture.runOn(loop, () -> {}));
        assertThat(all).allSatisfy(told -> assertThat(told.results()).hasSize(1));
        for (RecordingListener told : all) {
            if (told.results().getFirst() instanceof EstablishedStream stream) {
                NetFixture.closeStream(stream);
            }
        }
    }

    private static SetUpListener closing() {
        return new SetUpListener() {
            @Override
            public void onEstablished(EstablishedStream stream) {
                TcpOptions.closeQuietly(stream.channel());
            }

            @Override
            public void onRefused(ConnectRefusal refusal) {}
        };
    }

    @Test
    void theLoopsEndIsAResult() throws IOException {
        RecordingListener told = net.connect(server.address(), NetFixture.INITIATOR);
        try (RawMpaPeer peer = server.accept()) {
            peer.readFrame();
            net.group.close();
            assertThat(told.refusal().reason()).isEqualTo(Reason.LOCAL);
            assertThat(peer.readUntilEnd()).isEmpty();
        }
        assertThat(net.connect(server.address(), NetFixture.INITIATOR).refusal().reason())
                .isEqualTo(Reason.LOCAL);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void triesOnceMoreWithRevision1IfToldTo(boolean reset) throws IOException {
        RecordingListener told = net.connect(server.address(), NetFixture.INITIATOR.withRetryPlain(true));
        for (int attempt = 1; attempt <= 2; attempt++) {
            try (RawMpaPeer peer = server.accept()) {
                assertThat(peer.readFrame()).isEqualTo(attempt == 1 ? request(C | S, 2, words(32, 16)) : request(C, 1));
                assertThat(told.results()).isEmpty();
                if (reset) {
                    peer.reset();
                }
            }
        }
        assertThat(told.refusal().reason()).isEqualTo(Reason.CLOSED_BY_PEER);
        assertThat(server.hasNoneWithin(30)).isTrue();
        assertThat(net.counters.value(Counter.CONNECT_RETRIED_PLAIN)).isEqualTo(1);
    }

    @Test
    void theSecondAttemptCanSucceed() throws IOException {
        RecordingListener told = net.connect(server.address(), NetFixture.INITIATOR.withRetryPlain(true));
        server.accept().close();
        try (RawMpaPeer peer = server.accept()) {
            peer.readFrame();
            peer.send(reply(C, 1));
            EstablishedStream stream = told.stream();
            assertThat(stream.mpa().revision()).isEqualTo(1);
            NetFixture.closeStream(stream);
        }
    }

    @Test
    void neverTriesAgainAfterARejectionOrWithoutTheSetting() throws IOException {
        RecordingListener rejected = net.connect(server.address(), NetFixture.INITIATOR.withRetryPlain(true));
        try (RawMpaPeer peer = server.accept()) {
            peer.readFrame();
            peer.send(reply(C | R | S, 2, words(1, 1)));
            assertThat(rejected.refusal().reason()).isEqualTo(Reason.REJECTED);
        }
        RecordingListener closed = net.connect(server.address(), NetFixture.INITIATOR);
        server.accept().close();
        assertThat(closed.refusal().reason()).isEqualTo(Reason.CLOSED_BY_PEER);
        assertThat(server.hasNoneWithin(30)).isTrue();
    }
}
