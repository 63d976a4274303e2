// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.testkit.Waits;

class EventLoopTest {
    private final List<EventLoop> loops = new ArrayList<>();

    @AfterEach
    void closeLoops() {
        loops.forEach(EventLoop::close);
    }

    private EventLoop started(boolean busyPoll) {
        EventLoop loop = new EventLoop("test-loop", 4096, busyPoll);
        loops.add(loop);
        loop.start();
        return loop;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void runsTasksInOrderOnItsThread(boolean busyPoll) {
        EventLoop loop = started(busyPoll);
        List<Integer> seen = new ArrayList<>();
        CountDownLatch done = new CountDownLatch(1);
        for (int i = 0; i < 1000; i++) {
            int number = i;
            loop.execute(() -> {
                assertThat(loop.inEventLoop()).isTrue();
                seen.add(number);
            });
        }
        loop.execute(done::countDown);
        Waits.until(done, () -> "seen " + seen.size());
        assertThat(seen).hasSize(1000).isSorted();
        assertThat(loop.inEventLoop()).isFalse();
        assertThat(loop.taskErrors()).isZero();
    }

    @Test
    void runsTasksGivenBeforeTheStart() {
        EventLoop loop = new EventLoop("late", 4096, false);
        loops.add(loop);
        CountDownLatch done = new CountDownLatch(1);
        loop.execute(done::countDown);
        loop.start();
        Waits.until(done, () -> "task not run");
    }

    @Test
    void firesTimersInOrderOfTheirDeadlines() {
        EventLoop loop = started(false);
        List<String> fired = new ArrayList<>();
        CountDownLatch done = new CountDownLatch(1);
        loop.execute(() -> {
            loop.schedule(TimeUnit.MILLISECONDS.toNanos(30), () -> {
                fired.add("third");
                done.countDown();
            });
            loop.schedule(TimeUnit.MILLISECONDS.toNanos(10), () -> fired.add("second"));
            loop.schedule(0, () -> fired.add("first"));
        });
        Waits.until(done, () -> "fired " + fired);
        assertThat(fired).containsExactly("first", "second", "third");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void firesNoTimerBeforeItsTime(boolean busyPoll) {
        EventLoop loop = started(busyPoll);
        AtomicReference<Long> late = new AtomicReference<>();
        CountDownLatch done = new CountDownLatch(1);
        long begin = loop.nanoTime();
        loop.schedule(TimeUnit.MILLISECONDS.toNanos(20), () -> {
            late.set(loop.nanoTime() - begin);
            done.countDown();
        });
        Waits.until(done, () -> "timer not fired");
        assertThat(late.get()).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(20));
    }

    @Test
    void aCancelledTimerNeverFires() {
        EventLoop loop = started(false);
        AtomicBoolean fired = new AtomicBoolean();
        CountDownLatch done = new CountDownLatch(1);
        LoopTimer fromOutside = loop.schedule(TimeUnit.MILLISECONDS.toNanos(20), () -> fired.set(true));
        assertThat(fromOutside.cancel()).isTrue();
        assertThat(fromOutside.cancel()).isFalse();
        assertThat(fromOutside.isPending()).isFalse();
        loop.execute(() -> {
            LoopTimer inside = loop.schedule(TimeUnit.MILLISECONDS.toNanos(20), () -> fired.set(true));
            assertThat(inside.cancel()).isTrue();
        });
        loop.schedule(TimeUnit.MILLISECONDS.toNanos(60), done::countDown);
        Waits.until(done, () -> "last timer not fired");
        assertThat(fired).isFalse();
        assertThat(loop.taskErrors()).isZero();
    }

    @Test
    void aTimerFiredCannotBeCancelled() {
        EventLoop loop = started(false);
        CountDownLatch done = new CountDownLatch(1);
        LoopTimer timer = loop.schedule(0, done::countDown);
        Waits.until(done, () -> "timer not fired");
        assertThat(timer.cancel()).isFalse();
    }

    @Test
    void schedulingATaskTwiceBeforeItRunsRunsItOnce() {
        EventLoop loop = started(false);
        AtomicInteger runs = new AtomicInteger();
        CountDownLatch done = new CountDownLatch(1);
        LoopTask task = loop.task(runs::incrementAndGet);
        loop.execute(() -> {
            assertThat(task.schedule()).isTrue();
            assertThat(task.schedule()).isTrue();
            assertThat(task.isScheduled()).isTrue();
            assertThat(runs).hasValue(0);
            loop.execute(done::countDown);
        });
        Waits.until(done, () -> "runs " + runs);
        assertThat(runs).hasValue(1);
        assertThat(task.isScheduled()).isFalse();
    }

    @Test
    void aTaskMayScheduleItselfWithoutStarvingTimers() {
        EventLoop loop = started(false);
        AtomicBoolean stop = new AtomicBoolean();
        AtomicReference<LoopTask> self = new AtomicReference<>();
        AtomicInteger runs = new AtomicInteger();
        CountDownLatch done = new CountDownLatch(1);
        LoopTask task = loop.task(() -> {
            runs.incrementAndGet();
            if (!stop.get()) {
                self.get().schedule();
            }
        });
        self.set(task);
        task.schedule();
        loop.schedule(TimeUnit.MILLISECONDS.toNanos(5), () -> {
            stop.set(true);
            done.countDown();
        });
        Waits.until(done, () -> "runs " + runs);
        assertThat(runs.get()).isGreaterThan(8);
    }

    @Test
    void everyScheduleFromOtherThreadsIsFollowedByARunThatSeesItsWrites() throws Exception {
        EventLoop loop = started(false);
        int rounds = 20_000;
        long[] written = new long[2];
        long[] seen = new long[2];
        LoopTask task = loop.task(() -> {
            seen[0] = written[0];
            seen[1] = written[1];
        });
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 2; t++) {
            int own = t;
            threads.add(Thread.ofPlatform().start(() -> {
                for (int i = 1; i <= rounds; i++) {
                    written[own] = i;
                    task.schedule();
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join(TimeUnit.SECONDS.toMillis(20));
        }
        CountDownLatch done = new CountDownLatch(1);
        loop.execute(done::countDown);
        Waits.until(done, () -> "seen " + seen[0] + ", " + seen[1]);
        assertThat(seen).containsExactly(rounds, rounds);
    }

    @Test
    void interestSetOnAnotherThreadTakesEffectWhileTheLoopSleeps() throws IOException {
        EventLoop loop = started(false);
        Pipe pipe = Pipe.open();
        try (Pipe.SourceChannel source = pipe.source();
                Pipe.SinkChannel sink = pipe.sink()) {
            source.configureBlocking(false);
            AtomicInteger calls = new AtomicInteger();
            CountDownLatch ready = new CountDownLatch(1);
            AtomicReference<Registration> holder = new AtomicReference<>();
            Registration registration = loop.register(source, 0, ops -> {
                calls.incrementAndGet();
                holder.get().interest(0);
                ready.countDown();
            });
            holder.set(registration);
            sink.write(ByteBuffer.wrap(new byte[] {1}));
            CountDownLatch passed = new CountDownLatch(1);
            loop.schedule(TimeUnit.MILLISECONDS.toNanos(20), passed::countDown);
            Waits.until(passed, () -> "timer not fired");
            assertThat(calls).hasValue(0);

            registration.interest(SelectionKey.OP_READ);
            Waits.until(ready, () -> "calls " + calls);
            assertThat(registration.interest()).isZero();
            assertThat(registration.channel()).isSameAs(source);
        }
    }

    @Test
    void aReplacedHandlerGetsTheReadinessThatWasNotTaken() throws IOException {
        EventLoop loop = started(false);
        Pipe pipe = Pipe.open();
        try (Pipe.SourceChannel source = pipe.source();
                Pipe.SinkChannel sink = pipe.sink()) {
            source.configureBlocking(false);
            CountDownLatch second = new CountDownLatch(1);
            CountDownLatch registered = new CountDownLatch(1);
            AtomicReference<Registration> holder = new AtomicReference<>();
            loop.execute(() -> {
                try {
                    holder.set(loop.register(source, SelectionKey.OP_READ, ops -> {
                        Registration registration = holder.get();
                        registration.interest(0);
                        registration.handler(more -> {
                            registration.interest(0);
                            second.countDown();
                        });
                        registration.interest(SelectionKey.OP_READ);
                    }));
                    registered.countDown();
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            Waits.until(registered, () -> "not registered");
            sink.write(ByteBuffer.wrap(new byte[] {1}));
            Waits.until(second, () -> "second handler not called");
        }
    }

    @Test
    void aCancelledRegistrationIsQuiet() throws IOException {
        EventLoop loop = started(false);
        Pipe pipe = Pipe.open();
        try (Pipe.SourceChannel source = pipe.source();
                Pipe.SinkChannel sink = pipe.sink()) {
            source.configureBlocking(false);
            AtomicInteger calls = new AtomicInteger();
            Registration registration = loop.register(source, 0, ops -> calls.incrementAndGet());
            registration.cancel();
            assertThat(registration.isValid()).isFalse();
            registration.interest(SelectionKey.OP_READ);
            assertThat(registration.interest()).isZero();
            sink.write(ByteBuffer.wrap(new byte[] {1}));
            CountDownLatch passed = new CountDownLatch(1);
            loop.schedule(TimeUnit.MILLISECONDS.toNanos(10), passed::countDown);
            Waits.until(passed, () -> "timer not fired");
            assertThat(calls).hasValue(0);
        }
    }

    @Test
    void errorsOfTasksTimersAndHandlersAreCountedAndDoNotEndTheLoop() throws IOException {
        EventLoop loop = started(false);
        List<Throwable> told = new ArrayList<>();
        loop.onError(told::add);
        loop.execute(() -> {
            throw new IllegalStateException("task");
        });
        loop.schedule(0, () -> {
            throw new AssertionError("timer");
        });
        Pipe pipe = Pipe.open();
        try (Pipe.SourceChannel source = pipe.source();
                Pipe.SinkChannel sink = pipe.sink()) {
            source.configureBlocking(false);
            AtomicReference<Registration> holder = new AtomicReference<>();
            holder.set(loop.register(source, 0, ops -> {
                holder.get().cancel();
                throw new IllegalStateException("handler");
            }));
            holder.get().interest(SelectionKey.OP_READ);
            sink.write(ByteBuffer.wrap(new byte[] {1}));
            Waits.until(() -> loop.taskErrors() == 3, () -> "errors " + loop.taskErrors());
        }
        CountDownLatch done = new CountDownLatch(1);
        loop.execute(done::countDown);
        Waits.until(done, () -> "loop dead");
        assertThat(told).extracting(Throwable::getMessage).containsExactlyInAnyOrder("task", "timer", "handler");
    }

    @Test
    void closeFromInsideEndsTheLoopAfterTheTasksThatWereAccepted() {
        EventLoop loop = started(false);
        CountDownLatch last = new CountDownLatch(1);
        loop.execute(() -> {
            loop.close();
            loop.execute(last::countDown);
        });
        Waits.until(last, () -> "accepted task not run");
        loop.close();
        assertThatThrownBy(() -> loop.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
        assertThat(loop.task(() -> {}).schedule()).isFalse();
        assertThat(loop.schedule(0, () -> {}).isPending()).isFalse();
        assertThat(loop.taskErrors()).isZero();
    }

    @Test
    void closeTellsHandlersAndClosesTheirChannels() throws IOException {
        EventLoop loop = started(false);
        Pipe pipe = Pipe.open();
        try (Pipe.SinkChannel sink = pipe.sink()) {
            pipe.source().configureBlocking(false);
            AtomicBoolean told = new AtomicBoolean();
            loop.register(pipe.source(), SelectionKey.OP_READ, new ReadyHandler() {
                @Override
                public void onReady(int readyOps) {}

                @Override
                public void onLoopClosed() {
                    told.set(loop.inEventLoop() && pipe.source().isOpen());
                }
            });
            loop.close();
            assertThat(told).isTrue();
            assertThat(pipe.source().isOpen()).isFalse();
            assertThat(sink.isOpen()).isTrue();
        }
        Pipe late = Pipe.open();
        try (Pipe.SourceChannel source = late.source();
                Pipe.SinkChannel sink = late.sink()) {
            source.configureBlocking(false);
            assertThat(sink.isOpen()).isTrue();
            assertThatThrownBy(() -> loop.register(source, 0, ops -> {}))
                    .isInstanceOf(RejectedExecutionException.class);
        }
    }

    @Test
    void aLoopThatWasNeverStartedCanBeClosed() {
        EventLoop loop = new EventLoop("never", 4096, false);
        loop.close();
        loop.close();
        assertThatThrownBy(loop::start).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void theStagingBufferIsDirectAndBigEndian() {
        EventLoop loop = started(false);
        AtomicReference<ByteBuffer> staging = new AtomicReference<>();
        CountDownLatch done = new CountDownLatch(1);
        loop.execute(() -> {
            staging.set(loop.staging());
            done.countDown();
        });
        Waits.until(done, () -> "task not run");
        assertThat(staging.get().isDirect()).isTrue();
        assertThat(staging.get().order()).isEqualTo(ByteOrder.BIG_ENDIAN);
        assertThat(staging.get().capacity()).isEqualTo(4096);
    }

    @Test
    void aGroupGivesItsLoopsInTurn() {
        try (EventLoopGroup group = new EventLoopGroup("group", 2, 4096, false)) {
            EventLoop first = group.next();
            EventLoop second = group.next();
            assertThat(first).isNotSameAs(second);
            assertThat(group.next()).isSameAs(first);
            assertThat(group.loops()).containsExactly(first, second);
        }
        assertThatThrownBy(() -> new EventLoopGroup("none", 0, 4096, false))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
