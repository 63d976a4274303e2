// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.iwarp.mem.OwnThread;
import org.rpcrdma4j.verbs.CompletionQueue.Notify;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.WorkCompletion.Status;

class SoftCompletionQueueTest {
    private final AtomicInteger wakes = new AtomicInteger();
    private final AtomicInteger closes = new AtomicInteger();
    private final SoftCompletionQueue completions =
            new SoftCompletionQueue(100, wakes::incrementAndGet, closes::incrementAndGet);

    private ReceiveQueue receives(int number, int depth) {
        completions.attach(depth);
        return new ReceiveQueue(number, depth, 1, completions, () -> {});
    }

    private static void deliver(ReceiveQueue queue, long id, boolean solicited) {
        assertThat(queue.post(new ReceiveRequest().id(id), 0)).isNull();
        queue.delivered(0, solicited);
    }

    private List<Long> poll(int most) {
        WorkCompletion[] into = new WorkCompletion[most];
        for (int i = 0; i < most; i++) {
            into[i] = new WorkCompletion();
        }
        int count = completions.poll(into);
        List<Long> ids = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ids.add(into[i].id());
        }
        return ids;
    }

    @Test
    void queuesWhosePlacesDoNotFitAreRefusedSoItCannotOverflow() {
        ReceiveQueue queue = receives(1, 60);
        assertThatThrownBy(() -> completions.attach(41))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("40 left");
        completions.attach(40);
        completions.unreserve(40);
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < 60; i++) {
                deliver(queue, i, false);
            }
            assertThat(queue.post(new ReceiveRequest(), 0))
                    .as("places are held until polled")
                    .isNotNull();
            assertThat(poll(100)).hasSize(60).isSorted();
        }
        assertThatThrownBy(completions::close).hasMessageContaining("60 places");
        completions.detach(queue);
        completions.close();
        completions.close();
        assertThat(closes).hasValue(1);
        assertThatThrownBy(() -> completions.attach(1)).hasMessageContaining("closed");
    }

    @Test
    void growsInOrderAlsoWhereTheRingIsBent() {
        ReceiveQueue queue = receives(1, 100);
        for (int i = 0; i < 12; i++) {
            deliver(queue, i, false);
        }
        assertThat(poll(10)).hasSize(10);
        for (int i = 12; i < 90; i++) {
            deliver(queue, i, false);
        }
        assertThat(poll(100)).hasSize(80).isSorted().startsWith(10L).endsWith(89L);
    }

    @Test
    void detachDiscardsTheEntriesOfOneQueueOnly() {
        ReceiveQueue first = receives(1, 30);
        ReceiveQueue second = receives(2, 30);
        for (int i = 0; i < 40; i++) {
            deliver(i % 3 == 0 ? first : second, i, false);
            if (i == 8) {
                assertThat(poll(5)).hasSize(5);
            }
        }
        completions.detach(first);
        assertThat(poll(100)).isSorted().hasSize(23).allMatch(id -> id % 3 != 0);
        completions.attach(70);
        assertThatThrownBy(() -> completions.attach(1)).isInstanceOf(IllegalArgumentException.class);
        deliver(second, 99, false);
        assertThat(poll(100)).containsExactly(99L);
    }

    @Test
    void armedForAnyItWakesOnceForTheNextEntry() {
        ReceiveQueue queue = receives(1, 50);
        deliver(queue, 0, true);
        completions.requestNotify(Notify.ANY);
        assertThat(wakes).as("what was there before does not wake").hasValue(0);
        deliver(queue, 1, false);
        deliver(queue, 2, false);
        assertThat(wakes).hasValue(1);
        completions.requestNotify(Notify.ANY);
        completions.requestNotify(Notify.ANY);
        deliver(queue, 3, false);
        assertThat(wakes).hasValue(2);
    }

    @Test
    void armedForSolicitedItWakesForSolicitedEventsAndErrors() {
        ReceiveQueue queue = receives(1, 50);
        completions.requestNotify(Notify.SOLICITED);
        deliver(queue, 1, false);
        assertThat(wakes).hasValue(0);
        deliver(queue, 2, true);
        assertThat(wakes).hasValue(1);
        completions.requestNotify(Notify.SOLICITED);
        assertThat(queue.post(new ReceiveRequest().id(3), 0)).isNull();
        queue.failOldest(Status.LOCAL_LENGTH_ERROR);
        queue.flush();
        assertThat(wakes).hasValue(2);
    }

    @Test
    void armingForAnyOutlivesArmingForSolicitedAndNotTheReverse() {
        ReceiveQueue queue = receives(1, 50);
        completions.requestNotify(Notify.ANY);
        completions.requestNotify(Notify.SOLICITED);
        deliver(queue, 1, false);
        assertThat(wakes).hasValue(1);
        completions.requestNotify(Notify.SOLICITED);
        completions.requestNotify(Notify.ANY);
        deliver(queue, 2, false);
        assertThat(wakes).hasValue(2);
    }

    @Test
    void severalThreadsPollEachEntryOnce() throws Exception {
        ReceiveQueue queue = receives(1, 64);
        int total = 10_000;
        AtomicInteger polled = new AtomicInteger();
        long[] sums = new long[2];
        List<CompletableFuture<Void>> pollers = new ArrayList<>();
        for (int t = 0; t < sums.length; t++) {
            int mine = t;
            pollers.add(OwnThread.run(() -> {
                while (polled.get() < total) {
                    for (long id : poll(8)) {
                        sums[mine] += id;
                        polled.incrementAndGet();
                    }
                }
            }));
        }
        for (int i = 0; i < total; ) {
            if (queue.post(new ReceiveRequest().id(i), 0) == null) {
                queue.delivered(0, false);
                i++;
            } else {
                Thread.onSpinWait();
            }
        }
        for (CompletableFuture<Void> poller : pollers) {
            poller.get(20, TimeUnit.SECONDS);
        }
        assertThat(sums[0] + sums[1]).isEqualTo((long) total * (total - 1) / 2);
        assertThat(queue.outstanding()).isZero();
    }
}
