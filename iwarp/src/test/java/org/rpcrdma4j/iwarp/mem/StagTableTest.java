// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.Test;

class StagTableTest {
    private static final int INDEXES = 1 << 24;

    private final CountingDomain domain = new CountingDomain();
    private final Leases leases = new Leases();

    private static IntSupplier seeded(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        return random::nextInt;
    }

    private SoftFastRegion region(StagTable table) {
        return SoftFastRegion.allocate(domain, table, leases, 1, 4096);
    }

    private static int index(Region region) {
        return region.remoteKey() >>> 8;
    }

    @Test
    void indexesAndFirstKeysSpreadOverTheWholeRange() {
        StagTable table = new StagTable(new SecureRandom()::nextInt, 1 << 20);
        int regions = 1 << 16;
        int[] byHighBits = new int[64];
        int[] byKey = new int[256];
        Set<Integer> indexes = new HashSet<>();
        Set<Integer> steps = new HashSet<>();
        int before = 0;
        for (int i = 0; i < regions; i++) {
            int stag = region(table).remoteKey();
            byHighBits[stag >>> 26]++;
            byKey[stag & 0xFF]++;
            indexes.add(stag >>> 8);
            steps.add((stag >>> 8) - before);
            before = stag >>> 8;
        }
        assertThat(indexes).hasSize(regions).doesNotContain(0);
        // No constant step: steps are nearly all different.
        assertThat(steps).hasSizeGreaterThan(regions * 9 / 10);
        // Each of 64 stretches expects 1024 +- 32, each key 256 +- 16: ten standard deviations allowed.
        for (int count : byHighBits) {
            assertThat(count).isBetween(704, 1344);
        }
        for (int count : byKey) {
            assertThat(count).isBetween(96, 416);
        }
    }

    @Test
    void indexZeroIsNeverFoundThoughAPeerAsksForIt() {
        StagTable table = new StagTable(seeded(3), 1000);
        assertThat(table.find(0)).isNull();
        for (int i = 0; i < 100; i++) {
            region(table);
        }
        assertThat(table.find(0)).isNull();
        assertThat(table.find(1)).isNull();
        assertThat(table.find(0xFF)).isNull();
    }

    @Test
    void indexZeroIsNeverGivenOut() {
        ArrayDeque<Integer> draws = new ArrayDeque<>(List.of(0x00, 0x7F, 0xFF, 0x1234_5678));
        StagTable table = new StagTable(draws::remove, 4);
        assertThat(region(table).remoteKey()).isEqualTo(0x1234_5678);
    }

    @Test
    void anIndexInUseIsNotGivenOutAgainWhateverTheKey() {
        ArrayDeque<Integer> draws = new ArrayDeque<>(List.of(0x0000_0501, 0x0000_0502, 0x0000_05FF, 0x0000_0603));
        StagTable table = new StagTable(draws::remove, 4);
        assertThat(region(table).remoteKey()).isEqualTo(0x0501);
        assertThat(region(table).remoteKey()).isEqualTo(0x0603);
    }

    @Test
    void aFreedIndexWaitsUntilHalfOfTheFreeOnesWait() {
        // Draws the same index until it is taken, else the next: so reuse would show at once.
        int[] wish = {1};
        StagTable table = new StagTable(() -> wish[0]++ << 8, 4);
        BitSet waiting = new BitSet(INDEXES);
        for (int i = 0; i < INDEXES / 2; i++) {
            SoftFastRegion region = region(table);
            assertThat(waiting.get(index(region))).isFalse();
            waiting.set(index(region));
            region.close();
        }
        // All but the last half of the indexes wait: nothing that was given back has come again.
        assertThat(waiting.cardinality()).isEqualTo(INDEXES / 2);
        // One more: now the first in line is free again, and only it.
        region(table).close();
        wish[0] = 1;
        assertThat(index(region(table))).isEqualTo(1);
        wish[0] = 2;
        assertThat(index(region(table))).isGreaterThan(INDEXES / 2);
    }

    @Test
    void noMoreRegionsThanAllowed() {
        StagTable table = new StagTable(seeded(1), 3);
        SoftFastRegion first = region(table);
        region(table);
        region(table);
        assertThatThrownBy(() -> region(table))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no more than 3 regions");
        first.close();
        first.close();
        assertThat(table.size()).isEqualTo(2);
        region(table);
        assertThatThrownBy(() -> region(table)).isInstanceOf(IllegalStateException.class);
        assertThat(leases.ledger().regions()).isEqualTo(3);
    }

    @Test
    void theLimitItselfHasLimits() {
        assertThatThrownBy(() -> new StagTable(seeded(1), 0)).hasMessageContaining("maxRegions 0");
        assertThatThrownBy(() -> new StagTable(seeded(1), INDEXES / 2 + 1)).hasMessageContaining("outside 1..");
    }

    @Test
    void growsToAMillionRegionsAndFindsEachOfThem() {
        int regions = 1 << 20;
        StagTable table = new StagTable(seeded(7), 1 << 21);
        List<SoftFastRegion> all = new ArrayList<>(regions);
        for (int i = 0; i < regions; i++) {
            all.add(region(table));
        }
        assertThat(table.size()).isEqualTo(regions);
        for (SoftFastRegion region : all) {
            if (table.find(region.remoteKey()) != region || table.find(region.remoteKey() ^ 0xFF) != region) {
                throw new AssertionError("not found: " + region);
            }
        }
        table.closeAll();
        assertThat(table.size()).isZero();
        assertThat(domain.gone()).isEqualTo(regions);
        assertThat(leases.ledger().isBalanced()).isTrue();
    }

    @Test
    void findsWhatAMapWouldFindUnderRandomChanges() {
        Random random = new Random(42);
        StagTable table = new StagTable(random::nextInt, 4096);
        Map<Integer, Region> model = new HashMap<>();
        List<SoftFastRegion> live = new ArrayList<>();
        for (int step = 0; step < 100_000; step++) {
            if (live.size() < 4096 && random.nextInt(100) < 55) {
                SoftFastRegion region = region(table);
                live.add(region);
                model.put(index(region), region);
            } else if (!live.isEmpty()) {
                SoftFastRegion region = live.remove(random.nextInt(live.size()));
                region.close();
                model.remove(index(region));
            }
            int probe = live.isEmpty() || random.nextBoolean()
                    ? random.nextInt()
                    : live.get(random.nextInt(live.size())).remoteKey();
            assertThat(table.find(probe)).isSameAs(model.get(probe >>> 8));
        }
    }

    @Test
    void lookUpSeesWhatIsThereWhileOthersInsertAndRemove() throws Exception {
        StagTable table = new StagTable(seeded(11), 1 << 16);
        List<SoftFastRegion> fixed = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            fixed.add(region(table));
        }
        AtomicBoolean stop = new AtomicBoolean();
        AtomicLong lookUps = new AtomicLong();
        List<CompletableFuture<Void>> threads = new ArrayList<>();
        for (int t = 0; t < 2; t++) {
            long seed = t;
            threads.add(OwnThread.run(() -> churn(table, seed)));
            threads.add(OwnThread.run(() -> {
                while (!stop.get()) {
                    for (SoftFastRegion region : fixed) {
                        assertThat(table.find(region.remoteKey())).isSameAs(region);
                    }
                    lookUps.addAndGet(fixed.size());
                }
            }));
        }
        threads.get(0).get(30, TimeUnit.SECONDS);
        threads.get(2).get(30, TimeUnit.SECONDS);
        stop.set(true);
        for (CompletableFuture<Void> thread : threads) {
            thread.get(30, TimeUnit.SECONDS);
        }
        assertThat(lookUps.get()).isPositive();
        assertThat(table.size()).isEqualTo(fixed.size());
    }

    private void churn(StagTable table, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        List<SoftFastRegion> own = new ArrayList<>();
        for (int step = 0; step < 60_000; step++) {
            if (own.isEmpty() || (own.size() < 4_000 && random.nextInt(100) < 60)) {
                SoftFastRegion region = region(table);
                assertThat(table.find(region.remoteKey())).isSameAs(region);
                own.add(region);
            } else {
                SoftFastRegion region = own.removeLast();
                int stag = region.remoteKey();
                region.close();
                assertThat(table.find(stag)).isNotSameAs(region);
            }
        }
        own.forEach(Region::close);
    }
}
