// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.transport.event.WireListener;
import org.rpcrdma4j.transport.time.TimeSource;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.verbs.RdmaDevice;

/**
 * What all connections of a server share.
 *
 * @param handlers runs handlers; may refuse, then the call waits
 * @param worker runs what may wait for the device
 * @param budget memory of all connections together
 * @param fatalXids calls that broke a connection
 * @param connectionCount how many connections there were so far
 * @param log for what clients can cause
 */
record ServerContext(
        RdmaDevice device,
        ServerOptions options,
        RequestHandler handler,
        Bindings bindings,
        Executor handlers,
        Executor worker,
        TimeSource time,
        Counters<ServerCounter> counters,
        @Nullable WireListener wireListener,
        MemoryBudget budget,
        FatalXids fatalXids,
        AtomicInteger connectionCount,
        BoundedLog log) {

    /** The number of the next connection, from 1. */
    int nextConnection() {
        return connectionCount.incrementAndGet();
    }

    /** Tells the handler. What it throws must not keep the connection from its end. */
    void connectionEnds(long connectionId) {
        try {
            handler.onConnectionEnd(connectionId);
        } catch (RuntimeException e) {
            log.warn("the handler fails at the end of connection " + connectionId + ": " + e);
        }
    }

    /** Has the task done where waiting is allowed; at the end of the server, when the worker takes no more, here. */
    void runOnWorker(Runnable task) {
        try {
            worker.execute(task);
        } catch (RejectedExecutionException e) {
            task.run();
        }
    }
}
