// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.testkit.Seeds;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.cm.ConnectOptions;
import org.rpcrdma4j.verbs.cm.ListenEndpoint;

/**
 * A correct user under thousands of schedules and faults: whatever goes wrong, each request completes once, memory that was taken
 * back stays as it is, and everything is given back. {@code -Drpcrdma.seed} replays one schedule, {@code -Drpcrdma.schedules} sets
 * how many there are.
 */
class FaultSchedulesTest {

    private static final int SCHEDULES = Integer.getInteger("rpcrdma.schedules", 10_000);
    private static final int REPEATED_EACH = 8;

    private final MemorySegment clientMemory = Arena.ofAuto().allocate(ToyEnd.MEMORY_BYTES, 4096);
    private final MemorySegment serverMemory = Arena.ofAuto().allocate(ToyEnd.MEMORY_BYTES, 4096);

    @Test
    void aCorrectUserSurvivesEveryFault() {
        AtomicInteger finishedCalls = new AtomicInteger();
        Seeds.run(SCHEDULES, seed -> {
            Outcome first = run(seed);
            finishedCalls.addAndGet(first.finishedCalls);
            if (seed % REPEATED_EACH == 0) {
                assertThat(run(seed)).as("the same seed again").isEqualTo(first);
            }
        });
        assertThat(finishedCalls.get()).as("calls that did succeed").isPositive();
    }

    @Test
    void withoutFaultsEveryCallSucceeds() throws IOException {
        for (long seed = 1; seed <= 100; seed++) {
            assertThat(new Schedule(seed, false).run().finishedCalls)
                    .as("seed %d", seed)
                    .isEqualTo(ToyEnd.CALLS);
        }
    }

    private Outcome run(long seed) throws IOException {
        return new Schedule(seed, true).run();
    }

    private record Outcome(long traceHash, long steps, int finishedCalls) {}

    /** One run. */
    private final class Schedule {
        private final SimulatedNetwork network;
        private final SplittableRandom random;
        private final RandomFaults clientFaults;
        private final RandomFaults serverFaults;
        private final ToyClient client;
        private final ToyServer server;
        private final boolean isPatient;

        Schedule(long seed, boolean faulty) {
            network = new SimulatedNetwork(seed);
            random = new SplittableRandom(~seed);
            isPatient = !faulty || random.nextInt(4) > 0;
            clientFaults = faults(faulty);
            serverFaults = faults(faulty);
            SimulationOptions options = SimulationOptions.DEFAULT.withMergedPieces(random.nextBoolean());
            client = new ToyClient(
                    SimulatedDevice.attach(network, "client", options.withFaults(clientFaults)), clientMemory, random);
            server = new ToyServer(
                    SimulatedDevice.attach(network, "server", options.withFaults(serverFaults)), serverMemory, random);
        }

        private RandomFaults faults(boolean faulty) {
            int posts = random.nextInt(3) == 0 ? 5 : 40;
            int losses = random.nextInt(3) == 0 ? 30 : 400;
            return faulty
                    ? new RandomFaults(random.nextLong(), posts, losses, 12, 12)
                            .withFailures(random.nextInt(3) == 0 ? 20 : 300)
                    : new RandomFaults(random.nextLong(), 0, 0, 0, 0);
        }

        Outcome run() throws IOException {
            try (ListenEndpoint listen = server.device
                    .connectionManager()
                    .listen(
                            new InetSocketAddress(0),
                            2,
                            request -> request.accept(server.queuePair, ConnectOptions.DEFAULT, server))) {
                client.device
                        .connectionManager()
                        .connect(client.queuePair, listen.localAddress(), ConnectOptions.DEFAULT, client);
                work();
            }
            finish();
            Outcome outcome = new Outcome(network.traceHash(), network.steps(), client.finished);
            client.close();
            server.close();
            client.check();
            assertThat(network.violations()).isEmpty();
            return outcome;
        }

        /** Until all calls are over, or the connection is, or the user loses patience. */
        private void work() {
            int patience = isPatient ? Integer.MAX_VALUE : random.nextInt(200);
            while (!client.isDone() && !client.hasEnded() && patience-- > 0) {
                boolean moved = random.nextInt(4) > 0 && network.step();
                if (client.canStart() && random.nextInt(4) == 0) {
                    client.start();
                    moved = true;
                }
                if (random.nextInt(3) == 0) {
                    moved |= client.poll();
                    moved |= server.poll();
                }
                if (!moved && !network.step() && !client.poll() && !server.poll() && !client.canStart()) {
                    throw new AssertionError("stuck: " + client.device.describe() + server.device.describe()
                            + String.join("\n", network.trace()));
                }
            }
        }

        /** Ends the connection in one of the ways there are, and takes everything back. */
        private void finish() {
            if (random.nextBoolean()) {
                client.queuePair.disconnect();
                for (int i = random.nextInt(50); i > 0; i--) {
                    network.step();
                }
            }
            clientFaults.enable(false);
            serverFaults.enable(false);
            client.beginDrain();
            server.beginDrain();
            while (!client.isDrained() || !server.isDrained()) {
                boolean moved = network.step();
                moved |= random.nextBoolean() && client.poll();
                moved |= random.nextBoolean() && server.poll();
                if (!moved && !client.poll() && !server.poll()) {
                    throw new AssertionError("drain is stuck: " + client.device.describe() + server.device.describe());
                }
            }
            client.checkEverythingCompleted();
            server.checkEverythingCompleted();
            assertThat(client.queuePair.state()).isEqualTo(QueuePair.State.ERROR);
            client.takeBack();
            network.runUntilIdle();
            assertThat(client.poll() || server.poll())
                    .as("O8: a completion after the drain")
                    .isFalse();
            client.check();
        }
    }
}
