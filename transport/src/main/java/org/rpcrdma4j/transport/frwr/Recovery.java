// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.connection.Monitor;

/**
 * Shuts regions that work requests cannot shut, off the path of calls: on the worker each is deregistered and gets a new handle. One
 * at a time, in the order in which they came.
 */
final class Recovery {

    /** Told the outcome, inside the monitor. */
    interface Listener {
        void onReplaced(Region region, DeviceRegions.Replacement replacement);
    }

    private final Monitor monitor;
    private final Executor worker;
    private final DeviceRegions deviceRegions;
    private final Listener listener;
    private final ArrayDeque<Region> waiting = new ArrayDeque<>();
    private boolean running;

    Recovery(Monitor monitor, Executor worker, DeviceRegions deviceRegions, Listener listener) {
        this.monitor = monitor;
        this.worker = worker;
        this.deviceRegions = deviceRegions;
        this.listener = listener;
    }

    /** Takes custody. */
    void add(Region region) {
        monitor.requireHeld();
        region.toRecovery();
        waiting.add(region);
        if (!running) {
            running = true;
            monitor.afterwards(this::start);
        }
    }

    /** Those that wait are left to the end of the connection, which deregisters everything. */
    void stop() {
        waiting.clear();
    }

    private void start() {
        try {
            worker.execute(this::run);
        } catch (RejectedExecutionException e) {
            run();
        }
    }

    private void run() {
        Region region;
        while ((region = next()) != null) {
            Region recovered = region;
            DeviceRegions.Replacement replacement = deviceRegions.replace(region.device());
            monitor.run(() -> listener.onReplaced(recovered, replacement));
        }
    }

    private @Nullable Region next() {
        monitor.enter();
        try {
            Region region = waiting.poll();
            running = region != null;
            return region;
        } finally {
            monitor.leave();
        }
    }
}
