// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SystemTimeTest {

    private static final long HOUR = TimeUnit.HOURS.toNanos(1);

    private final SystemTime time = new SystemTime();

    @AfterEach
    void close() {
        time.close();
    }

    private static void await(CountDownLatch latch, SystemTime time) throws InterruptedException {
        assertThat(latch.await(20, TimeUnit.SECONDS))
                .as("%d missing, %d timers wait", latch.getCount(), time.waiting())
                .isTrue();
    }

    /** U45: the timers of calls that are answered in time do not pile up. */
    @Test
    void keepsNothingOfAMillionTimersThatWereCancelled() {
        for (int i = 0; i < 1_000_000; i++) {
            time.schedule(HOUR, () -> {}).cancel();
        }

        assertThat(time.waiting()).isZero();
    }

    @Test
    void keepsNothingOfManyTimersCancelledInAnyOrder() {
        List<TimeSource.Timer> timers = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            timers.add(time.schedule(HOUR + (i * 7919L) % 10_000, () -> {}));
        }
        assertThat(time.waiting()).isEqualTo(10_000);
        Collections.shuffle(timers, new Random(1));
        timers.forEach(TimeSource.Timer::cancel);

        assertThat(time.waiting()).isZero();
    }

    @Test
    void runsATaskOnceAndNotBeforeItsTime() throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        long[] at = new long[1];
        long before = time.nanoTime();
        time.schedule(20_000_000, () -> {
            at[0] = time.nanoTime();
            done.countDown();
        });
        await(done, time);

        assertThat(at[0] - before).isGreaterThanOrEqualTo(20_000_000);
        assertThat(time.waiting()).isZero();
    }

    @Test
    void runsTasksInTheOrderOfTheirTimesWhateverTheOrderOfScheduling() throws InterruptedException {
        List<Integer> order = Collections.synchronizedList(new ArrayList<>());
        CountDownLatch done = new CountDownLatch(3);
        CountDownLatch begin = new CountDownLatch(1);
        time.schedule(0, () -> awaitQuietly(begin));
        for (int number : new int[] {3, 1, 2}) {
            time.schedule(number * 1_000_000L, () -> {
                order.add(number);
                done.countDown();
            });
        }
        begin.countDown();
        await(done, time);

        assertThat(order).containsExactly(1, 2, 3);
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await(20, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void takesADelayOfZeroOrLessAsNow() throws InterruptedException {
        CountDownLatch done = new CountDownLatch(2);
        time.schedule(0, done::countDown);
        time.schedule(Long.MIN_VALUE, done::countDown);

        await(done, time);
    }

    @Test
    void takesTheLongestDelayAsNever() throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        AtomicInteger never = new AtomicInteger();
        time.schedule(Long.MAX_VALUE, never::incrementAndGet);
        time.schedule(1_000, done::countDown);

        await(done, time);
        assertThat(never).hasValue(0);
    }

    @Test
    void goesOnAfterATaskThatFails() throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        time.schedule(0, () -> {
            throw new IllegalStateException("thrown on purpose");
        });
        time.schedule(0, done::countDown);

        await(done, time);
    }

    @Test
    void cancellingTwiceOrLateChangesNothing() throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        TimeSource.Timer timer = time.schedule(0, done::countDown);
        await(done, time);
        timer.cancel();
        timer.cancel();

        CountDownLatch next = new CountDownLatch(1);
        time.schedule(0, next::countDown);
        await(next, time);
    }

    @Test
    void runsNothingAfterItWasClosed() throws InterruptedException {
        AtomicInteger ran = new AtomicInteger();
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(1);
        time.schedule(0, () -> {
            running.countDown();
            awaitQuietly(go);
            ended.countDown();
        });
        await(running, time);
        time.schedule(0, ran::incrementAndGet);
        time.schedule(HOUR, ran::incrementAndGet);
        time.close();
        time.schedule(0, ran::incrementAndGet).cancel();
        go.countDown();
        await(ended, time);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (time.waiting() > 0) {
            assertThat(System.nanoTime() - deadline)
                    .as("%d timers wait", time.waiting())
                    .isNegative();
            Thread.onSpinWait();
        }

        assertThat(ran).hasValue(0);
    }

    @Test
    void goesForwardOnly() {
        long last = time.nanoTime();
        for (int i = 0; i < 1_000_000; i++) {
            long now = time.nanoTime();
            assertThat(now - last >= 0).isTrue();
            last = now;
        }
    }

    @Test
    void keepsNoProgramFromEnding() throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        boolean[] daemon = new boolean[1];
        time.schedule(0, () -> {
            daemon[0] = Thread.currentThread().isDaemon();
            done.countDown();
        });
        await(done, time);

        assertThat(daemon[0]).isTrue();
    }
}
