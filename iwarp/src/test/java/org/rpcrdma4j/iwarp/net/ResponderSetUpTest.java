// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.C;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.M;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.R;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.S;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.frame;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.hex;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.join;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.reply;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.request;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.words;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.iwarp.mpa.MpaFrame;
import org.rpcrdma4j.iwarp.mpa.MpaWishes;

/** Our listener against a raw initiator: every request, whole or not, and the reply to it. */
class ResponderSetUpTest {
    private static final byte[] REQUEST = request(C | S, 2, words(32, 0));
    private final NetFixture net = new NetFixture();

    @AfterEach
    void close() {
        net.assertNoSetUpIsLeft();
        net.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void answersTheRequestsOfTheVectorsToTheByte(boolean byteByByte) throws IOException {
        String[][] exchanges = {
            {
                "4d504120494420526571204672616d6540010008f6ab0e1801010303",
                "4d504120494420526570204672616d6540010008f6ab0e1801000303"
            },
            {
                "4d504120494420526571204672616d655002000c8020c020f6ab0e1801010303",
                "4d504120494420526570204672616d655002000c80208010f6ab0e1801000303"
            },
            {
                "4d504120494420526571204672616d651002000c00800000f6ab0e1801010303",
                "4d504120494420526570204672616d655002000c00200010f6ab0e1801000303"
            }
        };
        Listener listener = net.listen(NetFixture.RESPONDER);
        for (String[] exchange : exchanges) {
            try (RawMpaPeer peer = RawMpaPeer.connect(listener.localAddress())) {
                byte[] request = hex(exchange[0]);
                if (byteByByte) {
                    peer.sendByteByByte(request);
                } else {
                    peer.send(request);
                }
                InboundRequest inbound = net.nextRequest();
                assertThat(inbound.frame().privateData()).isEqualTo(hex("f6ab0e1801010303"));
                RecordingListener told = new RecordingListener();
                inbound.accept(hex("f6ab0e1801000303"), 32, 16, told);
                assertThat(peer.readFrame()).isEqualTo(hex(exchange[1]));
                NetFixture.closeStream(told.stream());
                assertThat(peer.readUntilFin()).isEmpty();
            }
        }
        assertThat(net.counters.value(Counter.ACCEPT_ESTABLISHED)).isEqualTo(3);
    }

    @Test
    void handsUpThePeersNumbersUnswappedAndBoundsOurs() throws IOException {
        Listener listener = net.listen(NetFixture.RESPONDER);
        try (RawMpaPeer peer = RawMpaPeer.connect(listener.localAddress())) {
            peer.send(request(S, 2, words(3, 40)));
            InboundRequest inbound = net.nextRequest();
            assertThat(inbound.frame().enhancedSetup()).isNotNull();
            RecordingListener told = new RecordingListener();
            inbound.accept(new byte[0], 32, 16, told);
            EstablishedStream stream = told.stream();
            assertThat(stream.mpa().peerIrd()).isEqualTo(3);
            assertThat(stream.mpa().peerOrd()).isEqualTo(40);
            assertThat(stream.mpa().ord()).isEqualTo(3);
            assertThat(stream.mpa().ird()).isEqualTo(40);
            assertThat(stream.leftover().hasRemaining()).isFalse();
            assertThat(peer.readFrame()).isEqualTo(reply(C | S, 2, words(40, 3)));
            NetFixture.closeStream(stream);
        }
    }

    @Test
    void keepsItsOwnDepthsWhereTheRequestLeavesThemOpen() throws IOException {
        assertThat(acceptedReply(request(C | S, 2, words(0x3FFF, 0x3FFF))))
                .isEqualTo(reply(C | S, 2, words(0x3FFF, 0x3FFF)));
    }

    @Test
    void mirrorsRevisionAndS() throws IOException {
        assertThat(acceptedReply(request(C, 1))).isEqualTo(reply(C, 1));
        assertThat(acceptedReply(request(C, 2))).isEqualTo(reply(C, 2));
        assertThat(acceptedReply(request(C | S, 1, words(1, 2)))).isEqualTo(reply(C, 1));
        assertThat(acceptedReply(request(C | S, 2, words(1, 2)))).isEqualTo(reply(C | S, 2, words(32, 1)));
    }

    @Test
    void answersAWithAAndOneKindOfRtr() throws IOException {
        // Requests: B, C, D, none; B, C and D without A.
        assertThat(acceptedReply(request(C | S, 2, words(0xC001, 1))))
                .isEqualTo(reply(C | S, 2, words(0x8020, 0x8001)));
        assertThat(acceptedReply(request(C | S, 2, words(0x8001, 0x8001))))
                .isEqualTo(reply(C | S, 2, words(0x8020, 0x8001)));
        assertThat(acceptedReply(request(C | S, 2, words(0x8001, 0x4001))))
                .isEqualTo(reply(C | S, 2, words(0x8020, 0x4001)));
        assertThat(acceptedReply(request(C | S, 2, words(0x8001, 1))))
                .isEqualTo(reply(C | S, 2, words(0x8020, 0x8001)));
        assertThat(acceptedReply(request(C | S, 2, words(0x4001, 0xC001)))).isEqualTo(reply(C | S, 2, words(32, 1)));
    }

    @Test
    void doesNotLookAtRAndReservedBits() throws IOException {
        assertThat(acceptedReply(request(C | R, 1))).isEqualTo(reply(C, 1));
        assertThat(acceptedReply(request(C | 0x0F, 1))).isEqualTo(reply(C, 1));
        assertThat(acceptedReply(request(C | S | 0x0F, 2, words(1, 0)))).isEqualTo(reply(C | S, 2, words(32, 1)));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 8, 55, 508, 512})
    void takesPrivateDataUpTo512Bytes(int length) throws IOException {
        byte[] data = new byte[length];
        Arrays.fill(data, (byte) 0x5A);
        Listener listener = net.listen(NetFixture.RESPONDER);
        try (RawMpaPeer peer = RawMpaPeer.connect(listener.localAddress())) {
            peer.send(request(C, 1, data));
            InboundRequest inbound = net.nextRequest();
            assertThat(inbound.frame().privateData()).isEqualTo(data);
            RecordingListener told = new RecordingListener();
            inbound.accept(data, 1, 1, told);
            assertThat(peer.readFrame()).isEqualTo(reply(C, 1, data));
            NetFixture.closeStream(told.stream());
        }
    }

    static List<byte[]> malformedRequests() {
        List<byte[]> all = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            byte[] changed = request(C, 1);
            changed[i] ^= 0x20;
            all.add(changed);
        }
        for (int revision : new int[] {0, 3, 255}) {
            all.add(request(C, revision));
        }
        all.add(frame("MPA ID Req Frame", C, 1, 513, new byte[513]));
        all.add(frame("MPA ID Req Frame", C, 1, 65535, new byte[12]));
        for (int length = 0; length < 4; length++) {
            all.add(request(C | S, 2, new byte[length]));
        }
        all.add(reply(C, 1));
        all.add(join(request(C, 1), new byte[] {0}));
        all.add(join(REQUEST, REQUEST));
        all.add(join(REQUEST, hex("0016414700000000000000020000000100000000200200007fe42585")));
        all.add(hex("0016414700000000000000020000000100000000200200007fe42585"));
        all.add("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        return all;
    }

    @ParameterizedTest
    @MethodSource("malformedRequests")
    void closesOnAMalformedRequestWithoutAFrame(byte[] request) throws IOException {
        Listener listener = net.listen(NetFixture.RESPONDER);
        try (RawMpaPeer peer = RawMpaPeer.connect(listener.localAddress())) {
            peer.send(request);
            assertThat(peer.readUntilEnd()).isEmpty();
        }
        net.assertNoSetUpIsLeft();
        assertThat(net.requests).isEmpty();
        assertThat(net.counters.value(Counter.SET_UP_MALFORMED)).isEqualTo(1);
        assertThat(net.counters.value(Counter.ACCEPT_FAILED)).isEqualTo(1);
        assertThat(net.logger.lines()).hasSize(1).first().asString().contains("expected", "found");
        assertServes(listener);
    }

    @Test
    void survivesTheEndOfTheStreamAfterEveryPrefixOfARequest() throws IOException {
        Listener listener = net.listen(NetFixture.RESPONDER);
        byte[] request = request(C, 1, new byte[20]);
        for (int length = 0; length < request.length; length++) {
            for (boolean reset : new boolean[] {false, true}) {
                try (RawMpaPeer peer = RawMpaPeer.connect(listener.localAddress())) {
                    peer.send(Arrays.copyOf(request, length));
                    if (reset) {
                        peer.reset();
                    } else {
                        peer.finish();
                        assertThat(peer.readUntilEnd()).isEmpty();
                    }
                }
            }
        }
        net.assertNoSetUpIsLeft();
        assertThat(net.requests).isEmpty();
        assertServes(listener);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 19, 20})
    void closesASilentPeerAtTheDeadlineAndFreesItsPlace(int sent) throws IOException {
        Listener listener = net.listen(
                NetFixture.RESPONDER.withDeadline(NetFixture.SHORT), new Listener.Limits(1, 1), net.requests::add);
        long begin = System.nanoTime();
        try (RawMpaPeer peer = RawMpaPeer.connect(listener.localAddress())) {
            peer.send(Arrays.copyOf(REQUEST, sent));
            assertThat(peer.readUntilFin()).isEmpty();
        }
        assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(NetFixture.SHORT.toNanos() * 9 / 10);
        net.assertNoSetUpIsLeft();
        assertThat(net.counters.value(Counter.SET_UP_TIMEOUTS)).isEqualTo(1);
        assertServes(listener);
    }

    @Test
    void theDeadlineIsForTheWholeRequest() throws IOException {
        Listener listener = net.listen(NetFixture.RESPONDER.withDeadline(NetFixture.SHORT));
        try (RawMpaPeer peer = RawMpaPeer.connect(listener.localAddress())) {
            int sent = 0;
            do {
                peer.send(new byte[] {REQUEST[sent++]});
            } while (sent < REQUEST.length - 1 && !peer.isEndedWithin(30));
            assertThat(sent).as("bytes sent").isBetween(2, 20);
        }
        assertThat(net.counters.value(Counter.SET_UP_TIMEOUTS)).isEqualTo(1);
    }

    @Test
    void theFirstFpduBehindTheReplyReachesTheReceiver() throws IOException {
        byte[] fpdu = hex("0016414700000000000000020000000100000000200200007fe42585");
        RecordingListener told = new RecordingListener();
        Listener listener = net.listenAndAccept(NetFixture.RESPONDER, told);
        try (RawMpaPeer peer = RawMpaPeer.connect(listener.localAddress())) {
            peer.send(REQUEST);
            peer.readFrame();
            peer.send(fpdu);
            assertThat(NetFixture.readFrom(told.stream(), fpdu.length)).isEqualTo(fpdu);
            NetFixture.closeStream(told.stream());
        }
    }

    @Test
    void aRequestForMarkersIsRejectedWithoutAskingTheProgram() throws IOException {
        Listener listener = net.listen(NetFixture.RESPONDER);
        try (RawMpaPeer peer = RawMpaPeer.connect(listener.localAddress())) {
            peer.send(request(M | C | S, 2, words(1, 1)));
            assertThat(peer.readUntilFin()).isEqualTo(reply(C | R | S, 2, words(32, 1)));
        }
        assertThat(net.requests).isEmpty();
    }

    @Test
    void theRevisionOfTheRequestIsHandedUp() throws IOException {
        Listener listener = net.listen(NetFixture.RESPONDER);
        for (int revision = 1; revision <= 2; revision++) {
            try (RawMpaPeer peer = RawMpaPeer.connect(listener.localAddress())) {
                peer.send(request(C, revision));
                InboundRequest inbound = net.nextRequest();
                assertThat(inbound.frame().revision()).isEqualTo(revision);
                assertThat(inbound.frame().kind()).isEqualTo(MpaFrame.Kind.REQUEST);
                inbound.reject(new byte[0]);
                peer.readUntilFin();
            }
        }
    }

    private byte[] acceptedReply(byte[] request) throws IOException {
        RecordingListener told = new RecordingListener();
        try (Listener listener = net.listenAndAccept(NetFixture.RESPONDER, told);
                RawMpaPeer peer = RawMpaPeer.connect(listener.localAddress())) {
            peer.send(request);
            byte[] reply = peer.readFrame();
            NetFixture.closeStream(told.stream());
            return reply;
        }
    }

    private void assertServes(Listener listener) throws IOException {
        try (RawMpaPeer peer = RawMpaPeer.connect(listener.localAddress())) {
            peer.send(REQUEST);
            net.nextRequest().reject(new byte[0]);
            assertThat(peer.readUntilFin()).hasSize(24);
        }
    }

    @Test
    void theDefaultDeadlinesAreThoseOfSiw() {
        assertThat(SetUpConfig.responder(MpaWishes.of(1, 1)).deadline().toNanos())
                .isEqualTo(TimeUnit.SECONDS.toNanos(5));
        assertThat(NetFixture.INITIATOR.deadline().toNanos()).isEqualTo(TimeUnit.SECONDS.toNanos(10));
    }
}
