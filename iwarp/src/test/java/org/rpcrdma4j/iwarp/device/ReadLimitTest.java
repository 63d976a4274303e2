// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.device;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.cm.ListenEndpoint;

/** How many Reads are open at a time, what waits behind them, and that Reads both ways do not lock each other up. */
class ReadLimitTest {
    private static final int READS = 100;

    private final Loopback loopback =
            new Loopback("reads", Map.of("crc", "off", "enhanced", "off", "kick-millis", "0"));
    private final Side client = new Side(loopback.device, 256, 32 << 20);

    @AfterEach
    void closeAll() {
        client.close();
        loopback.close();
    }

    private static List<String> successes(int from, int to) {
        List<String> all = new ArrayList<>();
        for (int i = from; i < to; i++) {
            all.add(i + " SUCCESS");
        }
        return all;
    }

    private RawPeer connectToRawPeer(int ord) throws Exception {
        try (ServerSocket listening = RawPeer.server()) {
            loopback.connect(
                    client, (InetSocketAddress) listening.getLocalSocketAddress(), Loopback.OPTIONS.withReads(16, ord));
            RawPeer peer = RawPeer.accept(listening);
            client.get(client.established, "onEstablished");
            return peer;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 16})
    void neverMoreReadsAreOnTheWireThanAgreed(int ord) throws Exception {
        RawPeer peer = connectToRawPeer(ord);
        List<SendQueueRequest> chain = new ArrayList<>();
        for (int i = 0; i < READS; i++) {
            chain.add(client.read(i, 0x100, i, 0, 1));
        }
        chain.add(client.send(READS, 0, 0));
        client.queuePair.postSend(chain).orThrow();
        ArrayDeque<byte[]> open = new ArrayDeque<>();
        int seen = 0;
        int most = 0;
        peer.socket.setSoTimeout(20_000);
        while (seen < READS) {
            while (open.size() < Math.min(ord, READS - seen)) {
                byte[] request = peer.readUlpdu();
                assertThat(RawPeer.opcode(request))
                        .as("the Send waits behind the parked Reads")
                        .isEqualTo(1);
                assertThat(ByteBuffer.wrap(request).getInt(10)).as("MSN").isEqualTo(seen + open.size() + 1);
                open.add(request);
            }
            most = Math.max(most, open.size());
            if (seen % 25 == 0) {
                Waits.pause(Duration.ofMillis(10));
                assertThat(peer.socket.getInputStream().available())
                        .as("nothing beyond the limit")
                        .isLessThanOrEqualTo(READS - seen == open.size() ? 100 : 0);
            }
            answer(peer, open.remove());
            seen++;
        }
        assertThat(most).isEqualTo(ord);
        assertThat(RawPeer.opcode(peer.readUlpdu())).isEqualTo(3);
        assertThat(client.await(client.sending, READS + 1)).isEqualTo(successes(0, READS + 1));
        peer.close();
        client.awaitDisconnected();
    }

    private static void answer(RawPeer peer, byte[] request) throws Exception {
        ByteBuffer header = ByteBuffer.wrap(request);
        peer.send(RawPeer.tagged(2, true, header.getInt(18), header.getLong(22), (byte) 0x2A));
    }

    @Test
    void aSendBehindAReadLeavesEarlierButIsReportedLaterAndAFenceHoldsItBack() throws Exception {
        RawPeer peer = connectToRawPeer(4);
        client.queuePair
                .postSend(List.of(
                        client.read(0, 0x100, 0, 0, 1),
                        client.send(1, 0, 3),
                        client.read(2, 0x100, 1, 1, 1),
                        client.send(3, 0, 4).fence(true),
                        client.send(4, 0, 5)))
                .orThrow();
        byte[] first = peer.readUlpdu();
        assertThat(RawPeer.opcode(peer.readUlpdu())).isEqualTo(3);
        byte[] second = peer.readUlpdu();
        assertThat(RawPeer.opcode(second)).isEqualTo(1);
        Waits.pause(Duration.ofMillis(20));
        assertThat(peer.socket.getInputStream().available()).as("fenced").isZero();
        assertThat(client.poll(client.sending))
                .as("in order: nothing before the Read")
                .isEmpty();
        answer(peer, first);
        assertThat(client.await(client.sending, 2)).containsExactly("0 SUCCESS", "1 SUCCESS");
        assertThat(peer.socket.getInputStream().available())
                .as("the fence waits for all Reads")
                .isZero();
        answer(peer, second);
        assertThat(peer.readUlpdu()).hasSize(18 + 4);
        assertThat(peer.readUlpdu()).hasSize(18 + 5);
        assertThat(client.await(client.sending, 3)).containsExactly("2 SUCCESS", "3 SUCCESS", "4 SUCCESS");
        peer.close();
        client.awaitDisconnected();
    }

    @Test
    void oneReadMoreThanAgreedEndsTheStreamAndTheAgreedOnesCanAllWait() throws Exception {
        client.fill(3);
        client.queuePair.postReceive(client.receive(1, 0, 8)).orThrow();
        try (ListenEndpoint endpoint = loopback.serve(() -> client, Loopback.OPTIONS.withReads(4, 4));
                RawPeer peer = RawPeer.connect(endpoint.localAddress())) {
            // The first Response fills the socket, so the others wait.
            int msn = 1;
            peer.send(RawPeer.readRequest(msn++, 1, 0, 16 << 20, client.key(), client.address()));
            for (int i = 0; i < 3; i++) {
                peer.send(RawPeer.readRequest(msn++, 1, 0, 10, client.key(), client.address()));
            }
            peer.sendMessage((byte) 1);
            assertThat(client.await(client.receiving, 1))
                    .as("RFC 5040, Section 5.5, rule 18: a Send does not wait for Reads to be answered")
                    .containsExactly("1 SUCCESS");
            peer.send(RawPeer.readRequest(msn, 1, 0, 10, client.key(), client.address()));
            assertThat(requireNonNull(client.awaitDisconnected().report()).code())
                    .isEqualTo(2);
        }
    }

    @Test
    void sidesThatReadFromEachOtherWithFullSocketsBothFinish() {
        int size = 2 << 20;
        try (Side server = new Side(loopback.device, 64, 32 << 20)) {
            loopback.join(client, server);
            client.memory.asSlice(0, size).fill((byte) 1);
            server.memory.asSlice(0, size).fill((byte) 2);
            for (int i = 0; i < 14; i++) {
                long at = (long) size * (i + 1);
                client.queuePair.postSend(read(client, server, i, at, size)).orThrow();
                server.queuePair.postSend(read(server, client, i, at, size)).orThrow();
            }
            assertThat(client.await(client.sending, 14)).isEqualTo(successes(0, 14));
            assertThat(server.await(server.sending, 14)).isEqualTo(successes(0, 14));
            for (long at = size; at < 15L * size; at += 4093) {
                assertThat(client.memory.get(ValueLayout.JAVA_BYTE, at)).isEqualTo((byte) 2);
                assertThat(server.memory.get(ValueLayout.JAVA_BYTE, at)).isEqualTo((byte) 1);
            }
        }
    }

    private static SendQueueRequest read(Side reader, Side source, int id, long at, int size) {
        return reader.read(id, source.key(), source.address(), at, size);
    }
}
