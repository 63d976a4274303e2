// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.connection;

/**
 * How large a connection's queues and buffers are.
 *
 * @param sendDepth most outstanding work requests of the send queue
 * @param receives most outstanding Receives, and as many receive buffers
 * @param sendBuffers how many send buffers
 * @param sendBufferBytes size of each
 * @param receiveBufferBytes size of each receive buffer
 * @param maxSges most scatter/gather entries of one work request
 * @param drainTimeoutNanos how long the end of a connection waits for completions that do not come
 */
public record EndpointOptions(
        int sendDepth,
        int receives,
        int sendBuffers,
        int sendBufferBytes,
        int receiveBufferBytes,
        int maxSges,
        long drainTimeoutNanos) {

    public EndpointOptions {
        if (sendDepth < 1 || receives < 1 || sendBuffers < 1 || maxSges < 1) {
            throw new IllegalArgumentException("sendDepth " + sendDepth + ", receives " + receives + ", sendBuffers "
                    + sendBuffers + ", maxSges " + maxSges + ": too small");
        }
        if (sendBufferBytes < 1024 || receiveBufferBytes < 1024) {
            // RFC 8166, Section 3.3.3: every peer can receive 1024 bytes.
            throw new IllegalArgumentException(
                    "buffers of " + sendBufferBytes + " and " + receiveBufferBytes + " bytes: must hold at least 1024");
        }
        if (drainTimeoutNanos < 1) {
            throw new IllegalArgumentException("drainTimeoutNanos " + drainTimeoutNanos + " must be positive");
        }
    }
}
