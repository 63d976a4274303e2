// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.testkit.Waits;

/** What a turn allocates, and how long a sleeping loop takes to wake up; the figures are printed. */
class EventLoopCostTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** Two pipes that feed each other, a task scheduled in each turn, and changes of interest: all without allocation. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aTurnAllocatesNothing(boolean busyPoll) throws IOException {
        int warmUp = 20_000;
        int measured = 20_000;
        try (EventLoop loop = new EventLoop("cost", 4096, busyPoll)) {
            loop.start();
            Pipe pipe = Pipe.open();
            try (Pipe.SourceChannel source = pipe.source();
                    Pipe.SinkChannel sink = pipe.sink()) {
                source.configureBlocking(false);
                ByteBuffer in = ByteBuffer.allocateDirect(8);
                ByteBuffer out = ByteBuffer.allocateDirect(8);
                AtomicReference<Registration> registration = new AtomicReference<>();
                long[] allocated = new long[2];
                int[] turns = new int[1];
                CountDownLatch done = new CountDownLatch(1);
                LoopTask again = loop.task(() -> {
                    if (turns[0] == warmUp) {
                        allocated[0] = THREADS.getCurrentThreadAllocatedBytes();
                    } else if (turns[0] == warmUp + measured) {
                        allocated[1] = THREADS.getCurrentThreadAllocatedBytes();
                        done.countDown();
                        return;
                    }
                    turns[0]++;
                    out.clear();
                    try {
                        sink.write(out);
                    } catch (IOException e) {
                        throw new AssertionError(e);
                    }
                    registration.get().interest(SelectionKey.OP_READ);
                });
                registration.set(loop.register(source, 0, ops -> {
                    in.clear();
                    try {
                        source.read(in);
                    } catch (IOException e) {
                        throw new AssertionError(e);
                    }
                    registration.get().interest(0);
                    again.schedule();
                }));
                again.schedule();
                Waits.until(done, () -> "turn " + turns[0]);
                double perTurn = (double) (allocated[1] - allocated[0]) / measured;
                System.out.printf("event loop, busyPoll %s: %.2f bytes allocated per turn%n", busyPoll, perTurn);
                assertThat(perTurn).isLessThan(8);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aSleepingLoopWakesUpSoon(boolean busyPoll) {
        int rounds = 3_000;
        long[] nanos = new long[rounds];
        AtomicBoolean seen = new AtomicBoolean();
        AtomicLong ran = new AtomicLong();
        try (EventLoop loop = new EventLoop("wake-up", 4096, busyPoll)) {
            loop.start();
            LoopTask task = loop.task(() -> {
                ran.set(System.nanoTime());
                seen.set(true);
            });
            for (int i = 0; i < rounds; i++) {
                long rest = System.nanoTime() + TimeUnit.MICROSECONDS.toNanos(busyPoll ? 20 : 100);
                while (System.nanoTime() < rest) {
                    Thread.onSpinWait();
                }
                seen.set(false);
                long begin = System.nanoTime();
                task.schedule();
                while (!seen.get()) {
                    Thread.onSpinWait();
                }
                nanos[i] = ran.get() - begin;
            }
        }
        Arrays.sort(nanos);
        System.out.printf(
                "event loop, busyPoll %s: wake-up median %.1f us, p99 %.1f us%n",
                busyPoll, nanos[rounds / 2] / 1e3, nanos[rounds * 99 / 100] / 1e3);
        assertThat(nanos[rounds / 2]).isLessThan(TimeUnit.MILLISECONDS.toNanos(50));
    }
}
