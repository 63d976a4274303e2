// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.rpcrdma4j.transport.time.SystemTime;
import org.rpcrdma4j.transport.time.TimeSource;

/** The threads that a server makes for itself where its builder got none: daemons, ended with the server. */
final class ServerThreads {

    private static final int HANDLER_QUEUE = 4096;
    private static final int WORKERS = 2;

    private final List<AutoCloseable> owned = new ArrayList<>();

    /** Runs handlers. Its queue is bounded: a call that finds it full waits in its connection. */
    Executor handlers(int threads) {
        return pool("rpcrdma-handler", threads, new ArrayBlockingQueue<>(HANDLER_QUEUE));
    }

    /** Runs what may wait for the device. Its tasks are few for each connection, so their number is bounded by that of connections. */
    Executor worker() {
        return pool("rpcrdma-server-worker", WORKERS, new LinkedBlockingQueue<>());
    }

    TimeSource time() {
        SystemTime time = new SystemTime();
        owned.add(time);
        return time;
    }

    private Executor pool(String name, int threads, BlockingQueue<Runnable> queue) {
        AtomicInteger number = new AtomicInteger();
        ThreadFactory factory = task -> {
            Thread thread = new Thread(task, name + "-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
        ThreadPoolExecutor pool = new ThreadPoolExecutor(threads, threads, 30, TimeUnit.SECONDS, queue, factory);
        pool.allowCoreThreadTimeOut(true);
        owned.add(pool::shutdown);
        return pool;
    }

    List<AutoCloseable> owned() {
        return owned;
    }
}
