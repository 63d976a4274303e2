// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.together;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rpcrdma4j.transport.client.RpcRdmaClient;
import org.rpcrdma4j.transport.client.TransportException;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.server.ServerOptions;

/**
 * One call at a time with pauses of random length: no completion is left lying until something else happens. With the device's only
 * periodic timer off nothing else happens, so a completion that is left lying is a call that never ends.
 */
class OneAtATimeTest {

    private static final int CALLS = 50_000;
    /** Far above what a loaded machine takes to get to a thread, and far below the time limit of a call. */
    private static final long OUTLIER_NANOS = TimeUnit.SECONDS.toNanos(3);

    private final long seed = Long.getLong("rpcrdma.seed", System.nanoTime());
    /** Calls by the number of bits of their microseconds. */
    private final int[] histogram = new int[64];

    private long longest;

    @ParameterizedTest
    @CsvSource({"off, 0", "on, 0", "off, 200"})
    @Timeout(value = 60, unit = TimeUnit.MINUTES)
    void eachCallEndsWithoutWaitingForTheNextOne(String busyPoll, String kickMillis) throws TransportException {
        // The last row is the device as it is by default.
        int calls = OneServer.rounds(kickMillis.equals("0") ? CALLS : CALLS / 5);
        SplittableRandom random = new SplittableRandom(seed);
        try (OneServer one = new OneServer(
                        Map.of("busy-poll", busyPoll, "kick-millis", kickMillis),
                        new BlockProgram(),
                        ServerOptions.DEFAULT);
                RpcRdmaClient client =
                        one.client().callTimeout(Duration.ofSeconds(20)).build()) {
            for (int i = 0; i < calls; i++) {
                long begin = System.nanoTime();
                client.call(OneServer.nothing(client));
                count(System.nanoTime() - begin);
                think(random);
            }
            System.out.println("busy-poll " + busyPoll + ", kick-millis " + kickMillis + ": " + this);
            assertThat(longest).as("-Drpcrdma.seed=%d: %s", seed, this).isLessThan(OUTLIER_NANOS);
            assertThat(client.counters().get(ClientCounter.SENDS)).isEqualTo(calls);
            assertThat(client.counters().get(ClientCounter.RECEIVES)).isEqualTo(calls);
            assertThat(client.counters().get(ClientCounter.CONNECTS)).isEqualTo(1);
        }
    }

    /** Nothing, a spin as long as a call, or a sleep longer than the device spins. */
    private static void think(SplittableRandom random) {
        switch (random.nextInt(8)) {
            case 0 -> LockSupport.parkNanos(random.nextInt(150_000));
            case 1, 2, 3 -> {
                long begin = System.nanoTime();
                int spin = random.nextInt(40_000);
                while (System.nanoTime() - begin < spin) {
                    Thread.onSpinWait();
                }
            }
            default -> {}
        }
    }

    private void count(long nanos) {
        histogram[64 - Long.numberOfLeadingZeros(nanos / 1000)]++;
        longest = Math.max(longest, nanos);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("longest " + longest / 1000 + " us;");
        for (int i = 0; i < histogram.length; i++) {
            if (histogram[i] > 0) {
                text.append(" <")
                        .append(1L << i)
                        .append(" us: ")
                        .append(histogram[i])
                        .append(';');
            }
        }
        return text.toString();
    }
}
