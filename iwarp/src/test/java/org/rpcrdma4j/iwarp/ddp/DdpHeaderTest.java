// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.ddp;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class DdpHeaderTest {
    @Test
    void writesEveryBitOfATaggedHeader() {
        ByteBuffer dirty = dirty();

        int size = DdpHeader.putTagged(dirty, 1, true, 0x42, 0xFFFFFFF0, 0xFEDCBA9876543210L);

        assertThat(size).isEqualTo(14);
        assertThat(hex(dirty)).isEqualTo("ff" + "c142" + "fffffff0" + "fedcba9876543210" + "ffffffffff");
        assertThat(DdpHeader.isTagged(dirty, 1)).isTrue();
        assertThat(DdpHeader.isLast(dirty, 1)).isTrue();
        assertThat(DdpHeader.version(dirty, 1)).isEqualTo(1);
        assertThat(DdpHeader.headerBytes(dirty, 1)).isEqualTo(14);
        assertThat(DdpHeader.control(dirty, 1)).isEqualTo(0xC1);
        assertThat(DdpHeader.rdmapControl(dirty, 1)).isEqualTo(0x42);
        assertThat(DdpHeader.taggedStag(dirty, 1)).isEqualTo(0xFFFFFFF0);
        assertThat(DdpHeader.taggedOffset(dirty, 1)).isEqualTo(0xFEDCBA9876543210L);
    }

    @Test
    void writesEveryBitOfAnUntaggedHeader() {
        ByteBuffer dirty = dirty();

        int size = DdpHeader.putUntagged(dirty, 1, false, 0x44, 0x0012345A, 2, 0xFFFFFFFF, 0x80000001);

        assertThat(size).isEqualTo(18);
        assertThat(hex(dirty)).isEqualTo("ff" + "0144" + "0012345a" + "00000002" + "ffffffff" + "80000001" + "ff");
        assertThat(DdpHeader.isTagged(dirty, 1)).isFalse();
        assertThat(DdpHeader.isLast(dirty, 1)).isFalse();
        assertThat(DdpHeader.headerBytes(dirty, 1)).isEqualTo(18);
        assertThat(DdpHeader.invalidateStag(dirty, 1)).isEqualTo(0x0012345A);
        assertThat(DdpHeader.queueNumber(dirty, 1)).isEqualTo(2);
        assertThat(DdpHeader.msn(dirty, 1)).isEqualTo(0xFFFFFFFF);
        assertThat(DdpHeader.messageOffset(dirty, 1)).isEqualTo(0x80000001);
    }

    @Test
    void looksThroughTheReservedBits() {
        ByteBuffer control = ByteBuffer.wrap(new byte[] {0x7D});

        assertThat(DdpHeader.isTagged(control, 0)).isFalse();
        assertThat(DdpHeader.isLast(control, 0)).isTrue();
        assertThat(DdpHeader.version(control, 0)).isEqualTo(1);
    }

    private static ByteBuffer dirty() {
        ByteBuffer dirty = ByteBuffer.allocate(20);
        while (dirty.hasRemaining()) {
            dirty.put((byte) 0xFF);
        }
        return dirty;
    }

    private static String hex(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.capacity()];
        buffer.get(0, bytes);
        return HexFormat.of().formatHex(bytes);
    }
}
