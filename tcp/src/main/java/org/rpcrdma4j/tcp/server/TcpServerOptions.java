// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.server;

import java.time.Duration;

/** How a server behaves; checked once, here. */
record TcpServerOptions(
        int maxRecordBytes,
        int maxInFlight,
        int maxConnections,
        int backlog,
        long memoryBytes,
        Duration idleTimeout,
        Duration stallTimeout) {

    private static final int MAX_RECORD = 1 << 30;

    TcpServerOptions {
        inRange("maxRecordBytes", maxRecordBytes, 1024, MAX_RECORD);
        inRange("maxInFlight", maxInFlight, 1, 1 << 14);
        inRange("maxConnections", maxConnections, 1, 1 << 20);
        inRange("backlog", backlog, 1, 1 << 16);
        inRange("memoryBytes", memoryBytes, 4L * maxRecordBytes, Long.MAX_VALUE);
        if (idleTimeout.isNegative()) {
            throw new IllegalArgumentException("idleTimeout " + idleTimeout + " must not be negative");
        }
        if (stallTimeout.isNegative() || stallTimeout.isZero()) {
            throw new IllegalArgumentException("stallTimeout " + stallTimeout + " must be positive");
        }
    }

    private static void inRange(String name, long value, long low, long high) {
        if (value < low || value > high) {
            throw new IllegalArgumentException(name + " " + value + " must lie in " + low + ".." + high);
        }
    }
}
