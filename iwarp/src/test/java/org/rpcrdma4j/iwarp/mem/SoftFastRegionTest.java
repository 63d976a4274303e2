// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.FastRegion.State;

class SoftFastRegionTest {
    private static final int QUEUE_PAIR = 5;

    private final CountingDomain domain = new CountingDomain();
    private final CountingDomain other = new CountingDomain();
    private final Leases leases = new Leases();
    private final StagTable table = new StagTable(new SplittableRandom(5)::nextInt, 16);
    private final Arena arena = Arena.ofShared();
    private final SoftFastRegion region = SoftFastRegion.allocate(domain, table, leases, 4, 4096);

    @AfterEach
    void freeMemory() {
        region.close();
        assertThat(leases.ledger().isBalanced()).isTrue();
        arena.close();
    }

    private int register(Access access) {
        int key = region.advanceKey();
        region.claim();
        assertThat(region.open(key, access, domain, QUEUE_PAIR)).isNull();
        return key;
    }

    private void map(long bytes) {
        assertThat(region.map(List.of(arena.allocate(bytes)), 0x1000)).isEqualTo(1);
    }

    private boolean mayWrite(int key) {
        AccessFault fault = region.enter(key, AccessKind.REMOTE_WRITE, domain, QUEUE_PAIR, 0x1000, 1);
        if (fault == AccessFault.NONE) {
            region.leave();
        }
        return fault == AccessFault.NONE;
    }

    @Test
    void theKeyStepsByOneModulo256AndTheIndexStays() {
        int first = region.remoteKey();
        int index = first & StagTable.INDEX_MASK;
        for (int i = 1; i <= 600; i++) {
            assertThat(region.advanceKey()).isEqualTo(index | ((first + i) & 0xFF));
        }
        assertThat(region.remoteKey()).as("not registered yet").isEqualTo(first);
    }

    @Test
    void aKeyOfAnEarlierRegistrationOpensNothing() {
        map(100);
        int old = register(Access.REMOTE_WRITE);
        assertThat(mayWrite(old)).isTrue();
        assertThat(region.invalidate(old, domain)).isNull();
        assertThat(mayWrite(old)).isFalse();
        int now = register(Access.REMOTE_WRITE);
        assertThat(mayWrite(now)).isTrue();
        assertThat(mayWrite(old)).isFalse();
        assertThat(region.invalidate(old, domain)).contains("is not that of the region's registration");
        assertThat(region.invalidateByPeer(old, domain, QUEUE_PAIR)).isEqualTo(AccessFault.INVALID_STAG);
        assertThat(mayWrite(now)).isTrue();
    }

    @Test
    void anotherRangeAfterInvalidationRefusesTheOldOne() {
        map(100);
        region.invalidate(register(Access.REMOTE_WRITE), domain);
        region.unmap();
        region.map(List.of(arena.allocate(100)), 0x9000);
        int key = register(Access.REMOTE_WRITE);
        assertThat(mayWrite(key)).isFalse();
        assertThat(region.enter(key, AccessKind.REMOTE_WRITE, domain, QUEUE_PAIR, 0x9063, 1))
                .isEqualTo(AccessFault.NONE);
        region.leave();
    }

    @Test
    void invalidatingTwiceUnderTheSameKeySucceeds() {
        map(1);
        int key = register(Access.REMOTE_READ);
        assertThat(region.invalidateByPeer(key, domain, QUEUE_PAIR)).isEqualTo(AccessFault.NONE);
        assertThat(region.invalidateByPeer(key, domain, QUEUE_PAIR)).isEqualTo(AccessFault.NONE);
        assertThat(region.invalidate(key, domain)).isNull();
        assertThat(region.invalidate(key ^ 1, domain)).contains("0x%08x".formatted(key ^ 1));
        assertThat(region.invalidate(key, other)).contains("another protection domain");
    }

    @Test
    void aPeerInvalidatesOnlyWhatIsItsOwnAndOpenToIt() {
        map(1);
        int key = register(Access.REMOTE_WRITE);
        assertThat(region.invalidateByPeer(key, other, QUEUE_PAIR)).isEqualTo(AccessFault.OTHER_STREAM);
        assertThat(region.invalidateByPeer(key, domain, QUEUE_PAIR + 1)).isEqualTo(AccessFault.OTHER_STREAM);
        assertThat(region.invalidateByPeer(key ^ 1, domain, QUEUE_PAIR)).isEqualTo(AccessFault.INVALID_STAG);
        assertThat(region.isValid()).isTrue();
        region.invalidate(key, domain);
        int local = register(Access.LOCAL_WRITE);
        assertThat(region.invalidateByPeer(local, domain, QUEUE_PAIR)).isEqualTo(AccessFault.NO_RIGHT);
        region.invalidate(local, domain);
        int shared = region.advanceKey();
        region.claim();
        assertThat(region.open(shared, Access.REMOTE_WRITE, domain, Region.DOMAIN_WIDE))
                .isNull();
        assertThat(region.invalidateByPeer(shared, domain, QUEUE_PAIR)).isEqualTo(AccessFault.OTHER_STREAM);
        assertThat(region.isValid()).isTrue();
    }

    @Test
    void registrationIsRefusedWithAReason() {
        region.claim();
        assertThat(region.open(region.advanceKey(), Access.LOCAL_READ, domain, 1))
                .contains("no memory mapped");
        region.map(List.of(arena.allocate(8).asReadOnly()), 0);
        region.claim();
        assertThat(region.open(region.advanceKey(), Access.REMOTE_WRITE, domain, 1))
                .contains("read-only");
        region.claim();
        assertThat(region.open(region.advanceKey(), Access.REMOTE_READ, other, 1))
                .contains("protection domain");
        region.claim();
        assertThat(region.open(region.advanceKey() ^ 0x100, Access.REMOTE_READ, domain, 1))
                .contains("index");
        region.claim();
        int key = region.advanceKey();
        assertThat(region.open(key, Access.REMOTE_READ, domain, 1)).isNull();
        region.claim();
        assertThat(region.open(region.advanceKey(), Access.REMOTE_READ, domain, 1))
                .contains("valid already");
        assertThat(region.remoteKey()).as("the refusal changed nothing").isEqualTo(key);
    }

    @Test
    void theOwnerCannotChangeWhatIsValidOrBeingRegistered() {
        map(8);
        region.claim();
        assertThatThrownBy(region::unmap)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("unmap: ");
        assertThatThrownBy(() -> map(8)).hasMessageContaining("valid or being registered");
        assertThat(region.open(region.advanceKey(), Access.REMOTE_READ, domain, 1))
                .isNull();
        assertThat(region.state()).isEqualTo(State.VALID);
        assertThatThrownBy(region::unmap).hasMessageContaining("valid or being registered");
        region.invalidate(region.remoteKey(), domain);
        assertThatThrownBy(() -> map(8)).hasMessageContaining("mapped already");
        region.unmap();
        region.unmap();
        map(8);
        region.claim();
        region.unclaim();
        region.unmap();
        region.close();
        region.close();
        region.unmap();
        assertThatThrownBy(() -> map(8))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("is closed");
        region.claim();
        assertThat(region.open(region.advanceKey(), Access.REMOTE_READ, domain, 1))
                .contains("closed");
    }

    @Test
    void takesAsManyPiecesAsItsPagesAllow() {
        MemorySegment memory = arena.allocate(5 * 4096, 4096);
        List<MemorySegment> pieces = List.of(
                memory.asSlice(4095, 2), memory.asSlice(8192, 4096), memory.asSlice(12288, 1), memory.asSlice(0, 1));
        assertThat(region.map(pieces, 0)).as("2 + 1 + 1 pages of 4").isEqualTo(3);
        assertThat(region.length()).isEqualTo(2 + 4096 + 1);
        assertThat(leases.ledger().maps()).isEqualTo(3);
        region.unmap();
        assertThat(region.length()).isZero();
        assertThatThrownBy(() -> region.map(List.of(memory), 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("5 pages");
        assertThatThrownBy(() -> region.map(List.of(), 0)).hasMessageContaining("no pieces");
        assertThatThrownBy(() -> region.map(List.of(memory.asSlice(0, 1), MemorySegment.ofArray(new byte[1])), 0))
                .hasMessageContaining("heap");
        assertThat(region.length()).as("a refused map leaves nothing mapped").isZero();
        assertThat(leases.ledger().mappedBytes()).isZero();
    }

    @Test
    void aRegionIsInvalidOnlyWhenTheLastAccessHasLeft() throws Exception {
        map(8);
        int key = register(Access.REMOTE_WRITE);
        assertThat(mayWrite(key)).isTrue();
        region.enter(key, AccessKind.REMOTE_WRITE, domain, QUEUE_PAIR, 0x1000, 1);
        CompletableFuture<Void> invalidation = OwnThread.run(() -> region.invalidate(key, domain));
        Waits.until(() -> !mayWrite(key), () -> "the peer may still write");
        assertThat(region.state()).as("one access is still in").isEqualTo(State.VALID);
        assertThatThrownBy(region::unmap).isInstanceOf(IllegalStateException.class);
        region.claim();
        // Whoever executes this may be the very one that is in: it must not wait for itself.
        assertThat(region.open(region.advanceKey(), Access.REMOTE_READ, domain, QUEUE_PAIR))
                .contains("valid already");
        assertThat(invalidation).isNotDone();
        region.leave();
        invalidation.get(10, TimeUnit.SECONDS);
        assertThat(region.state()).isEqualTo(State.INVALID);
    }

    @Test
    void aCloseThatWaitsForAnAccessHoldsUpNoPost() throws Exception {
        map(8);
        int key = register(Access.REMOTE_WRITE);
        region.enter(key, AccessKind.REMOTE_WRITE, domain, QUEUE_PAIR, 0x1000, 1);
        CompletableFuture<Void> close = OwnThread.run(region::close);
        Waits.until(() -> !mayWrite(key), () -> "the peer may still write");
        CompletableFuture<Void> secondClose = OwnThread.run(region::close);
        // A post holds the queue pair's lock, which the one that is in may need to get out.
        CompletableFuture<Void> post = OwnThread.run(() -> {
            region.claim();
            region.unclaim();
        });
        post.get(10, TimeUnit.SECONDS);
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        assertThat(close).isNotDone();
        assertThat(secondClose).isNotDone();
        assertThat(leases.ledger().mappedBytes()).isEqualTo(8);
        region.leave();
        close.get(10, TimeUnit.SECONDS);
        secondClose.get(10, TimeUnit.SECONDS);
        assertThat(leases.ledger().isBalanced()).isTrue();
    }

    /** All calls in any order: what the state allows works, what it does not is refused, and the ledger is right at each step. */
    @Property(tries = 500)
    void everyOrderOfCallsKeepsTheRules(@ForAll long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        SoftFastRegion some = SoftFastRegion.allocate(domain, table, leases, 2, 4096);
        MemorySegment memory = arena.allocate(64);
        boolean mapped = false;
        boolean valid = false;
        boolean closed = false;
        int claims = 0;
        int key = some.remoteKey();
        for (int step = 0; step < 60; step++) {
            boolean owned = !closed && claims == 0 && !valid;
            switch (random.nextInt(closed ? 6 : 40) % 6) {
                case 0 -> {
                    boolean works = succeeds(() -> some.map(List.of(memory), 1));
                    assertThat(works).isEqualTo(owned && !mapped);
                    mapped |= works;
                }
                case 1 -> {
                    boolean works = succeeds(some::unmap);
                    assertThat(works).isEqualTo(owned || !mapped);
                    mapped &= !works;
                }
                case 2 -> {
                    some.claim();
                    claims++;
                }
                case 3 -> {
                    if (claims > 0) {
                        int next = some.advanceKey();
                        boolean works = some.open(next, Access.REMOTE_READ, domain, 1) == null;
                        assertThat(works).isEqualTo(!closed && !valid && mapped);
                        claims--;
                        key = works ? next : key;
                        valid |= works;
                    }
                }
                case 4 -> {
                    assertThat(some.invalidate(key, domain)).isNull();
                    valid = false;
                }
                default -> {
                    if (random.nextInt(4) == 0) {
                        some.close();
                        closed = true;
                        valid = false;
                        mapped = false;
                    }
                }
            }
            assertThat(some.isValid()).isEqualTo(valid);
            assertThat(leases.ledger().mappedBytes()).isEqualTo(mapped ? 64 : 0);
            assertThat(leases.ledger().regions()).isEqualTo(closed ? 1 : 2);
            assertThat(table.find(key)).isSameAs(closed ? null : some);
        }
        some.close();
    }

    private static boolean succeeds(Runnable call) {
        try {
            call.run();
            return true;
        } catch (IllegalStateException e) {
            assertThat(e).hasMessageContaining("region 0x");
            return false;
        }
    }
}
