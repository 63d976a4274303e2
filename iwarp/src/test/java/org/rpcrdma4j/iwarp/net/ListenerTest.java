// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.C;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.R;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.S;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.reply;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.request;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.words;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.verbs.cm.ConnectRefusal.Reason;

class ListenerTest {
    private static final byte[] REQUEST = request(C | S, 2, words(32, 0));
    private static final byte[] REJECTION = reply(C | R | S, 2, words(32, 16));

    private final NetFixture net = new NetFixture();

    @AfterEach
    void close() {
        net.close();
    }

    @Test
    void beyondTheBacklogRequestsAreAnsweredByR() throws IOException {
        Listener listener = net.listen(NetFixture.RESPONDER, new Listener.Limits(2, 10), net.requests::add);
        try (RawMpaPeer first = RawMpaPeer.connect(listener.localAddress());
                RawMpaPeer second = RawMpaPeer.connect(listener.localAddress());
                RawMpaPeer third = RawMpaPeer.connect(listener.localAddress())) {
            first.send(REQUEST);
            InboundRequest waiting = net.nextRequest();
            second.send(REQUEST);
            InboundRequest alsoWaiting = net.nextRequest();
            third.send(REQUEST);
            assertThat(third.readUntilFin()).isEqualTo(REJECTION);
            assertThat(listener.waitingRequests()).isEqualTo(2);
            assertThat(net.counters.value(Counter.ACCEPT_BACKLOG_FULL)).isEqualTo(1);

            waiting.reject(new byte[0]);
            assertThat(first.readUntilFin()).isEqualTo(REJECTION);
            RecordingListener told = new RecordingListener();
            alsoWaiting.accept(new byte[0], 1, 1, told);
            assertThat(second.readFrame()).hasSize(24);
            NetFixture.closeStream(told.stream());
        }
        net.assertNoSetUpIsLeft();
        try (RawMpaPeer later = RawMpaPeer.connect(listener.localAddress())) {
            later.send(REQUEST);
            net.nextRequest().reject(new byte[0]);
            assertThat(later.readUntilFin()).isEqualTo(REJECTION);
        }
    }

    @Test
    void beyondTheBoundOfOpenSetUpsSocketsAreClosed() throws IOException {
        Listener listener = net.listen(NetFixture.RESPONDER, new Listener.Limits(1, 2), net.requests::add);
        try (RawMpaPeer silent = RawMpaPeer.connect(listener.localAddress());
                RawMpaPeer alsoSilent = RawMpaPeer.connect(listener.localAddress())) {
            Waits.until(() -> listener.openSetUps() == 2, () -> listener.openSetUps() + " open");
            try (RawMpaPeer third = RawMpaPeer.connect(listener.localAddress())) {
                assertThat(third.readUntilEnd()).isEmpty();
            }
            assertThat(net.counters.value(Counter.ACCEPT_TURNED_AWAY)).isEqualTo(1);
            alsoSilent.reset();
            Waits.until(() -> listener.openSetUps() == 1, () -> listener.openSetUps() + " open");
            silent.send(REQUEST);
            net.nextRequest().reject(new byte[0]);
            assertThat(silent.readUntilFin()).isEqualTo(REJECTION);
        }
        net.assertNoSetUpIsLeft();
    }

    @Test
    void manyPeersThatDieInEveryWayLeaveNothingBehind() throws IOException {
        Listener listener = net.listen(NetFixture.RESPONDER, new Listener.Limits(4, 8), request -> {
            if (request.frame().pdLength() % 2 == 0) {
                request.reject(new byte[0]);
            }
        });
        for (int i = 0; i < 200; i++) {
            try (RawMpaPeer peer = RawMpaPeer.connect(listener.localAddress())) {
                sendIgnoringReset(peer, request(C, 1, new byte[i % 3]), i % 5);
                if (i % 2 == 0) {
                    peer.reset();
                }
            }
        }
        Waits.until(
                () -> net.counters.value(Counter.ACCEPTED) == 200,
                () -> net.counters.snapshot().toString());
        net.assertNoSetUpIsLeft();
        try (RawMpaPeer peer = RawMpaPeer.connect(listener.localAddress())) {
            peer.send(REQUEST);
            assertThat(peer.readUntilFin()).isEqualTo(REJECTION);
        }
    }

    private static void sendIgnoringReset(RawMpaPeer peer, byte[] bytes, int way) throws IOException {
        try {
            switch (way) {
                case 0 -> {}
                case 1 -> peer.send(new byte[] {'M'});
                case 2 -> peer.send(new byte[] {'X'});
                default -> peer.send(bytes);
            }
        } catch (SocketException e) {
            // Turned away before it could speak.
            assertThat(e).hasMessageMatching("(?s).*(reset|pipe|abort).*");
        }
    }

    @Test
    void closeFreesThePortRejectsWhatWaitsAndLeavesConnectionsAlone() throws IOException {
        Listener listener = net.listen(NetFixture.RESPONDER);
        InetSocketAddress address = listener.localAddress();
        RecordingListener told = new RecordingListener();
        RecordingListener late = new RecordingListener();
        try (RawMpaPeer connected = RawMpaPeer.connect(address);
                RawMpaPeer waiting = RawMpaPeer.connect(address);
                RawMpaPeer silent = RawMpaPeer.connect(address)) {
            connected.send(REQUEST);
            net.nextRequest().accept(new byte[0], 1, 1, told);
            connected.readFrame();
            EstablishedStream stream = told.stream();
            waiting.send(REQUEST);
            InboundRequest inbound = net.nextRequest();
            Waits.until(() -> listener.openSetUps() == 2, () -> listener.openSetUps() + " open");

            listener.close();
            listener.close();
            assertThatThrownBy(() -> RawMpaPeer.connect(address)).isInstanceOf(ConnectException.class);
            assertThat(waiting.readUntilFin()).isEqualTo(REJECTION);
            assertThat(silent.readUntilFin()).isEmpty();
            inbound.accept(new byte[0], 1, 1, late);
            assertThat(late.refusal().reason()).isEqualTo(Reason.LOCAL);
            assertThat(connected.isEndedWithin(20)).isFalse();
            connected.send(new byte[] {1, 2, 3});
            assertThat(NetFixture.readFrom(stream, 3)).containsExactly(1, 2, 3);
            NetFixture.closeStream(stream);
        }
        net.assertNoSetUpIsLeft();
    }

    @Test
    void thePortCanBeTakenAgainAtOnce() throws IOException {
        Listener listener = net.listen(NetFixture.RESPONDER);
        InetSocketAddress address = listener.localAddress();
        try (RawMpaPeer peer = RawMpaPeer.connect(address)) {
            peer.send(REQUEST);
            net.nextRequest().reject(new byte[0]);
            peer.readUntilFin();
            listener.close();
            try (Listener again = Listener.open(
                    address,
                    Listener.Limits.ofBacklog(1),
                    net.group,
                    NetFixture.RESPONDER,
                    net.counters,
                    net.log,
                    net.requests::add)) {
                assertThat(again.localAddress()).isEqualTo(address);
                assertThatThrownBy(() -> Listener.open(
                                address,
                                Listener.Limits.ofBacklog(1),
                                net.group,
                                NetFixture.RESPONDER,
                                net.counters,
                                net.log,
                                net.requests::add))
                        .isInstanceOf(IOException.class);
            }
        }
    }

    @Test
    void failuresToAcceptPauseInsteadOfSpinning() throws IOException {
        AtomicInteger calls = new AtomicInteger();
        ServerSocketChannel server = ServerSocketChannel.open();
        server.configureBlocking(false);
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        long begin = System.nanoTime();
        try (Listener listener = Listener.open(
                        server,
                        () -> {
                            if (calls.incrementAndGet() <= 3) {
                                throw new IOException("Too many open files");
                            }
                            return server.accept();
                        },
                        Listener.Limits.ofBacklog(4),
                        net.group,
                        NetFixture.RESPONDER,
                        net.counters,
                        net.log,
                        net.requests::add);
                RawMpaPeer peer = RawMpaPeer.connect(listener.localAddress())) {
            peer.send(REQUEST);
            net.nextRequest().reject(new byte[0]);
            assertThat(peer.readUntilFin()).isEqualTo(REJECTION);
            // 10 + 20 + 40 ms.
            assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(70_000_000);
            assertThat(net.counters.value(Counter.ACCEPT_ERRORS)).isEqualTo(3);
            assertThat(calls.get()).isLessThanOrEqualTo(5);
        }
    }

    @Test
    void aRequestHandlerThatFailsRejects() throws IOException {
        EventLoopGroup group = new EventLoopGroup("failing", 1, 4096, false);
        group.onError(error -> net.counters.increment(Counter.TASK_ERRORS));
        try (group;
                Listener listener = Listener.open(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        Listener.Limits.ofBacklog(1),
                        group,
                        NetFixture.RESPONDER,
                        net.counters,
                        net.log,
                        request -> {
                            throw new IllegalStateException("the program failed");
                        });
                RawMpaPeer peer = RawMpaPeer.connect(listener.localAddress())) {
            peer.send(REQUEST);
            assertThat(peer.readUntilFin()).isEqualTo(REJECTION);
            Waits.until(
                    () -> net.counters.value(Counter.TASK_ERRORS) == 1,
                    () -> net.counters.snapshot().toString());
        }
    }

    @Test
    void acceptedSocketsHaveTheOptionsOfAConnection() throws IOException {
        RecordingListener told = new RecordingListener();
        Listener listener = net.listenAndAccept(NetFixture.RESPONDER, told);
        try (RawMpaPeer peer = RawMpaPeer.connect(listener.localAddress())) {
            peer.send(REQUEST);
            EstablishedStream stream = told.stream();
            assertThat(stream.channel().isBlocking()).isFalse();
            assertThat(stream.channel().getOption(StandardSocketOptions.TCP_NODELAY))
                    .isTrue();
            assertThat(stream.channel().getOption(StandardSocketOptions.SO_KEEPALIVE))
                    .isTrue();
            NetFixture.closeStream(stream);
        }
    }

    @Test
    void ourTwoSidesAgreeOneHundredTimes() {
        List<RecordingListener> accepted = new ArrayList<>();
        Listener listener = net.listen(NetFixture.RESPONDER, Listener.Limits.ofBacklog(200), request -> {
            RecordingListener told = new RecordingListener();
            synchronized (accepted) {
                accepted.add(told);
            }
            request.accept(new byte[] {1, 2}, 8, 8, told);
        });
        List<RecordingListener> connected = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            connected.add(net.connect(listener.localAddress(), NetFixture.INITIATOR));
        }
        connected.forEach(told -> {
            EstablishedStream stream = told.stream();
            assertThat(stream.mpa().privateData()).containsExactly(1, 2);
            assertThat(stream.mpa().ord()).isEqualTo(16);
            NetFixture.closeStream(stream);
        });
        assertThat(accepted).hasSize(100).allSatisfy(told -> {
            EstablishedStream stream = told.stream();
            assertThat(stream.mpa().ord()).isEqualTo(8);
            NetFixture.closeStream(stream);
        });
        net.assertNoSetUpIsLeft();
    }

    @Test
    void limitsAreChecked() {
        assertThatThrownBy(() -> new Listener.Limits(0, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Listener.Limits(2, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThat(Listener.Limits.ofBacklog(1)).isEqualTo(new Listener.Limits(1, 1024));
        assertThat(Listener.Limits.ofBacklog(Integer.MAX_VALUE).open()).isEqualTo(Integer.MAX_VALUE);
    }
}
