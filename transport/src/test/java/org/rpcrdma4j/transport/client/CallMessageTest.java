// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.testkit.sim.SimulationOptions;
import org.rpcrdma4j.transport.raw.Rig;
import org.rpcrdma4j.transport.raw.SimulatedRig;

/** What a caller may ask for. */
class CallMessageTest {

    private static final MemorySegment HEAD = ClientFixture.head(0x1234_5678, 3);

    private static MemorySegment bytes(int length) {
        return MemorySegment.ofArray(new byte[length]);
    }

    @Test
    void knowsItsSizes() {
        CallMessage message = CallMessage.builder(HEAD)
                .item(bytes(3), bytes(0), bytes(2))
                .tail(bytes(8))
                .target(bytes(7), bytes(2))
                .maxReplyBytes(100)
                .build();
        assertThat(message.xid()).isEqualTo(0x1234_5678);
        assertThat(message.item()).hasSize(2);
        assertThat(message.itemBytes()).isEqualTo(5);
        assertThat(message.totalBytes()).isEqualTo(40 + 8 + 8);
        assertThat(message.targetBytes()).isEqualTo(9);
        assertThat(message.toString()).contains("0x12345678");
    }

    @Test
    void takesBuffersAsTheirRemainingBytes() {
        ByteBuffer head = ByteBuffer.allocate(48);
        head.position(4).limit(44);
        CallMessage message = CallMessage.builder(head)
                .item(ByteBuffer.allocate(6))
                .tail(ByteBuffer.allocate(4))
                .target(ByteBuffer.allocateDirect(10))
                .build();
        assertThat(message.totalBytes()).isEqualTo(40 + 8 + 4);
        assertThat(message.targetBytes()).isEqualTo(10);
    }

    @Test
    void refusesWhatBreaksTheStreamsAlignment() {
        assertThatThrownBy(() -> CallMessage.builder(bytes(36)).build()).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> CallMessage.builder(bytes(42)).build()).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> CallMessage.builder(HEAD).tail(bytes(3)).build())
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void refusesRoomThatIsNone() {
        assertThatThrownBy(() -> CallMessage.builder(HEAD).target(bytes(0)).build())
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> CallMessage.builder(HEAD)
                        .replyBuffer(bytes(99))
                        .maxReplyBytes(100)
                        .build())
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> CallMessage.builder(HEAD).timeout(Duration.ofNanos(-1)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> CallMessage.builder(HEAD).maxReplyBytes(-1))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void settingsHaveBoundsAndSayWhich() {
        try (Rig rig = new SimulatedRig(1, SimulationOptions.DEFAULT, SimulationOptions.DEFAULT)) {
            InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
            RpcRdmaClient.Builder builder = RpcRdmaClient.builder(rig.clientDevice(), address)
                    .time(rig.time())
                    .worker(rig.worker());
            assertThatThrownBy(() -> builder.maxInFlight(0).build())
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("maxInFlight 0 must lie in 1..16384");
            builder.maxInFlight(16);
            assertThatThrownBy(() -> builder.inlineBytes(1023, 4096).build())
                    .isInstanceOf(IllegalArgumentException.class);
            builder.inlineBytes(5000, 262_144);
            assertThatThrownBy(() -> builder.callTimeout(Duration.ZERO).build())
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("callTimeout");
            builder.callTimeout(Duration.ofSeconds(1));
            try (RpcRdmaClient client = builder.build()) {
                // RFC 8797, Section 4.2: whole units of 1024.
                assertThat(client.options().inlineSendBytes()).isEqualTo(4096);
                assertThat(client.options().inlineReceiveBytes()).isEqualTo(262_144);
                int xid = client.nextXid();
                assertThat(client.nextXid()).isEqualTo(xid + 1);
            }
        }
    }
}
