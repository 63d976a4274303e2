// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class CountersTest {

    private final Counters<ClientCounter> counters = new Counters<>(ClientCounter.class);

    @Test
    void losesNothingWhenManyThreadsCount() throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            threads.add(Thread.ofPlatform().start(() -> {
                for (int j = 0; j < 100_000; j++) {
                    counters.increment(ClientCounter.SENDS);
                    counters.add(ClientCounter.TOTAL_RDMA_REPLY, 3);
                }
            }));
        }
        for (Thread thread : threads) {
            assertThat(thread.join(Duration.ofSeconds(30))).as("%s", counters).isTrue();
        }

        assertThat(counters.get(ClientCounter.SENDS)).isEqualTo(800_000);
        assertThat(counters.get(ClientCounter.TOTAL_RDMA_REPLY)).isEqualTo(2_400_000);
    }

    @Test
    void hasANumberForEachConstantInTheirOrder() {
        for (ClientCounter counter : ClientCounter.values()) {
            counters.add(counter, 1 + counter.name().length());
        }

        assertThat(counters.snapshot().keySet()).containsExactly(ClientCounter.values());
        counters.snapshot()
                .forEach((counter, number) -> assertThat(number)
                        .as("%s", counter)
                        .isEqualTo(1 + counter.name().length())
                        .isEqualTo(counters.get(counter)));
    }

    @Test
    void aSnapshotDoesNotChangeAnyMore() {
        var before = counters.snapshot();
        counters.increment(ClientCounter.CALLS);

        assertThat(before).containsEntry(ClientCounter.CALLS, 0L);
    }

    @Test
    void countingAllocatesNothing() {
        assertThat(Allocations.bytesPerRun(() -> {
                    counters.increment(ClientCounter.SENDS);
                    counters.add(ClientCounter.IN_FLIGHT_SUM, 17);
                }))
                .isZero();
    }

    @Test
    void eachWayToBeWrongCountsItselfAndTheSum() {
        Counters<ServerCounter> server = new Counters<>(ServerCounter.class);
        for (BadMessage cause : BadMessage.values()) {
            cause.count(counters);
            cause.countAtServer(server);
        }
        for (PeerError error : PeerError.values()) {
            error.count(counters);
        }

        assertThat(sum(counters, EnumSet.range(ClientCounter.BAD_REPLIES_SHORT, ClientCounter.PEER_ERRORS_UNKNOWN)))
                .isEqualTo(counters.get(ClientCounter.BAD_REPLIES))
                .isEqualTo(BadMessage.values().length + PeerError.values().length);
        assertThat(sum(server, EnumSet.range(ServerCounter.BAD_CALLS_SHORT, ServerCounter.BAD_CALLS_MESSAGE)))
                .isEqualTo(server.get(ServerCounter.BAD_CALLS))
                .isEqualTo(BadMessage.values().length);
    }

    private static <K extends Enum<K>> long sum(Counters<K> counters, EnumSet<K> keys) {
        return keys.stream().mapToLong(counters::get).sum();
    }
}
