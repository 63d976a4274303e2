// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** Counts what a piece of code allocates, once it has been run in. */
final class Allocations {

    private static final int TIMES = 20_000;

    private Allocations() {}

    /** Bytes for each run, rounded down: the least of several rounds, since the compiler may still be at work in the first. */
    static long bytesPerRun(Runnable code) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        for (int round = 0; round < 5; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < TIMES; i++) {
                code.run();
            }
            least = Math.min(least, (threads.getCurrentThreadAllocatedBytes() - before) / TIMES);
        }
        return least;
    }
}
