// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;

/**
 * How a client behaves; see {@link RpcRdmaClient.Builder} for each setting.
 *
 * @param address the server; NFS listens on port 20049
 * @param maxInFlight most calls without reply, and the credits asked for: 1 to 16384
 * @param inlineSendBytes longest message that we send: 1024 to 262144
 * @param inlineReceiveBytes longest message that we take: 1024 to 262144
 * @param maxPayloadBytes longest item, target or reply of a call: 4096 to 16 MiB
 * @param maxSegments most segments of one chunk: 1 to 256. RFC 8267, Section 6.4.2: every server takes 16
 * @param remoteInvalidation whether the server may invalidate regions by its replies (RFC 8797, Section 4.1)
 * @param offerWritePad whether a Write chunk of odd length has a segment for the pad behind it, for servers that want to write it
 * @param regionPagesLimit most pages of one region, for devices that are slow with many; 0 for what the device allows
 * @param maxQueued most calls that wait for a credit or for a connection
 * @param maxTransmissions on how many connections one call is sent before it fails
 * @param connectTimeout limit for one attempt to connect
 * @param callTimeout limit for a call that sets none
 * @param drainTimeout how long the end of a connection waits for completions that stay away
 * @param reconnectDelay first delay of a new attempt to connect; doubled with each further one
 * @param maxReconnectDelay longest such delay
 * @param connectAttempts after so many failed attempts in a row the waiting calls fail; 0 for none but their deadlines
 * @param fenceGrace how long the memory of an ended call may stay open before the connection is ended for it
 * @param badReplyLimit after so many malformed replies a connection is given up
 * @param idleTimeout after so long without a call the connection is ended; zero for never. Not with a reverse handler
 * @param reverseCredits how many calls of the server may be unanswered at a time
 */
public record ClientOptions(
        InetSocketAddress address,
        int maxInFlight,
        int inlineSendBytes,
        int inlineReceiveBytes,
        long maxPayloadBytes,
        int maxSegments,
        boolean remoteInvalidation,
        boolean offerWritePad,
        int regionPagesLimit,
        int maxQueued,
        int maxTransmissions,
        Duration connectTimeout,
        Duration callTimeout,
        Duration drainTimeout,
        Duration reconnectDelay,
        Duration maxReconnectDelay,
        int connectAttempts,
        Duration fenceGrace,
        int badReplyLimit,
        Duration idleTimeout,
        int reverseCredits) {

    private static final int MIN_INLINE_BYTES = 1024;
    private static final int MAX_INLINE_BYTES = 262_144;
    private static final int MAX_IN_FLIGHT = 16_384;
    private static final int MAX_SEGMENTS = 256;
    private static final long MIN_PAYLOAD_BYTES = 4096;
    private static final long MAX_PAYLOAD_BYTES = 16L << 20;

    public ClientOptions {
        Objects.requireNonNull(address, "address");
        requireWithin("maxInFlight", maxInFlight, 1, MAX_IN_FLIGHT);
        requireWithin("inlineSendBytes", inlineSendBytes, MIN_INLINE_BYTES, MAX_INLINE_BYTES);
        requireWithin("inlineReceiveBytes", inlineReceiveBytes, MIN_INLINE_BYTES, MAX_INLINE_BYTES);
        // RFC 8797, Section 4.2: sizes are told in units of 1024 bytes; of what lies between, the peer would not know.
        inlineSendBytes &= -MIN_INLINE_BYTES;
        inlineReceiveBytes &= -MIN_INLINE_BYTES;
        requireWithin("maxPayloadBytes", maxPayloadBytes, MIN_PAYLOAD_BYTES, MAX_PAYLOAD_BYTES);
        requireWithin("maxSegments", maxSegments, 1, MAX_SEGMENTS);
        requireWithin("regionPagesLimit", regionPagesLimit, 0, Integer.MAX_VALUE);
        requireWithin("maxQueued", maxQueued, 1, Integer.MAX_VALUE);
        requireWithin("maxTransmissions", maxTransmissions, 1, Integer.MAX_VALUE);
        requireWithin("connectAttempts", connectAttempts, 0, Integer.MAX_VALUE);
        requireWithin("badReplyLimit", badReplyLimit, 1, Integer.MAX_VALUE);
        requireWithin("reverseCredits", reverseCredits, 0, MAX_IN_FLIGHT);
        requirePositive("connectTimeout", connectTimeout);
        requirePositive("callTimeout", callTimeout);
        requirePositive("drainTimeout", drainTimeout);
        requirePositive("reconnectDelay", reconnectDelay);
        requirePositive("maxReconnectDelay", maxReconnectDelay);
        requirePositive("fenceGrace", fenceGrace);
        if (idleTimeout.isNegative()) {
            throw new IllegalArgumentException("idleTimeout " + idleTimeout + " must not be negative");
        }
    }

    private static void requireWithin(String name, long value, long least, long most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(name + " " + value + " must lie in " + least + ".." + most);
        }
    }

    private static void requirePositive(String name, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new IllegalArgumentException(name + " " + value + " must be positive");
        }
    }

    /** In nanoseconds, but never more than a century, so that sums do not overflow. */
    static long nanos(Duration duration) {
        long century = 3_155_760_000L;
        return duration.toSeconds() >= century ? century * 1_000_000_000L : duration.toNanos();
    }
}
