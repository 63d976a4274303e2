// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TimerHeapTest {
    // Not started: the test stands in for its thread.
    private final EventLoop loop = new EventLoop("heap", 16, false);
    private final TimerHeap heap = new TimerHeap();

    @AfterEach
    void close() {
        loop.close();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void givesTimersInOrderWhateverIsRemovedOrCancelled(long seed) {
        Random random = new Random(seed);
        // Around the overflow of the clock, with many equal deadlines.
        long begin = Long.MAX_VALUE - 50;
        List<LoopTimer> model = new ArrayList<>();
        for (int i = 0; i < 3_000; i++) {
            switch (random.nextInt(5)) {
                case 0 -> {
                    if (!model.isEmpty()) {
                        LoopTimer removed = model.remove(random.nextInt(model.size()));
                        heap.remove(removed);
                        heap.remove(removed);
                    }
                }
                case 1 -> {
                    if (!model.isEmpty()) {
                        // As from another thread: it may stay inside for a while.
                        assertThat(model.remove(random.nextInt(model.size())).cancel())
                                .isTrue();
                        heap.noteCancelled();
                    }
                }
                default -> {
                    LoopTimer timer = new LoopTimer(loop, begin + random.nextInt(100), () -> {});
                    model.add(timer);
                    heap.add(timer);
                }
            }
            assertThat(heap.size()).isBetween(model.size(), 2 * model.size() + 200);
        }
        model.sort(Comparator.<LoopTimer>comparingLong(timer -> timer.deadlineNanos - begin)
                .thenComparingLong(timer -> timer.sequence));
        List<LoopTimer> taken = new ArrayList<>();
        for (LoopTimer first = heap.first(); first != null; first = heap.first()) {
            heap.remove(first);
            if (first.isPending()) {
                taken.add(first);
            }
        }
        assertThat(taken).isEqualTo(model);
        assertThat(heap.size()).isZero();
    }
}
