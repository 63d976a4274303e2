// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

class ViewCacheTest {
    private final ViewCache cache = new ViewCache(2);
    private final MemorySegment memory = Arena.ofAuto().allocate(1000);

    @Test
    void showsTheSameMemoryThroughTheSameBuffer() {
        ByteBuffer first = cache.view(0, memory, 10, 20);
        ByteBuffer again = cache.view(0, memory, 900, 100);

        assertThat(again).isSameAs(first);
        assertThat(again.position()).isEqualTo(900);
        assertThat(again.limit()).isEqualTo(1000);
    }

    @Test
    void tellsMemoryOfAnotherSizeAtTheSameAddressApart() {
        cache.view(0, memory.asSlice(0, 100), 0, 100);

        ByteBuffer larger = cache.view(0, memory, 500, 500);

        assertThat(larger.capacity()).isEqualTo(1000);
        assertThat(MemorySegment.ofBuffer(larger).address()).isEqualTo(memory.address() + 500);
        assertThat(cache.view(0, memory.asSlice(0, 50), 0, 50).capacity()).isEqualTo(50);
    }

    @Test
    void tellsMemoryFreedAndHandedOutAgainApart() {
        long address;
        ByteBuffer first;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment freed = arena.allocate(1000);
            address = freed.address();
            first = cache.view(0, freed, 0, 100);
        }
        // As a rule the very next allocation has the same address.
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment again = arena.allocate(1000);
            Assumptions.assumeTrue(again.address() == address);

            assertThat(cache.view(0, again, 0, 100)).isNotSameAs(first);
        }
    }

    @Test
    void placesDoNotShareBuffers() {
        assertThat(cache.view(0, memory, 0, 100)).isNotSameAs(cache.view(1, memory, 0, 100));
    }

    @Test
    void letsGoOfEverything() {
        ByteBuffer first = cache.view(0, memory, 0, 100);
        cache.clear();

        assertThat(cache.view(0, memory, 0, 100)).isNotSameAs(first);
    }
}
