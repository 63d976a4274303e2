// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.together;

import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;

/** What the process has of that which could be lost. */
record Held(long heapBytes, long directBytes, long residentBytes, long leasedBytes, long regions, int threads) {

    static Held now(OneServer one) throws IOException {
        long heap = Long.MAX_VALUE;
        long direct = Long.MAX_VALUE;
        // Buffers of connections that are gone are freed by a thread of the collector's, in its own time.
        for (int unchanged = 0; unchanged < 5; unchanged++) {
            System.gc();
            LockSupport.parkNanos(50_000_000);
            long heapNow =
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
            long directNow = direct();
            if (directNow < direct) {
                unchanged = 0;
            }
            heap = Math.min(heap, heapNow);
            direct = Math.min(direct, directNow);
        }
        return new Held(
                heap,
                direct,
                resident(),
                one.clientDevice.ledger().mappedBytes()
                        + one.serverDevice.ledger().mappedBytes(),
                one.clientDevice.ledger().regions() + one.serverDevice.ledger().regions(),
                OneServer.threads().size());
    }

    private static long direct() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }

    /** Of this process; 0 where the system does not tell. */
    static long resident() throws IOException {
        Path status = Path.of("/proc/self/status");
        if (!Files.isReadable(status)) {
            return 0;
        }
        return Files.readAllLines(status).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024)
                .findFirst()
                .orElse(0);
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "heap %d KiB, direct %d KiB, resident %d KiB, leased %d KiB, %d regions, %d threads",
                heapBytes >> 10,
                directBytes >> 10,
                residentBytes >> 10,
                leasedBytes >> 10,
                regions,
                threads);
    }
}
