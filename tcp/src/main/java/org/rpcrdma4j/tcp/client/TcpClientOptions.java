// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.client;

import java.net.InetSocketAddress;
import java.time.Duration;

/** How a client behaves; checked once, here. */
record TcpClientOptions(
        InetSocketAddress address,
        int maxInFlight,
        int maxQueued,
        int maxTransmissions,
        int maxRecordBytes,
        Duration connectTimeout,
        Duration callTimeout,
        Duration closeTimeout,
        Duration reconnectDelay,
        Duration maxReconnectDelay,
        int connectAttempts,
        Duration fenceGrace,
        Duration idleTimeout) {

    private static final int MAX_RECORD = 1 << 30;

    TcpClientOptions {
        inRange("maxInFlight", maxInFlight, 1, 1 << 16);
        inRange("maxQueued", maxQueued, 0, 1 << 24);
        inRange("maxTransmissions", maxTransmissions, 1, 1 << 20);
        inRange("maxRecordBytes", maxRecordBytes, 1024, MAX_RECORD);
        inRange("connectAttempts", connectAttempts, 0, 1 << 20);
        positive("connectTimeout", connectTimeout);
        positive("callTimeout", callTimeout);
        positive("closeTimeout", closeTimeout);
        positive("reconnectDelay", reconnectDelay);
        positive("maxReconnectDelay", maxReconnectDelay);
        positive("fenceGrace", fenceGrace);
        if (idleTimeout.isNegative()) {
            throw new IllegalArgumentException("idleTimeout " + idleTimeout + " must not be negative");
        }
    }

    private static void inRange(String name, long value, long low, long high) {
        if (value < low || value > high) {
            throw new IllegalArgumentException(name + " " + value + " must lie in " + low + ".." + high);
        }
    }

    private static void positive(String name, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new IllegalArgumentException(name + " " + value + " must be positive");
        }
    }
}
