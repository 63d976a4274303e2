// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.time.SystemTime;
import org.rpcrdma4j.transport.time.TimeSource;

/** A client's clock and worker: those given, or its own, which end with it. */
final class Resources {

    private static final int WORKERS = 2;
    private static final long IDLE_SECONDS = 10;

    private final TimeSource time;
    private final Executor worker;
    private final @Nullable SystemTime ownTime;
    private final @Nullable ExecutorService ownWorker;

    Resources(@Nullable TimeSource givenTime, @Nullable Executor givenWorker) {
        if (givenTime == null) {
            ownTime = new SystemTime();
            time = ownTime;
        } else {
            ownTime = null;
            time = givenTime;
        }
        if (givenWorker == null) {
            ownWorker = startWorker();
            worker = ownWorker;
        } else {
            ownWorker = null;
            worker = givenWorker;
        }
    }

    private static ExecutorService startWorker() {
        ThreadPoolExecutor executor = new ThreadPoolExecutor(
                WORKERS, WORKERS, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, "rpcrdma-client-worker");
                    thread.setDaemon(true);
                    return thread;
                });
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    TimeSource time() {
        return time;
    }

    Executor worker() {
        return worker;
    }

    void close() {
        if (ownWorker != null) {
            ownWorker.shutdown();
        }
        if (ownTime != null) {
            ownTime.close();
        }
    }
}
