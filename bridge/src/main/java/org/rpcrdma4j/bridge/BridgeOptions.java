// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.bridge;

import java.time.Duration;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.ulb.Bindings;

/** What all connections of a bridge share. */
record BridgeOptions(
        Bindings bindings,
        long maxPayloadBytes,
        int maxInFlight,
        int maxConnections,
        Duration callTimeout,
        int connectAttempts,
        Counters<BridgeCounter> counters) {

    /** RPC header, credential and what stands beside the payload. */
    private static final int BESIDE_PAYLOAD = 64 << 10;

    private static final long LEAST_PAYLOAD = 4096;
    private static final long MOST_PAYLOAD = 16 << 20;

    BridgeOptions {
        if (maxPayloadBytes < LEAST_PAYLOAD || maxPayloadBytes > MOST_PAYLOAD) {
            throw new IllegalArgumentException(
                    "maxPayloadBytes " + maxPayloadBytes + " must lie in " + LEAST_PAYLOAD + ".." + MOST_PAYLOAD);
        }
        if (callTimeout.isNegative() || callTimeout.isZero()) {
            throw new IllegalArgumentException("callTimeout " + callTimeout + " must be positive");
        }
    }

    /** Longest record over TCP. */
    int maxRecordBytes() {
        return (int) maxPayloadBytes + BESIDE_PAYLOAD;
    }

    void count(BridgeCounter counter) {
        counters.increment(counter);
    }
}
