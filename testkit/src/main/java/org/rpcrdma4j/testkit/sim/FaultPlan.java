// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.WorkCompletion;

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

    /**
     * How a work request fails.
     *
     * @param status what its completion says: neither success nor flushed
     * @param isEffective whether its effect has taken place nevertheless: the bytes are moved, the region is open or shut
     */
    record WorkFailure(WorkCompletion.Status status, boolean isEffective) {

        public WorkFailure {
            if (status == WorkCompletion.Status.SUCCESS || status == WorkCompletion.Status.FLUSHED) {
                throw new IllegalArgumentException("not a failure: " + status);
            }
        }
    }

    /** Which executed, but uncompleted requests a flush reports as flushed, if the connection did not end in order. */
    enum Forgetting {
        /** Each with a chance of one in four. */
        SOME,
        /** All: a registration that the peer has long used comes back as flushed. */
        ALL,
        /** None but those behind one that was not executed. */
        NONE
    }

    /** A plan without faults. */
    static FaultPlan none() {
        return new FaultPlan() {};
    }

    /** How many requests of a chain of the given length are taken; the next one is refused for want of resources. */
    default int acceptedOfChain(int length) {
        return length;
    }

    /** With which reason a chain is cut short. */
    default PostResult.Reason refusalReason() {
        return PostResult.Reason.NO_RESOURCES;
    }

    /** How the request that begins now, or the Receive whose message is complete, fails; null if it does not. */
    default @Nullable WorkFailure failureOf(WorkCompletion.Operation operation) {
        return null;
    }

    /**
     * Whether the completion that is due now never comes, though the request is over. Later ones of the queue come; a drain of the
     * queue pair does not end any more.
     */
    default boolean losesCompletion(WorkCompletion.Operation operation) {
        return false;
    }

    /** What the flush that happens now forgets. */
    default Forgetting forgetting() {
        return Forgetting.SOME;
    }

    /** By how much virtual time the completions of the flush that happens now are put off. */
    default long flushDelayNanos() {
        return 0;
    }

    /** Whether this deregistration fails: the region stays as it is, open to the peer for as long as its queue pair lives. */
    default boolean failsDeregistration() {
        return false;
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

    /** By how much virtual time the completion of a request that is done is put off; later ones of the queue wait behind it. */
    default long completionDelayNanos(WorkCompletion.Operation operation) {
        return 0;
    }

    /** How much virtual time this deregistration takes. */
    default long deregistrationNanos() {
        return 0;
    }
}
