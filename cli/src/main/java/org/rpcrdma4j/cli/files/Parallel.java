// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.files;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** Does blocking work for many files at a time, so that calls to the server overlap. */
final class Parallel {
    private static final int LANES = 32;

    private Parallel() {}

    /** What is done for each. It handles its own failures. */
    @FunctionalInterface
    interface Task<T> {
        void run(T subject) throws IOException;
    }

    /** What becomes of a failure; one at a time. */
    @FunctionalInterface
    interface Failures<T> {
        void onFailure(T subject, IOException failure);
    }

    /** Returns when all are done. */
    static <T> void forEach(List<T> subjects, Task<T> task, Failures<T> failures) {
        AtomicInteger next = new AtomicInteger();
        Object one = new Object();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int lane = 0; lane < Math.min(LANES, subjects.size()); lane++) {
                threads.execute(() -> {
                    for (int i = next.getAndIncrement(); i < subjects.size(); i = next.getAndIncrement()) {
                        T subject = subjects.get(i);
                        try {
                            task.run(subject);
                        } catch (IOException e) {
                            synchronized (one) {
                                failures.onFailure(subject, e);
                            }
                        }
                    }
                });
            }
        }
    }
}
