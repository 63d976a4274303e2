// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.LocalInvalidateRequest;
import org.rpcrdma4j.verbs.QueuePair.State;
import org.rpcrdma4j.verbs.RegisterRequest;
import org.rpcrdma4j.verbs.cm.Disconnect.Cause;
import org.rpcrdma4j.verbs.cm.ListenEndpoint;

/** A peer that stops reading, or stops in the middle of a segment, holds up nobody but itself. */
class StuckPeerTest {
    private static final long PROMPT_NANOS = 2_000_000_000L;
    private static final int SENT_BYTES = 8 << 20;

    private final Loopback loopback = new Loopback("stuck", Map.of("crc", "off", "threads", "1", "kick-millis", "0"));
    private final Side side = new Side(loopback.device, 32, 16 << 20);
    private RawPeer peer;

    @BeforeEach
    void connect() throws Exception {
        side.queuePair.postReceive(side.receive(100, 15 << 20, 64)).orThrow();
        try (ListenEndpoint endpoint = loopback.serve(() -> side, Loopback.OPTIONS)) {
            peer = RawPeer.connect(endpoint.localAddress());
        }
        peer.sendMessage((byte) 1);
        assertThat(side.await(side.receiving, 1)).containsExactly("100 SUCCESS");
    }

    @AfterEach
    void closeAll() throws Exception {
        peer.close();
        side.close();
        loopback.close();
    }

    private void fillTheSocket() {
        side.queuePair.postSend(side.send(1, 0, SENT_BYTES)).orThrow();
        side.queuePair.postSend(side.send(2, 0, SENT_BYTES)).orThrow();
        Waits.pause(Duration.ofMillis(50));
        assertThat(side.poll(side.sending)).as("the socket is full").isEmpty();
    }

    private static void promptly(Runnable call) {
        long begin = System.nanoTime();
        call.run();
        assertThat(System.nanoTime() - begin).isLessThan(PROMPT_NANOS);
    }

    private FastRegion registered(long id) {
        FastRegion fast = side.domain.allocateFastRegion(8);
        fast.map(List.of(side.memory.asSlice(14 << 20, 8192)), 0x1000);
        side.queuePair
                .postSend(new RegisterRequest()
                        .id(id)
                        .region(fast, fast.advanceKey())
                        .access(Access.REMOTE_WRITE))
                .orThrow();
        assertThat(side.await(side.sending, 1)).containsExactly(id + " SUCCESS");
        return fast;
    }

    @Test
    void othersOnTheSameThreadGoOn() {
        fillTheSocket();
        try (Side client = new Side(loopback.device, 8, 1 << 16);
                Side server = new Side(loopback.device, 8, 1 << 16)) {
            loopback.join(client, server);
            for (int i = 0; i < 100; i++) {
                server.queuePair.postReceive(server.receive(i, 0, 4096)).orThrow();
                client.queuePair.postSend(client.send(i, 0, 4096)).orThrow();
                assertThat(server.await(server.receiving, 1)).containsExactly(i + " SUCCESS");
                assertThat(client.await(client.sending, 1)).containsExactly(i + " SUCCESS");
            }
        }
    }

    @Test
    void anInvalidationBehindBlockedSendsWaitsForThem() throws Exception {
        FastRegion fast = registered(0);
        fillTheSocket();
        side.queuePair
                .postSend(new LocalInvalidateRequest().id(3).key(fast.remoteKey()))
                .orThrow();
        Waits.pause(Duration.ofMillis(50));
        assertThat(side.poll(side.sending)).isEmpty();
        assertThat(fast.isValid()).isTrue();
        peer.send(RawPeer.write(fast.remoteKey(), 0x1000, (byte) 0x55));
        Waits.until(() -> side.memory.get(ValueLayout.JAVA_BYTE, 14 << 20) == 0x55, () -> "still open to the peer");
        for (long read = 0; read < 2L * SENT_BYTES; ) {
            read += peer.readUlpdu().length - 18;
        }
        assertThat(side.await(side.sending, 3)).containsExactly("1 SUCCESS", "2 SUCCESS", "3 SUCCESS");
        assertThat(fast.isValid()).isFalse();
        fast.close();
    }

    @Test
    void closingARegionFencesAtOnceAlsoWhileItsBytesWaitForTheSocket() throws Exception {
        FastRegion fast = registered(0);
        fillTheSocket();
        int key = fast.remoteKey();
        promptly(fast::close);
        side.memory.asSlice(14 << 20, 8192).fill((byte) 7);
        peer.send(RawPeer.write(key, 0x1000, (byte) 0x55));
        assertThat(side.awaitDisconnected().cause()).isEqualTo(Cause.LOCAL_ERROR);
        assertThat(side.memory.get(ValueLayout.JAVA_BYTE, 14 << 20)).isEqualTo((byte) 7);
        assertThat(side.await(side.sending, 2)).containsExactly("1 FLUSHED", "2 FLUSHED");
    }

    @Test
    void theSourceOfABlockedSendCanBeClosedToo() throws Exception {
        fillTheSocket();
        promptly(side.region::close);
        side.memory.fill((byte) 9);
        int zeros = 0;
        for (byte[] ulpdu = peer.nextUlpdu(); ulpdu != null; ulpdu = peer.nextUlpdu()) {
            if (RawPeer.opcode(ulpdu) == 3) {
                byte[] payload = Arrays.copyOfRange(ulpdu, 18, ulpdu.length);
                assertThat(payload).as("old bytes, whole segments").isEqualTo(new byte[payload.length]);
                zeros += payload.length;
            } else {
                assertThat(RawPeer.opcode(ulpdu)).as("then a Terminate").isEqualTo(7);
            }
        }
        assertThat(zeros).isBetween(1, 2 * SENT_BYTES - 1);
        assertThat(side.await(side.sending, 2)).element(0).isEqualTo("1 LOCAL_PROTECTION_ERROR");
    }

    @Test
    void abortReturnsAtOnceAndFlushes() {
        fillTheSocket();
        promptly(side.queuePair::abort);
        assertThat(side.poll(side.sending)).containsExactly("1 FLUSHED", "2 FLUSHED");
        assertThat(side.awaitDisconnected().cause()).isEqualTo(Cause.LOCAL_CLOSE);
    }

    @Test
    void closeReturnsAtOnce() {
        fillTheSocket();
        promptly(side.queuePair::close);
        side.awaitDisconnected();
        assertThat(side.poll(side.sending)).as("discarded").isEmpty();
    }

    @Test
    void theDeviceClosesAtOnce() {
        fillTheSocket();
        promptly(loopback.device::close);
        assertThat(side.ends).hasValue(1);
    }

    @Test
    void aPeerThatStallsInsideASegmentDelaysNoInvalidation() throws Exception {
        FastRegion fast = registered(0);
        byte[] payload = new byte[4000];
        Arrays.fill(payload, (byte) 0x66);
        byte[] segment = RawPeer.write(fast.remoteKey(), 0x1000, payload);
        peer.send(Arrays.copyOf(segment, 3000));
        Waits.pause(Duration.ofMillis(30));
        side.queuePair
                .postSend(new LocalInvalidateRequest().id(3).key(fast.remoteKey()))
                .orThrow();
        promptly(() -> assertThat(side.await(side.sending, 1)).containsExactly("3 SUCCESS"));
        fast.unmap();
        peer.send(Arrays.copyOfRange(segment, 3000, segment.length));
        side.awaitDisconnected();
        assertThat(side.memory.asSlice(14 << 20, 8192).toArray(ValueLayout.JAVA_BYTE))
                .isEqualTo(new byte[8192]);
        fast.close();
    }

    @Test
    void resetsAndFinsInTheMiddleAreToldApart() throws Exception {
        side.queuePair.postReceive(side.receive(1, 0, 64)).orThrow();
        byte[] segment = RawPeer.untagged(3, 0, 2, (byte) 1, (byte) 2);
        peer.send(Arrays.copyOf(segment, 10));
        peer.socket.shutdownOutput();
        assertThat(side.awaitDisconnected().cause()).isEqualTo(Cause.CONNECTION_LOST);
        assertThat(side.await(side.receiving, 1)).containsExactly("1 FLUSHED");
        assertThat(side.memory.get(ValueLayout.JAVA_BYTE, 0)).isZero();
        assertThat(side.queuePair.state()).isEqualTo(State.ERROR);
        assertThat(peer.isAtFin()).as("our FIN").isTrue();
    }

    @Test
    void aResetIsALostConnection() throws Exception {
        fillTheSocket();
        peer.reset();
        assertThat(side.awaitDisconnected().cause()).isEqualTo(Cause.CONNECTION_LOST);
        assertThat(side.await(side.sending, 2)).containsExactly("1 FLUSHED", "2 FLUSHED");
    }

    @Test
    void aFinBetweenMessagesIsAnOrderlyEndAnsweredByOurs() throws Exception {
        side.queuePair.postReceive(side.receive(1, 0, 64)).orThrow();
        side.queuePair.postReceive(side.receive(2, 0, 64)).orThrow();
        peer.sendMessage((byte) 5);
        peer.socket.shutdownOutput();
        assertThat(side.awaitDisconnected().cause()).isEqualTo(Cause.REMOTE_CLOSE);
        assertThat(side.await(side.receiving, 2)).containsExactly("1 SUCCESS", "2 FLUSHED");
        assertThat(peer.isAtFin()).as("our FIN").isTrue();
    }
}
