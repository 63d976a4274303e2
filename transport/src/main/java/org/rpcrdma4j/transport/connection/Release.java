// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.connection;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * The last part of an endpoint's life: on the worker, outside the monitor, everything is given back to the device, which may wait there
 * for its own threads.
 *
 * <pre>
 *   begin --worker: queue pair closed--> told; what is left for afterwards --worker: buffers, domain closed--> told
 * </pre>
 *
 * <p>All methods are called inside the monitor, and so are the two tasks that it was made with.
 */
final class Release {

    private final EndpointObjects objects;
    private final Monitor monitor;
    private final Executor worker;
    private final Runnable onQueuePairClosed;
    private final Runnable onClosed;

    Release(EndpointObjects objects, Monitor monitor, Executor worker, Runnable onQueuePairClosed, Runnable onClosed) {
        this.objects = objects;
        this.monitor = monitor;
        this.worker = worker;
        this.onQueuePairClosed = onQueuePairClosed;
        this.onClosed = onClosed;
    }

    /** Starts; called once. */
    void begin() {
        onWorker(this::closeQueuePair);
    }

    private void closeQueuePair() {
        // ORDER: the queue pair first; no access under it is possible afterwards, whatever state regions are in.
        objects.queuePair().close();
        monitor.run(() -> {
            onQueuePairClosed.run();
            // ORDER: behind what the listener leaves for afterwards, which may still need the domain.
            onWorker(this::closeRest);
        });
    }

    private void closeRest() {
        objects.closeRest();
        monitor.run(onClosed);
    }

    private void onWorker(Runnable task) {
        monitor.afterwards(() -> {
            try {
                worker.execute(task);
            } catch (RejectedExecutionException e) {
                // The program has shut its worker down; the device must get its own back all the same.
                task.run();
            }
        });
    }
}
