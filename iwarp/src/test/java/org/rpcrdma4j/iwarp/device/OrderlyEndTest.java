// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.iwarp.mem.OwnThread;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.cm.Disconnect.Cause;
import org.rpcrdma4j.verbs.cm.ListenEndpoint;

/** RFC 5041, Section 6.2.1, and RFC 5040, Section 6.2.1: what was submitted goes out before the end, and so does a Terminate. */
class OrderlyEndTest {
    private static final int WRITES = 100;
    private static final int WRITE_BYTES = 10_000;

    private final Loopback loopback = new Loopback("orderly", Map.of("crc", "off", "kick-millis", "0"));
    private final Side side = new Side(loopback.device, 128, WRITES * WRITE_BYTES);

    @AfterEach
    void closeAll() {
        side.close();
        loopback.close();
    }

    private List<SendQueueRequest> writesAndASend(int key, long address) {
        List<SendQueueRequest> chain = new ArrayList<>();
        for (int i = 0; i < WRITES; i++) {
            chain.add(side.write(i, key, address + (long) i * WRITE_BYTES, (long) i * WRITE_BYTES, WRITE_BYTES)
                    .signaled(false));
        }
        chain.add(side.send(WRITES, 0, 5));
        return chain;
    }

    @Test
    void aHundredWritesAndASendArriveWholeThoughTheDisconnectFollowsAtOnce() {
        try (Side server = new Side(loopback.device, 8, WRITES * WRITE_BYTES + 64)) {
            server.queuePair
                    .postReceive(List.of(server.receive(1, WRITES * WRITE_BYTES, 64), server.receive(2, 0, 1)))
                    .orThrow();
            loopback.join(side, server);
            side.fill(1);
            side.queuePair
                    .postSend(writesAndASend(server.key(), server.address()))
                    .orThrow();
            side.queuePair.disconnect();
            assertThat(server.await(server.receiving, 2)).containsExactly("1 SUCCESS", "2 FLUSHED");
            assertThat(server.memory.asSlice(0, WRITES * WRITE_BYTES).mismatch(side.memory))
                    .isEqualTo(-1);
            assertThat(side.await(side.sending, 1)).containsExactly(WRITES + " SUCCESS");
            assertThat(side.awaitDisconnected().cause()).isEqualTo(Cause.LOCAL_CLOSE);
            assertThat(server.awaitDisconnected().cause()).isEqualTo(Cause.REMOTE_CLOSE);
        }
    }

    @Test
    void aSlowReaderGetsAllOfItAndThenTheFin() throws Exception {
        RawPeer peer = accepted();
        side.queuePair.postReceive(side.receive(7, 0, 8)).orThrow();
        side.queuePair.postSend(writesAndASend(0x1234_5600, 0)).orThrow();
        side.queuePair.disconnect();
        long bytes = 0;
        int messages = 0;
        for (byte[] ulpdu = peer.nextUlpdu(); ulpdu != null; ulpdu = peer.nextUlpdu()) {
            messages++;
            bytes += RawPeer.opcode(ulpdu) == 0 ? ulpdu.length - 14 : 0;
            if (messages % 20 == 0) {
                Waits.pause(Duration.ofMillis(5));
            }
        }
        assertThat(messages).isEqualTo(WRITES + 1);
        assertThat(bytes).isEqualTo((long) WRITES * WRITE_BYTES);
        assertThat(side.await(side.sending, 1)).containsExactly(WRITES + " SUCCESS");
        peer.close();
        assertThat(side.awaitDisconnected().cause()).isEqualTo(Cause.LOCAL_CLOSE);
        assertThat(side.await(side.receiving, 1)).containsExactly("7 FLUSHED");
    }

    private RawPeer accepted() throws Exception {
        side.queuePair.postReceive(side.receive(6, 0, 8)).orThrow();
        try (ListenEndpoint endpoint = loopback.serve(() -> side, Loopback.OPTIONS)) {
            RawPeer peer = RawPeer.connect(endpoint.localAddress());
            peer.sendMessage((byte) 1);
            assertThat(side.await(side.receiving, 1)).containsExactly("6 SUCCESS");
            return peer;
        }
    }

    @Test
    void whatThePeerSendsBehindOurFinIsStillDelivered() throws Exception {
        RawPeer peer = accepted();
        side.queuePair.postReceive(side.receive(7, 0, 8)).orThrow();
        side.queuePair.disconnect();
        assertThat(peer.isAtFin()).as("our FIN").isTrue();
        peer.sendMessage((byte) 9);
        assertThat(side.await(side.receiving, 1)).containsExactly("7 SUCCESS");
        assertThat(side.memory.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 9);
        peer.close();
        assertThat(side.awaitDisconnected().cause()).isEqualTo(Cause.LOCAL_CLOSE);
    }

    @Test
    void aPeerThatNeverSendsItsFinEndsInTheDrainTime() throws Exception {
        RawPeer peer = accepted();
        side.queuePair.disconnect();
        assertThat(peer.isAtFin()).as("our FIN").isTrue();
        long begin = System.nanoTime();
        assertThat(side.awaitDisconnected().cause()).isEqualTo(Cause.LOCAL_CLOSE);
        assertThat(System.nanoTime() - begin).isLessThan(TimeUnit.SECONDS.toNanos(5));
        peer.close();
    }

    @Test
    void aTerminateSurvivesThatMuchIsStillOnItsWayToUs() throws Exception {
        RawPeer peer = accepted();
        CompletableFuture<Void> flood = OwnThread.run(() -> {
            peer.send(RawPeer.write(0x7777_7700, 0, (byte) 1));
            byte[] more = RawPeer.write(side.key(), side.address() + 100, new byte[8192]);
            for (int i = 0; i < 128; i++) {
                peer.send(more);
            }
        });
        flood.get(20, TimeUnit.SECONDS);
        byte[] terminate = peer.readUlpdu();
        assertThat(RawPeer.opcode(terminate)).isEqualTo(7);
        // Layer 1, type 1, code 0: an invalid STag.
        assertThat(terminate[18] & 0xFF).isEqualTo(0x11);
        assertThat(peer.isAtFin()).as("nothing follows, then our FIN").isTrue();
        assertThat(side.awaitDisconnected().cause()).isEqualTo(Cause.LOCAL_ERROR);
        assertThat(loopback.device.counters())
                .as("dropped without an error of ours")
                .containsEntry("loop.task_errors", 0L);
        peer.close();
    }

    @Test
    void afterOurTerminateNothingIsPlacedAnyMore() throws Exception {
        RawPeer peer = accepted();
        peer.send(RawPeer.write(0x7777_7700, 0, (byte) 1));
        assertThat(RawPeer.opcode(peer.readUlpdu())).isEqualTo(7);
        for (int i = 0; i < 50; i++) {
            peer.send(RawPeer.write(side.key(), side.address() + 500, (byte) 0x44));
            Waits.pause(Duration.ofMillis(2));
        }
        assertThat(side.memory.get(ValueLayout.JAVA_BYTE, 500)).isZero();
        assertThat(side.awaitDisconnected().report()).isNotNull();
        assertThat(side.ends).hasValue(1);
        peer.close();
    }
}
