// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
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
import java.net.StandardSocketOptions;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.iwarp.mpa.MpaWishes;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectRefusal.Reason;
import org.rpcrdma4j.verbs.cm.Octets;

/** Our connecting side against a raw responder: the request, and every reply to it. */
class InitiatorSetUpTest {
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

    private static SetUpConfig wishing(MpaWishes wishes, String privateData) {
        return SetUpConfig.initiator(wishes, Octets.of(hex(privateData)));
    }

    @Test
    void sendsTheRequestsOfTheVectorsToTheByteAndNothingElseBeforeTheReply() throws IOException {
        Object[][] cases = {
            {MpaWishes.of(1, 1).plain(), "f6ab0e1801010303", "4d504120494420526571204672616d6540010008f6ab0e1801010303"
            },
            {
                MpaWishes.of(32, 32).withPeerToPeer(true),
                "f6ab0e1801010303",
                "4d504120494420526571204672616d655002000c8020c020f6ab0e1801010303"
            },
            {
                MpaWishes.of(128, 0).withCrc(false),
                "f6ab0e1801010303",
                "4d504120494420526571204672616d651002000c00800000f6ab0e1801010303"
            },
            {MpaWishes.of(1, 1).plain().withCrc(false), "", "4d504120494420526571204672616d6500010000"},
            {MpaWishes.of(8, 8).withPeerToPeer(true), "", "4d504120494420526571204672616d65500200048008c008"},
        };
        for (Object[] one : cases) {
            RecordingListener told = net.connect(server.address(), wishing((MpaWishes) one[0], (String) one[1]));
            try (RawMpaPeer peer = server.accept()) {
                assertThat(peer.readFrame()).isEqualTo(hex((String) one[2]));
                assertThat(peer.isEndedWithin(20)).isFalse();
                assertThat(told.results()).isEmpty();
            }
            assertThat(told.refusal().reason()).isEqualTo(Reason.CLOSED_BY_PEER);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void isEstablishedOnceAfterTheLastByteOfTheReply(boolean byteByByte) throws IOException {
        RecordingListener told = net.connect(server.address(), NetFixture.INITIATOR);
        try (RawMpaPeer peer = server.accept()) {
            peer.readFrame();
            byte[] reply = reply(C | S, 2, words(5, 7, hex("f6ab0e1801000303")));
            if (byteByByte) {
                peer.sendByteByByte(Arrays.copyOf(reply, reply.length - 1));
                assertThat(peer.isEndedWithin(30)).isFalse();
                assertThat(told.prepared()).isEmpty();
                peer.send(new byte[] {reply[reply.length - 1]});
            } else {
                peer.send(reply);
            }
            EstablishedStream stream = told.stream();
            assertThat(told.prepared()).containsExactly(stream);
            assertThat(stream.mpa().peerIrd()).isEqualTo(5);
            assertThat(stream.mpa().peerOrd()).isEqualTo(7);
            assertThat(stream.mpa().ird()).isEqualTo(32);
            assertThat(stream.mpa().ord()).isEqualTo(5);
            assertThat(stream.mpa().privateData()).isEqualTo(hex("f6ab0e1801000303"));
            assertThat(stream.leftover().hasRemaining()).isFalse();
            assertThat(stream.channel().isBlocking()).isFalse();
            assertThat(stream.channel().getOption(StandardSocketOptions.TCP_NODELAY))
                    .isTrue();
            assertThat(stream.channel().getOption(StandardSocketOptions.SO_KEEPALIVE))
                    .isTrue();
            NetFixture.closeStream(stream);
            assertThat(peer.readUntilFin()).isEmpty();
        }
        assertThat(net.counters.value(Counter.CONNECT_ESTABLISHED)).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 28, 1000, 300_000})
    void handsOverBytesGluedBehindTheReply(int length) throws IOException {
        byte[] following = new byte[length];
        for (int i = 0; i < length; i++) {
            following[i] = (byte) (i * 31 + 7);
        }
        RecordingListener told = net.connect(server.address(), NetFixture.INITIATOR);
        try (RawMpaPeer peer = server.accept()) {
            peer.readFrame();
            peer.send(join(REPLY, following));
            EstablishedStream stream = told.stream();
            assertThat(stream.leftover().order()).isEqualTo(ByteOrder.BIG_ENDIAN);
            assertThat(stream.leftover().isDirect()).isTrue();
            assertThat(NetFixture.readFrom(stream, length)).isEqualTo(following);
            NetFixture.closeStream(stream);
        }
    }

    static List<byte[]> malformedReplies() {
        List<byte[]> all = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            byte[] changed = REPLY.clone();
            changed[i] ^= 0x20;
            all.add(changed);
        }
        for (int revision : new int[] {0, 1, 3, 255}) {
            all.add(reply(C | S, revision, words(16, 8)));
        }
        all.add(reply(C, 2));
        all.add(reply(C, 1));
        all.add(frame("MPA ID Rep Frame", C | S, 2, 513, new byte[513]));
        all.add(frame("MPA ID Rep Frame", C | S, 2, 65535, new byte[12]));
        for (int length = 0; length < 4; length++) {
            all.add(reply(C | S, 2, new byte[length]));
        }
        all.add(request(C | S, 2, words(16, 8)));
        all.add("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        return all;
    }

    @ParameterizedTest
    @MethodSource("malformedReplies")
    void aMalformedReplyFailsTheConnectOnceAndClosesWithoutAFrame(byte[] reply) throws IOException {
        RecordingListener told = net.connect(server.address(), NetFixture.INITIATOR);
        try (RawMpaPeer peer = server.accept()) {
            peer.readFrame();
            peer.send(reply);
            assertThat(peer.readUntilFin()).isEmpty();
        }
        assertThat(told.refusal().reason()).isEqualTo(Reason.PROTOCOL_ERROR);
        assertThat(told.refusal().detail()).contains("expected", "found");
        assertThat(told.prepared()).isEmpty();
        assertThat(net.counters.value(Counter.SET_UP_MALFORMED)).isEqualTo(1);
        assertThat(net.counters.value(Counter.CONNECT_PROTOCOL_ERROR)).isEqualTo(1);
        assertThat(net.logger.lines()).hasSize(1);
    }

    @Test
    void twoInitiatorsAreTold() throws IOException {
        RecordingListener told = net.connect(server.address(), NetFixture.INITIATOR);
        try (RawMpaPeer peer = server.accept()) {
            peer.send(peer.readFrame());
            assertThat(told.refusal().detail()).contains("both ends are initiators");
        }
    }

    @Test
    void aRejectionIsHandedUpWithItsDataAndNumbers() throws IOException {
        byte[] data = "twenty bytes of data".getBytes(StandardCharsets.US_ASCII);
        for (byte[] rejection : List.of(reply(R | S, 2, words(3, 9, data)), reply(R, 1, data))) {
            RecordingListener told = net.connect(server.address(), NetFixture.INITIATOR);
            try (RawMpaPeer peer = server.accept()) {
                peer.readFrame();
                peer.send(rejection);
                assertThat(peer.readUntilFin()).isEmpty();
            }
            boolean enhanced = rejection.length == 44;
            ConnectRefusal refusal = told.refusal();
            assertThat(refusal.reason()).isEqualTo(Reason.REJECTED);
            assertThat(refusal.privateData()).isEqualTo(Octets.of(data));
            assertThat(refusal.peerInboundReads()).isEqualTo(enhanced ? 3 : 0);
            assertThat(refusal.peerOutboundReads()).isEqualTo(enhanced ? 9 : 0);
        }
        assertThat(net.counters.value(Counter.CONNECT_REJECTED)).isEqualTo(2);
    }

    @Test
    void aReplyThatWantsMoreReadsThanTheLimitGetsATerminateThenFin() throws IOException {
        RecordingListener told =
                net.connect(server.address(), wishing(MpaWishes.of(4, 4).withIrdLimit(4), ""));
        try (RawMpaPeer peer = server.accept()) {
            peer.readFrame();
            peer.send(reply(C | S, 2, words(4, 5)));
            assertThat(peer.readUntilFin()).isEqualTo(hex("0016414700000000000000020000000100000000200600006540fb1b"));
        }
        assertThat(told.refusal().reason()).isEqualTo(Reason.PROTOCOL_ERROR);
        assertThat(told.refusal().detail()).contains("ORD");
        assertThat(told.refusal().peerOutboundReads()).isEqualTo(5);
        assertThat(told.prepared()).isEmpty();
    }

    @Test
    void aReplyThatNamesNoUsableRtrGetsATerminateThenFin() throws IOException {
        RecordingListener told =
                net.connect(server.address(), wishing(MpaWishes.of(4, 4).withPeerToPeer(true), ""));
        try (RawMpaPeer peer = server.accept()) {
            peer.readFrame();
            peer.send(reply(C | S, 2, words(0xC004, 4)));
            assertThat(peer.readUntilFin()).isEqualTo(hex("0016414700000000000000020000000100000000200700001bd2babe"));
        }
        assertThat(told.refusal().detail()).contains("RTR");
    }

    @Test
    void aReplyThatAsksForMarkersIsRefusedWithoutAFrame() throws IOException {
        RecordingListener told = net.connect(server.address(), NetFixture.INITIATOR);
        try (RawMpaPeer peer = server.accept()) {
            peer.readFrame();
            peer.send(reply(M | C | S, 2, words(4, 4)));
            assertThat(peer.readUntilFin()).isEmpty();
        }
        assertThat(told.refusal().reason()).isEqualTo(Reason.PROTOCOL_ERROR);
        assertThat(told.refusal().detail()).contains("markers");
    }

    @Test
    void aLocalFailureBehindTheReplyIsToldByATerminate() throws IOException {
        RecordingListener told = net.connect(server.address(), NetFixture.INITIATOR, new RecordingListener(true));
        try (RawMpaPeer peer = server.accept()) {
            peer.readFrame();
            peer.send(REPLY);
            byte[] last = peer.readUntilFin();
            assertThat(last).hasSize(28);
            assertThat(Arrays.copyOf(last, 24)).isEqualTo(hex("001641470000000000000002000000010000000020050000"));
        }
        assertThat(told.refusal().reason()).isEqualTo(Reason.LOCAL);
        assertThat(told.refusal().detail()).contains("out of resources");
    }

    @Test
    void givesUpOnlyAfterAPause() throws IOException {
        RecordingListener told =
                net.connect(server.address(), wishing(MpaWishes.of(4, 4).withIrdLimit(4), ""));
        try (RawMpaPeer peer = server.accept()) {
            peer.readFrame();
            long begin = System.nanoTime();
            peer.send(reply(C | S, 2, words(4, 5)));
            assertThat(told.refusal().reason()).isEqualTo(Reason.PROTOCOL_ERROR);
            peer.readUntilFin();
            assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThanOrEqualTo(Duration.ofMillis(50));
        }
    }

    @Test
    void privateDataThatDoesNotFitIsRefusedBeforeTheConnect() throws IOException {
        SetUpConfig tooLong = SetUpConfig.initiator(NetFixture.WISHES, Octets.of(new byte[509]));
        assertThatThrownBy(() -> net.connect(server.address(), tooLong)).isInstanceOf(IllegalArgumentException.class);
        SetUpConfig plain = SetUpConfig.initiator(NetFixture.WISHES.plain(), Octets.of(new byte[513]));
        assertThatThrownBy(() -> net.connect(server.address(), plain)).isInstanceOf(IllegalArgumentException.class);
        assertThat(server.hasNoneWithin(30)).isTrue();
    }
}
