// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.SendRequest;

class OutboxTest {

    private final Monitor monitor = new Monitor();
    private final RecordingQueuePair queuePair = new RecordingQueuePair(monitor);
    private final List<Throwable> faults = new ArrayList<>();
    private final Outbox outbox = new Outbox(monitor, queuePair, faults::add);
    private final List<String> refusals = new ArrayList<>();

    private final class TestEntry implements Outbox.Entry {
        private final List<SendRequest> chain;
        private final Runnable whenRefused;

        TestEntry(Runnable whenRefused, long... ids) {
            this.whenRefused = whenRefused;
            chain = LongStream.of(ids).mapToObj(id -> new SendRequest().id(id)).toList();
        }

        @Override
        public List<? extends SendQueueRequest> chain() {
            return chain;
        }

        @Override
        public void onRefused(PostResult.Refused refused) {
            refusals.add(chain.get(refused.firstBad()).id() + " " + refused.reason()
                    + (monitor.isHeld() ? " inside" : " outside"));
            whenRefused.run();
        }
    }

    private Outbox.Entry entry(long... ids) {
        return new TestEntry(() -> {}, ids);
    }

    @Test
    void postsChainsInTheOrderOfAppendingOutsideTheMonitor() {
        monitor.run(() -> {
            outbox.append(entry(1, 2));
            outbox.append(entry(3));
            assertThat(queuePair.posted).isEmpty();
        });

        assertThat(queuePair.posted).containsExactly(1L, 2L, 3L);
        assertThat(queuePair.postsInsideTheMonitor).hasValue(0);
    }

    @Test
    void postsTheChainsThatWaitTogetherByOneCall() {
        monitor.run(() -> {
            outbox.append(entry(1, 2));
            outbox.append(entry(3));
            outbox.append(entry(4, 5));
        });

        assertThat(queuePair.posted).containsExactly(1L, 2L, 3L, 4L, 5L);
        assertThat(queuePair.posts).hasValue(1);
    }

    @Test
    void triesTheChainsBehindARefusedOneAgainInTheirOrder() {
        queuePair.refused.add(4L);
        queuePair.refused.add(6L);
        monitor.run(() -> {
            outbox.append(entry(1, 2));
            outbox.append(entry(3, 4, 5));
            outbox.append(entry(6));
            outbox.append(entry(7));
            outbox.append(entry(8));
        });

        assertThat(queuePair.posted).containsExactly(1L, 2L, 3L, 7L, 8L);
        assertThat(refusals).containsExactly("4 QUEUE_FULL inside", "6 QUEUE_FULL inside");
    }

    @Test
    void holdsBackWhatTheHoldingThreadAppendsUntilAnotherOneAppendsOrItReleases() throws InterruptedException {
        monitor.run(() -> {
            outbox.hold();
            outbox.append(entry(1));
        });
        monitor.run(() -> outbox.append(entry(2)));
        assertThat(queuePair.posted).isEmpty();

        Thread other = Thread.ofPlatform().start(() -> monitor.run(() -> outbox.append(entry(3))));
        other.join(10_000);
        assertThat(queuePair.posted).containsExactly(1L, 2L, 3L);

        monitor.run(() -> outbox.append(entry(4)));
        assertThat(queuePair.posted).doesNotContain(4L);
        monitor.run(outbox::release);
        assertThat(queuePair.posted).containsExactly(1L, 2L, 3L, 4L);
        assertThat(queuePair.posts).hasValue(2);
    }

    @Test
    void holdsBackNoLongerWhenAChainOfSeveralIsAppended() {
        monitor.run(() -> {
            outbox.hold();
            outbox.append(entry(1));
            outbox.append(entry(2, 3));
        });

        assertThat(queuePair.posted).containsExactly(1L, 2L, 3L);
        assertThat(queuePair.posts).hasValue(1);
    }

    /** What is appended after a registration is posted after it, whoever appended it. */
    @Test
    void keepsTheOrderOfAppendingWithEightThreads() throws InterruptedException {
        int each = 5_000;
        long[] next = new long[1];
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            threads.add(Thread.ofPlatform()
                    .start(() -> IntStream.range(0, each)
                            .forEach(j -> monitor.run(() -> {
                                long first = next[0];
                                next[0] += 2;
                                outbox.append(entry(first, first + 1));
                            }))));
        }
        for (Thread thread : threads) {
            assertThat(thread.join(Duration.ofSeconds(40)))
                    .as("%d posted", queuePair.posted.size())
                    .isTrue();
        }

        assertThat(queuePair.posted).hasSize(8 * each * 2);
        assertThat(IntStream.range(0, queuePair.posted.size()).allMatch(i -> queuePair.posted.get(i) == i))
                .isTrue();
        assertThat(queuePair.postsAtOneTime).hasValue(0);
        assertThat(queuePair.postsInsideTheMonitor).hasValue(0);
    }

    @Test
    void aRefusalIsToldInsideTheMonitorAndTheNextChainsGoOn() {
        queuePair.refused.add(2L);
        monitor.run(() -> {
            outbox.append(entry(1, 2, 3));
            outbox.append(entry(4));
        });

        assertThat(queuePair.posted).containsExactly(1L, 4L);
        assertThat(refusals).containsExactly("2 QUEUE_FULL inside");
    }

    @Test
    void whatIsAppendedOnRefusalComesAfterWhatWaitedBefore() {
        queuePair.refused.add(1L);
        monitor.run(() -> {
            outbox.append(new TestEntry(() -> outbox.append(entry(9)), 1));
            outbox.append(entry(2));
        });

        assertThat(queuePair.posted).containsExactly(2L, 9L);
    }

    @Test
    void anActionIsDoneInItsTurnOutsideTheMonitor() {
        List<String> done = new ArrayList<>();
        monitor.run(() -> {
            outbox.append(entry(1));
            outbox.appendAction(() -> done.add("after " + queuePair.posted + " held " + monitor.isHeld()));
            outbox.append(entry(2));
        });

        assertThat(done).containsExactly("after [1] held false");
        assertThat(queuePair.posted).containsExactly(1L, 2L);
    }

    @Test
    void whatThrowsIsToldAndTheOutboxGoesOn() {
        queuePair.refused.add(2L);
        queuePair.throwing.add(1L);
        monitor.run(() -> {
            outbox.append(entry(1));
            // So that the next one is not posted together with it: a joint post that throws tells of all its chains.
            outbox.appendAction(() -> {});
            outbox.append(new TestEntry(
                    () -> {
                        throw new AssertionError("thrown on purpose");
                    },
                    2));
            outbox.appendAction(() -> {
                throw new IllegalArgumentException("thrown on purpose");
            });
            outbox.appendAction(() -> {
                throw new StackOverflowError("thrown on purpose");
            });
            outbox.append(entry(3));
        });
        monitor.run(() -> outbox.append(entry(4)));

        assertThat(faults)
                .extracting(Object::getClass)
                .<Class<?>>map(type -> type)
                .containsExactly(
                        IllegalStateException.class,
                        AssertionError.class,
                        IllegalArgumentException.class,
                        StackOverflowError.class);
        assertThat(queuePair.posted).containsExactly(3L, 4L);
    }

    /** F24: the drain comes after the last post. */
    @Test
    void onceItIsClosedEachEntryIsRefusedAndNothingIsPosted() {
        List<String> done = new ArrayList<>();
        monitor.run(() -> {
            outbox.append(entry(1));
            outbox.closeThen(() -> done.add("drain after " + queuePair.posted));
            outbox.append(entry(2));
        });
        monitor.run(() -> outbox.append(new TestEntry(() -> {}, 3)));

        assertThat(done).containsExactly("drain after [1]");
        assertThat(queuePair.posted).containsExactly(1L);
        assertThat(refusals).containsExactly("2 WRONG_STATE inside", "3 WRONG_STATE inside");
    }

    @Test
    void closingAtOnceRefusesAlsoWhatWaits() {
        monitor.run(() -> {
            outbox.append(entry(1));
            outbox.close();
        });

        assertThat(queuePair.posted).isEmpty();
        assertThat(refusals).containsExactly("1 WRONG_STATE inside");
    }

    @Test
    void takesEntriesOnlyFromInside() {
        assertThatThrownBy(() -> outbox.append(entry(1))).isInstanceOf(IllegalMonitorStateException.class);
        assertThatThrownBy(() -> outbox.appendAction(() -> {})).isInstanceOf(IllegalMonitorStateException.class);
    }
}
