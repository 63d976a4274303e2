// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

/**
 * What has a level now, or a highest level so far. Those of several connections are combined by sum, or by the largest where the
 * constant says so.
 */
public enum Gauge {
    /** Established connections. */
    CONNECTIONS(Kind.SUM),
    /** Credits of the latest grant: what a client was granted, what a server grants to all its clients. */
    CREDITS_GRANTED(Kind.SUM),
    /** Calls sent and not answered; at a server, requests that were accepted and not answered. */
    CALLS_IN_FLIGHT(Kind.SUM),
    /** Calls that wait for a credit, a connection, a send buffer or regions. */
    CALLS_WAITING(Kind.SUM),
    /** Calls given up whose late reply may still come; each holds a credit. */
    CALLS_ZOMBIE(Kind.SUM),
    /** Age of the oldest call that is in flight, in nanoseconds; 0 if none is. The largest. */
    OLDEST_CALL_AGE_NANOS(Kind.MAX),

    /** Regions that can be used. */
    REGIONS_FREE(Kind.SUM),
    /** Regions that a call has, not registered yet. */
    REGIONS_MAPPING(Kind.SUM),
    /** Regions whose registration was handed to the send queue: the peer may have access. */
    REGIONS_REGISTERED(Kind.SUM),
    /** Regions whose invalidation was handed to the send queue and has not completed. */
    REGIONS_INVALIDATING(Kind.SUM),
    /** Regions of unknown state that recovery has. */
    REGIONS_IN_RECOVERY(Kind.SUM),

    /** Leases on memory that the device holds: those taken minus those given back. 0 after the device's last connection is closed. */
    MEMORY_LEASES(Kind.SUM),
    /** Bytes under these leases. */
    MEMORY_LEASED_BYTES(Kind.SUM),
    /** Regions of any kind that the device has. */
    DEVICE_REGIONS(Kind.SUM),

    /** Receives that are outstanding. */
    RECEIVES_OUTSTANDING(Kind.SUM),
    /** Send buffers that are with Sends. */
    SEND_BUFFERS_IN_USE(Kind.SUM);

    private enum Kind {
        SUM,
        MAX
    }

    private final Kind kind;

    Gauge(Kind kind) {
        this.kind = kind;
    }

    /** One level of two connections. */
    long combine(long one, long other) {
        return kind == Kind.SUM ? one + other : Math.max(one, other);
    }
}
