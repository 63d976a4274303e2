// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.verbs.Access;

class PlainRegionTest {
    private final CountingDomain domain = new CountingDomain();
    private final Leases leases = new Leases();
    private final StagTable table = new StagTable(new SplittableRandom(9)::nextInt, 8);

    private PlainRegion register(MemorySegment memory, Access access) {
        return PlainRegion.register(domain, table, leases, memory, access);
    }

    private void assertRefused(MemorySegment memory, Access access, String reason) {
        assertThatThrownBy(() -> register(memory, access))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(reason);
        assertThat(table.size()).isZero();
        assertThat(leases.ledger().maps()).isZero();
    }

    @Test
    void onlyMemoryThatEveryThreadMayUseIsRegistered() {
        assertRefused(MemorySegment.ofArray(new byte[8]), Access.LOCAL_READ, "heap");
        assertRefused(MemorySegment.NULL, Access.LOCAL_READ, "empty");
        try (Arena confined = Arena.ofConfined()) {
            assertRefused(confined.allocate(8), Access.LOCAL_READ, "confined");
        }
        MemorySegment dead;
        try (Arena shared = Arena.ofShared()) {
            dead = shared.allocate(8);
            assertRefused(dead.asSlice(8), Access.LOCAL_READ, "empty");
            MemorySegment readOnly = shared.allocate(8).asReadOnly();
            assertRefused(readOnly, Access.LOCAL_WRITE, "read-only");
            assertRefused(readOnly, Access.REMOTE_WRITE, "read-only");
            PlainRegion readable = register(readOnly, Access.REMOTE_READ);
            assertThat(readable.isValid()).isTrue();
            readable.close();
        }
        assertThatThrownBy(() -> register(dead, Access.LOCAL_READ)).hasMessageContaining("not alive");
        assertThat(leases.ledger().isBalanced()).isTrue();
    }

    @Test
    void itsTaggedOffsetsAreItsAddresses() {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(100).asSlice(3, 17);
            PlainRegion region = register(memory, Access.REMOTE_WRITE);
            assertThat(region.remoteAddress()).isEqualTo(memory.address());
            assertThat(region.length()).isEqualTo(17);
            assertThat(region.scope()).isEqualTo(Region.DOMAIN_WIDE);
            assertThat(leases.ledger().mappedBytes()).isEqualTo(17);
            for (int size = 1; size <= 17; size++) {
                for (int offset = -1; offset <= 18; offset++) {
                    AccessFault fault =
                            region.enterLocal(region.remoteKey(), AccessKind.LOCAL_WRITE, domain, 3, offset, size);
                    boolean inside = offset >= 0 && offset + size <= 17;
                    assertThat(fault).isEqualTo(inside ? AccessFault.NONE : AccessFault.OUT_OF_BOUNDS);
                    if (inside) {
                        region.leave();
                    }
                }
            }
            region.close();
            region.close();
            assertThat(region.isValid()).isFalse();
            assertThat(table.find(region.remoteKey())).isNull();
            assertThat(domain.gone()).isEqualTo(1);
        }
    }

    @Test
    void everyCloseReturnsOnlyWhenNobodyIsIn() throws Exception {
        try (Arena arena = Arena.ofShared()) {
            PlainRegion region = register(arena.allocate(8), Access.REMOTE_WRITE);
            assertThat(region.reenter(region.remoteKey())).isTrue();
            CompletableFuture<Void> first = OwnThread.run(region::close);
            while (region.reenter(region.remoteKey())) {
                region.leave();
                LockSupport.parkNanos(10_000);
            }
            CompletableFuture<Void> second = OwnThread.run(region::close);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
            assertThat(first).isNotDone();
            assertThat(second).isNotDone();
            assertThat(leases.ledger().mappedBytes()).isEqualTo(8);
            region.leave();
            first.get(10, TimeUnit.SECONDS);
            second.get(10, TimeUnit.SECONDS);
            assertThat(leases.ledger().isBalanced()).isTrue();
        }
    }
}
