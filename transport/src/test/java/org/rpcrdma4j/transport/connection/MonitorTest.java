// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class MonitorTest {

    private final Monitor monitor = new Monitor();
    private final List<String> done = new ArrayList<>();

    private void note(String what) {
        done.add(what + (monitor.isHeld() ? " inside" : " outside"));
    }

    @Test
    void doesWhatWasLeftOutsideAfterTheOutermostLeaveInOrder() {
        monitor.run(() -> {
            monitor.afterwards(() -> note("first"));
            monitor.run(() -> monitor.afterwards(() -> note("second")));
            note("last of the turn");
        });

        assertThat(done).containsExactly("last of the turn inside", "first outside", "second outside");
    }

    @Test
    void aTaskMayEnterAgainAndLeaveMoreWord() {
        monitor.run(() -> monitor.afterwards(() -> {
            note("task");
            monitor.run(() -> {
                note("again");
                monitor.afterwards(() -> note("its word"));
            });
            note("end of the task");
        }));

        assertThat(done).containsExactly("task outside", "again inside", "its word outside", "end of the task outside");
    }

    @Test
    void whatIsLeftOutsideByOneThreadIsDoneByThatThread() throws InterruptedException {
        List<Thread> by = new ArrayList<>();
        monitor.enter();
        Thread other = Thread.ofPlatform()
                .start(() -> monitor.run(() -> monitor.afterwards(() -> by.add(Thread.currentThread()))));
        monitor.afterwards(() -> by.add(Thread.currentThread()));
        monitor.leave();
        assertThat(other.join(Duration.ofSeconds(20))).isTrue();

        assertThat(by).containsExactlyInAnyOrder(Thread.currentThread(), other);
    }

    @Test
    void aTaskThatFailsKeepsNoOtherFromBeingDone() {
        monitor.run(() -> {
            monitor.afterwards(() -> {
                throw new IllegalStateException("thrown on purpose");
            });
            monitor.afterwards(() -> {
                throw new AssertionError("thrown on purpose");
            });
            monitor.afterwards(() -> {
                throw new StackOverflowError("thrown on purpose");
            });
            monitor.afterwards(() -> note("the fourth"));
        });

        assertThat(done).containsExactly("the fourth outside");
    }

    @Test
    void isLeftWhenTheTurnFailsAndWhatItLeftIsStillDone() {
        assertThatThrownBy(() -> monitor.run(() -> {
                    monitor.afterwards(() -> note("word"));
                    throw new IllegalStateException("thrown on purpose");
                }))
                .hasMessage("thrown on purpose");

        assertThat(monitor.isHeld()).isFalse();
        assertThat(done).containsExactly("word outside");
    }

    @Test
    void takesWordOnlyFromInside() {
        assertThatThrownBy(() -> monitor.afterwards(() -> {})).isInstanceOf(IllegalMonitorStateException.class);
        assertThatThrownBy(monitor::requireHeld).isInstanceOf(IllegalMonitorStateException.class);
        assertThatThrownBy(monitor::leave).isInstanceOf(IllegalMonitorStateException.class);
    }

    @Test
    void eightThreadsAreInsideOneAtATimeAndEveryWordIsDoneOnce() throws InterruptedException {
        int[] plain = new int[1];
        AtomicInteger words = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            threads.add(Thread.ofPlatform().start(() -> {
                for (int j = 0; j < 20_000; j++) {
                    monitor.run(() -> {
                        plain[0]++;
                        monitor.afterwards(words::incrementAndGet);
                    });
                }
            }));
        }
        for (Thread thread : threads) {
            assertThat(thread.join(Duration.ofSeconds(40)))
                    .as("%d of 160000", words.get())
                    .isTrue();
        }

        assertThat(plain[0]).isEqualTo(160_000);
        assertThat(words).hasValue(160_000);
    }
}
