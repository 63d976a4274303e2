// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.loopback;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * What moving bytes took, both ends together.
 *
 * @param bytes moved
 * @param nanos time passed
 * @param cpuNanos processor time of the whole process, user and system
 * @param allocatedBytes allocated on the Java heap, by all threads
 */
public record Sample(long bytes, long nanos, long cpuNanos, long allocatedBytes) {
    private static final double GIB = 1L << 30;

    /** Throughput. */
    public double gibPerSecond() {
        return bytes / GIB / (nanos / 1e9);
    }

    /** Processor time for each GiB. */
    public double cpuSecondsPerGib() {
        return cpuNanos / 1e9 / (bytes / GIB);
    }

    /** Meters from its creation on. */
    public static final class Meter {
        private static final OperatingSystemMXBean SYSTEM =
                (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

        private final long allocated = allocatedBytes();
        private final long cpu = SYSTEM.getProcessCpuTime();
        private final long begin = System.nanoTime();

        /** Begins now. */
        public Meter() {}

        /** Bytes allocated by all threads so far. */
        static long allocatedBytes() {
            return ((com.sun.management.ThreadMXBean) THREADS).getTotalThreadAllocatedBytes();
        }

        /** What moving so many bytes took. */
        public Sample sample(long bytes) {
            long nanos = System.nanoTime() - begin;
            long cpuNanos = SYSTEM.getProcessCpuTime() - cpu;
            return new Sample(bytes, nanos, cpuNanos, allocatedBytes() - allocated);
        }
    }
}
