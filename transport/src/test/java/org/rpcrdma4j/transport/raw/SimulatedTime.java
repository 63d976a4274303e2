// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import java.time.Duration;
import org.rpcrdma4j.testkit.sim.SimulatedNetwork;
import org.rpcrdma4j.transport.time.TimeSource;

/** The clock of a {@link SimulatedNetwork} as a time source. Its tasks run in steps of the network, on the thread that steps. */
public final class SimulatedTime implements TimeSource {

    private final SimulatedNetwork network;
    private int pending;

    public SimulatedTime(SimulatedNetwork network) {
        this.network = network;
    }

    @Override
    public long nanoTime() {
        return network.nanoTime();
    }

    @Override
    public Timer schedule(long delayNanos, Runnable task) {
        pending++;
        Waiting waiting = new Waiting(task);
        waiting.scheduled = network.schedule(Duration.ofNanos(Math.max(0, delayNanos)), waiting);
        return waiting;
    }

    /** Tasks that have neither run nor been cancelled. */
    public int pending() {
        return pending;
    }

    private final class Waiting implements Timer, Runnable {
        private final Runnable task;
        private SimulatedNetwork.Scheduled scheduled = () -> {};
        private boolean isOver;

        Waiting(Runnable task) {
            this.task = task;
        }

        @Override
        public void run() {
            over();
            task.run();
        }

        @Override
        public void cancel() {
            if (!isOver) {
                over();
                scheduled.cancel();
            }
        }

        private void over() {
            isOver = true;
            pending--;
        }
    }
}
