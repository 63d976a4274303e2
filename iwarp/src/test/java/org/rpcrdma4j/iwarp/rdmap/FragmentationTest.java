// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rpcrdma4j.testkit.Seeds;

/** Messages of all sizes in FPDUs of all sizes, cut in all ways on their way; {@link WireRules} looks at every FPDU. */
class FragmentationTest {
    private static final int SEEDS = 300;
    private static final int SMALL_BYTES = 600 << 10;
    private static final int LARGE_BYTES = 49 << 20;
    private static final int[] SIZES = {0, 1, 2, 3, 255, 256, 257, 1000, 4096, 65536, 1 << 20, (1 << 20) + 1};

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void everyMessageArrivesByteForByteInLawfulFpdus() {
        MemorySegment memory0 = EndModel.allocate(SMALL_BYTES);
        MemorySegment memory1 = EndModel.allocate(SMALL_BYTES);
        Seeds.run(SEEDS, seed -> transfer(seed, memory0, memory1, 12));
    }

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void messagesOfManyMebibytesArriveByteForByte() {
        MemorySegment memory0 = EndModel.allocate(LARGE_BYTES);
        MemorySegment memory1 = EndModel.allocate(LARGE_BYTES);
        for (int maxUlpdu : new int[] {1442, 64768}) {
            MixDriver driver =
                    new MixDriver(maxUlpdu, new StreamOptions(maxUlpdu, true, 2, 2, 8, 8, null), memory0, memory1);
            EndModel from = driver.models[0];
            EndModel to = driver.models[1];
            int size = from.source.length;
            assertThat(size).isGreaterThan(16 << 20);
            List<Extent> all = List.of(new Extent(from.source, 0, 16 << 20));
            driver.posts.rdmaWrite(from, all, to.target, to.target.key, to.target.base);
            driver.posts.receive(to, List.of(new Extent(to.target, 1, 16 << 20)));
            driver.posts.send(from, to, all, null);
            driver.posts.rdmaRead(
                    from, new Extent(from.target, 3, 16 << 20), to.source, to.source.key, to.source.base + 5);
            check(driver, 3);
        }
    }

    private static void transfer(long seed, MemorySegment memory0, MemorySegment memory1, int messages) {
        Random random = new Random(seed);
        int maxUlpdu = switch (random.nextInt(4)) {
            case 0 -> 128 + random.nextInt(16);
            case 1 -> 1442;
            case 2 -> 128 + random.nextInt(64641);
            default -> 64768;
        };
        MixDriver driver = new MixDriver(
                seed, new StreamOptions(maxUlpdu, random.nextBoolean(), 4, 4, 64, 64, null), memory0, memory1);
        for (EndModel model : driver.models) {
            driver.posts.register(model, 0, false);
            driver.posts.register(model, 1, true);
        }
        driver.finish();
        for (int i = 0; i < messages; i++) {
            EndModel from = driver.models[random.nextInt(2)];
            post(driver, random, from, driver.models[1 - from.end.index]);
        }
        check(driver, messages + 4);
    }

    private static void post(MixDriver driver, Random random, EndModel from, EndModel to) {
        int limit = SIZES[random.nextInt(SIZES.length)];
        Registration into = random.nextBoolean() ? to.target : to.fast(1);
        Registration source = random.nextBoolean() ? to.source : to.fast(0);
        switch (random.nextInt(3)) {
            case 0 -> {
                List<Extent> list = list(from, random, Math.min(limit, to.target.length));
                driver.posts.receive(to, List.of(new Extent(to.target, 0, Extent.total(list))));
                driver.posts.send(from, to, list, null);
            }
            case 1 -> {
                List<Extent> list = list(from, random, Math.min(limit, into.length));
                int at = random.nextInt(into.length - Extent.total(list) + 1);
                driver.posts.rdmaWrite(from, list, into, into.key, into.base + at);
            }
            default -> {
                Registration sink = random.nextBoolean() ? from.target : from.fast(1);
                int size = Math.min(limit, Math.min(sink.length, source.length));
                driver.posts.rdmaRead(
                        from, new Extent(sink, sink.length - size, size), source, source.key, source.base);
            }
        }
    }

    /** Up to 32 entries, of odd sizes, that together have about this size. */
    private static List<Extent> list(EndModel model, Random random, int size) {
        List<Extent> list = new ArrayList<>();
        int left = size;
        int count = random.nextInt(StreamOptions.MAX_SGES + 1);
        for (int i = 0; i < count; i++) {
            Registration source = random.nextBoolean() ? model.source : model.fast(0);
            int part = i == count - 1 ? left : random.nextInt(left / 2 + 1) | (left > 1 ? 1 : 0);
            part = Math.min(part, source.length);
            list.add(new Extent(source, random.nextInt(source.length - part + 1), part));
            left -= part;
        }
        return list;
    }

    private static void check(MixDriver driver, int posted) {
        driver.bustle();
        int done = 0;
        for (EndModel model : driver.models) {
            assertThat(model.end.isRunning()).as(driver.pair.toString()).isTrue();
            assertThat(model.rules.isIdle()).isTrue();
            assertThat(model.end.sends.isEmpty()).isTrue();
            assertThat(model.failures()).isEmpty();
            done += model.requests
                    - (int) model.sends.stream()
                            .filter(request -> !request.done)
                            .count();
        }
        assertThat(done).isEqualTo(posted);
    }
}
