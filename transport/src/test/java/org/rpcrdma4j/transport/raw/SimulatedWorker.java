// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.Executor;
import org.rpcrdma4j.testkit.sim.SimulatedNetwork;

/**
 * Runs tasks in later steps of a {@link SimulatedNetwork}, never on the spot: at once in their order, or each after a delay drawn by
 * the seed, so that tasks overtake each other as they do on a pool of threads.
 */
public final class SimulatedWorker implements Executor {

    private final SimulatedNetwork network;
    private final SplittableRandom random;
    private final long maxDelayNanos;
    private int pending;

    /** In order, without delay. */
    public SimulatedWorker(SimulatedNetwork network) {
        this(network, 0);
    }

    /** Each task after a delay of up to so many nanoseconds of virtual time; a step takes 1000. */
    public SimulatedWorker(SimulatedNetwork network, long maxDelayNanos) {
        this.network = network;
        this.maxDelayNanos = maxDelayNanos;
        random = new SplittableRandom(network.seed() ^ 0x5EED);
    }

    @Override
    public void execute(Runnable task) {
        pending++;
        long delay = maxDelayNanos == 0 ? 0 : random.nextLong(maxDelayNanos + 1);
        network.schedule(Duration.ofNanos(delay), () -> {
            pending--;
            task.run();
        });
    }

    /** Tasks that have not run. */
    public int pending() {
        return pending;
    }
}
