// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mem;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.verbs.Access;

/** RFC 5041, Section 8.3.1: once a revocation has returned, the memory does not change any more. */
class RevocationRaceTest {
    private static final int ROUNDS = 100_000;
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(8);
    private static final int BYTES = 256;
    private static final int QUEUE_PAIR = 3;

    private final CountingDomain domain = new CountingDomain();
    private final Leases leases = new Leases();
    private final StagTable table = new StagTable(new SplittableRandom(1)::nextInt, 64);
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate(BYTES);
    private final MemorySegment segment = arena.allocate(BYTES).fill((byte) 0xEE);
    private final AtomicLong written = new AtomicLong();

    private volatile @Nullable Region target;
    private volatile boolean over;
    private final CompletableFuture<Void> writer = OwnThread.run(this::writeAllTheTime);

    @AfterEach
    void end() throws Exception {
        over = true;
        writer.get(10, TimeUnit.SECONDS);
        arena.close();
    }

    /** As the receiving side does: the STag is what a peer may have heard at any time. */
    private void writeAllTheTime() {
        SplittableRandom random = new SplittableRandom(2);
        while (!over) {
            Region region = target;
            if (region == null) {
                Thread.onSpinWait();
                continue;
            }
            int offset = random.nextInt(BYTES);
            int bytes = 1 + random.nextInt(BYTES - offset);
            int stag = region.remoteKey();
            if (region.enter(stag, AccessKind.REMOTE_WRITE, domain, QUEUE_PAIR, offset, bytes) == AccessFault.NONE) {
                region.write(offset, segment, 0, bytes);
                written.incrementAndGet();
                region.leave();
            }
        }
    }

    private void requireUnchanged(SplittableRandom random, int round) {
        byte mark = (byte) (round & 0x7F);
        memory.fill(mark);
        for (int i = random.nextInt(60); i > 0; i--) {
            Thread.onSpinWait();
        }
        for (int i = 0; i < BYTES; i++) {
            if (memory.get(ValueLayout.JAVA_BYTE, i) != mark) {
                throw new AssertionError("round " + round + ": byte " + i + " changed after the revocation");
            }
        }
    }

    private static void letSomeWritesIn(SplittableRandom random) {
        for (int i = random.nextInt(200); i > 0; i--) {
            Thread.onSpinWait();
        }
    }

    @Test
    void nothingChangesAfterAnInvalidation() {
        SplittableRandom random = new SplittableRandom(3);
        SoftFastRegion region = SoftFastRegion.allocate(domain, table, leases, 4, 4096);
        target = region;
        long end = System.nanoTime() + LIMIT_NANOS;
        int round = 0;
        for (; round < ROUNDS && System.nanoTime() - end < 0; round++) {
            int cut = 1 + random.nextInt(BYTES - 1);
            region.map(List.of(memory.asSlice(0, cut), memory.asSlice(cut)), 0);
            region.claim();
            int key = region.advanceKey();
            assertThat(region.open(key, Access.REMOTE_WRITE, domain, QUEUE_PAIR))
                    .isNull();
            letSomeWritesIn(random);
            if (random.nextBoolean()) {
                assertThat(region.invalidate(key, domain)).isNull();
            } else {
                assertThat(region.invalidateByPeer(key, domain, QUEUE_PAIR)).isEqualTo(AccessFault.NONE);
            }
            requireUnchanged(random, round);
            region.unmap();
            requireUnchanged(random, round);
        }
        region.close();
        assertThat(written.get()).as("writes in %d rounds", round).isPositive();
        assertThat(leases.ledger().isBalanced()).isTrue();
    }

    @Test
    void nothingChangesAfterAClose() {
        SplittableRandom random = new SplittableRandom(4);
        long end = System.nanoTime() + LIMIT_NANOS;
        int round = 0;
        for (; round < ROUNDS && System.nanoTime() - end < 0; round++) {
            SoftFastRegion region = SoftFastRegion.allocate(domain, table, leases, 4, 4096);
            region.map(List.of(memory), 0);
            region.claim();
            assertThat(region.open(region.advanceKey(), Access.REMOTE_WRITE, domain, QUEUE_PAIR))
                    .isNull();
            target = region;
            letSomeWritesIn(random);
            region.close();
            requireUnchanged(random, round);
        }
        assertThat(written.get()).as("writes in %d rounds", round).isPositive();
        assertThat(leases.ledger().isBalanced()).isTrue();
    }
}
