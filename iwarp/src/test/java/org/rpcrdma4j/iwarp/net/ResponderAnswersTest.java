// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.C;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.R;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.S;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.hex;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.reply;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.request;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.words;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectRefusal.Reason;

/** The program's answers to requests: when they reach the peer, and what may become of them. */
class ResponderAnswersTest {
    private static final byte[] REQUEST = request(C | S, 2, words(32, 0));
    private final NetFixture net = new NetFixture();

    @AfterEach
    void close() {
        net.assertNoSetUpIsLeft();
        net.close();
    }

    @Test
    void isPreparedBeforeTheFirstByteOfTheReply() throws IOException {
        CountDownLatch preparing = new CountDownLatch(1);
        CountDownLatch ready = new CountDownLatch(1);
        List<String> order = new ArrayList<>();
        Listener listener = net.listen(NetFixture.RESPONDER);
        try (RawMpaPeer peer = RawMpaPeer.connect(listener.localAddress())) {
            peer.send(REQUEST);
            net.nextRequest().accept(new byte[0], 1, 1, new SetUpListener() {
                @Override
                public void onPrepare(EstablishedStream stream) {
                    order.add("prepare");
                    preparing.countDown();
                    Waits.until(ready, () -> "the test did not look");
                }

                @Override
                public void onEstablished(EstablishedStream stream) {
                    order.add("established");
                    TcpOptions.closeQuietly(stream.channel());
                }

                @Override
                public void onRefused(ConnectRefusal refusal) {
                    order.add(refusal.toString());
                }
            });
            Waits.until(preparing, () -> "not prepared");
            assertThat(peer.isEndedWithin(50)).isFalse();
            ready.countDown();
            assertThat(peer.readFrame()).startsWith(hex("4d50412049442052657020"));
            peer.readUntilEnd();
        }
        assertThat(order).containsExactly("prepare", "established");
    }

    @Test
    void aRejectionReachesThePeerBeforeFinAndWithoutAReset() throws IOException {
        byte[] data = "twenty bytes of data".getBytes(StandardCharsets.US_ASCII);
        Listener listener = net.listen(NetFixture.RESPONDER);
        for (byte[] request : List.of(REQUEST, request(C, 1))) {
            try (RawMpaPeer peer = RawMpaPeer.connect(listener.localAddress())) {
                peer.send(request);
                net.nextRequest().reject(data);
                byte[] expected =
                        request.length == 20 ? reply(C | R, 1, data) : reply(C | R | S, 2, words(32, 16, data));
                assertThat(peer.readUntilFin()).isEqualTo(expected);
                // Not reset while the peer still talks.
                peer.send(new byte[100]);
                assertThat(peer.isEndedWithin(20)).isTrue();
            }
        }
        assertThat(net.counters.value(Counter.ACCEPT_REJECTED)).isEqualTo(2);
    }

    @Test
    void aRejectionCanNameTheReadsThatAreNeeded() throws IOException {
        Listener listener = net.listen(NetFixture.RESPONDER);
        try (RawMpaPeer peer = RawMpaPeer.connect(listener.localAddress())) {
            peer.send(request(C | S, 2, words(0, 0)));
            net.nextRequest().reject(new byte[0], 1);
            assertThat(peer.readUntilFin()).isEqualTo(reply(C | R | S, 2, words(32, 1)));
        }
    }

    @Test
    void aRequestThatIsNotAnsweredInTimeIsRejected() throws IOException {
        Listener listener = net.listen(NetFixture.RESPONDER.withDecision(NetFixture.SHORT));
        try (RawMpaPeer peer = RawMpaPeer.connect(listener.localAddress())) {
            peer.send(REQUEST);
            InboundRequest inbound = net.nextRequest();
            assertThat(peer.readUntilFin()).isEqualTo(reply(C | R | S, 2, words(32, 16)));
            RecordingListener told = new RecordingListener();
            inbound.accept(new byte[0], 1, 1, told);
            assertThat(told.refusal().reason()).isEqualTo(Reason.TIMED_OUT);
            assertThat(told.prepared()).isEmpty();
        }
    }

    @Test
    void anAcceptanceFailsOnceWhenThePeerIsGone() throws IOException {
        Listener listener = net.listen(NetFixture.RESPONDER);
        for (int way = 0; way < 3; way++) {
            RecordingListener told = new RecordingListener();
            InboundRequest inbound;
            try (RawMpaPeer peer = RawMpaPeer.connect(listener.localAddress())) {
                peer.send(REQUEST);
                inbound = net.nextRequest();
                switch (way) {
                    case 0 -> peer.finish();
                    case 1 -> peer.reset();
                    default -> peer.send(new byte[] {0});
                }
                net.assertNoSetUpIsLeft();
                inbound.accept(new byte[0], 1, 1, told);
                assertThat(told.refusal().reason()).isEqualTo(way == 2 ? Reason.PROTOCOL_ERROR : Reason.CLOSED_BY_PEER);
                assertThat(told.prepared()).isEmpty();
                if (way != 1) {
                    assertThat(peer.readUntilEnd()).isEmpty();
                }
            }
        }
    }

    @Test
    void anAnswerIsGivenOnceAndChecked() throws IOException {
        Listener listener = net.listen(NetFixture.RESPONDER);
        try (RawMpaPeer peer = RawMpaPeer.connect(listener.localAddress())) {
            peer.send(REQUEST);
            InboundRequest inbound = net.nextRequest();
            RecordingListener told = new RecordingListener();
            assertThatThrownBy(() -> inbound.accept(new byte[509], 1, 1, told))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("509", "508");
            assertThatThrownBy(() -> inbound.accept(new byte[0], -1, 1, told))
                    .isInstanceOf(IllegalArgumentException.class);
            inbound.reject(new byte[0]);
            assertThatThrownBy(() -> inbound.reject(new byte[0])).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> inbound.accept(new byte[0], 1, 1, told)).isInstanceOf(IllegalStateException.class);
            assertThat(told.results()).isEmpty();
            assertThat(inbound.localAddress()).isEqualTo(listener.localAddress());
            peer.readUntilFin();
        }
    }

    @Test
    void aLocalFailureBeforeTheReplyIsToldByR() throws IOException {
        RecordingListener told = new RecordingListener(true);
        Listener listener = net.listenAndAccept(NetFixture.RESPONDER, told);
        try (RawMpaPeer peer = RawMpaPeer.connect(listener.localAddress())) {
            peer.send(REQUEST);
            assertThat(peer.readUntilFin()).isEqualTo(reply(C | R | S, 2, words(32, 16)));
        }
        assertThat(told.refusal().reason()).isEqualTo(Reason.LOCAL);
        assertThat(told.prepared()).hasSize(1);
    }
}
