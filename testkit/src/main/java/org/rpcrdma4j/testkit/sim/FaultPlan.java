// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

/**
 * What goes wrong on one simulated device, and when. The device asks at each occasion, in the order of the simulation, so a plan
 * may count. Every method's default is that nothing goes wrong.
 */
public interface FaultPlan {

    /** What a device can be short of. */
    enum Resource {
        QUEUE_PAIR,
        COMPLETION_QUEUE,
        REGION,
        FAST_REGION,
        /** {@link org.rpcrdma4j.verbs.FastRegion#map} returns 0. */
        MAP
    }

    /** What becomes of an attempt to connect. */
    enum ConnectFault {
        NONE,
        /** Refused as unreachable. */
        UNREACHABLE,
        /** Refused as rejected, without the peer's program. */
        REJECTED,
        /** Nothing comes back until the time limit. */
        SILENCE
    }

    /** A plan without faults. */
    static FaultPlan none() {
        return new FaultPlan() {};
    }

    /** How many requests of a chain of the given length are taken; the next one is refused for want of resources. */
    default int acceptedOfChain(int length) {
        return length;
    }

    /** Whether the queue pair concerned loses its connection now, before or after an action of the given kind. */
    default boolean losesConnection(ActionKind kind, boolean before, long step) {
        return false;
    }

    /** Whether the resource is refused this time. */
    default boolean refuses(Resource resource) {
        return false;
    }

    /** What becomes of this attempt to connect. */
    default ConnectFault onConnect() {
        return ConnectFault.NONE;
    }

    /** By how much virtual time the completion of a request that is done is put off. */
    default long completionDelayNanos() {
        return 0;
    }

    /** How much virtual time this deregistration takes. */
    default long deregistrationNanos() {
        return 0;
    }
}
