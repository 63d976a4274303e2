// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.testkit.sim.ActionKind;
import org.rpcrdma4j.testkit.sim.FaultPlan;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.WorkCompletion;

/** Faults that a test switches on just before the occasion that it means. May be used by any thread. */
final class SwitchedFaults implements FaultPlan {

    private int accepted = -1;
    private int acceptedAtLeast;
    private PostResult.Reason reason = PostResult.Reason.NO_RESOURCES;
    private final Map<Resource, Integer> refusals = new EnumMap<>(Resource.class);
    private final Map<WorkCompletion.Operation, Integer> losses = new EnumMap<>(WorkCompletion.Operation.class);
    private final Map<WorkCompletion.Operation, Integer> failures = new EnumMap<>(WorkCompletion.Operation.class);
    private final Map<WorkCompletion.Operation, Long> delays = new EnumMap<>(WorkCompletion.Operation.class);
    private int failedDeregistrations;
    private Forgetting forgetting = Forgetting.NONE;
    private boolean losesNow;
    private Runnable beforeRefusal = () -> {};
    private int eventsLeft;
    private Runnable event = () -> {};

    /** The next chain of at least so many requests is cut short after the first few. */
    synchronized void cutNextPost(int minimumLength, int acceptedOfIt, PostResult.Reason why) {
        acceptedAtLeast = minimumLength;
        accepted = acceptedOfIt;
        reason = why;
    }

    synchronized void refuseNext(Resource resource, int times) {
        refusals.put(resource, times);
    }

    synchronized void failNext(WorkCompletion.Operation operation) {
        failures.merge(operation, 1, Integer::sum);
    }

    synchronized void loseNextCompletion(WorkCompletion.Operation operation) {
        losses.merge(operation, 1, Integer::sum);
    }

    synchronized void delayCompletions(WorkCompletion.Operation operation, long nanos) {
        delays.put(operation, nanos);
    }

    synchronized void failDeregistrations(int times) {
        failedDeregistrations = times;
    }

    synchronized void forget(Forgetting what) {
        forgetting = what;
    }

    /** The connection is lost at the device's next action. */
    synchronized void loseConnection() {
        losesNow = true;
    }

    /** Something is done at the so manieth post or completion from now on. */
    synchronized void atEvent(int number, Runnable what) {
        eventsLeft = number;
        event = what;
    }

    synchronized boolean hasReachedEvent() {
        return eventsLeft <= 0;
    }

    private void countEvent() {
        if (--eventsLeft == 0) {
            event.run();
        }
    }

    @Override
    public synchronized int acceptedOfChain(int length) {
        countEvent();
        if (accepted < 0 || length < acceptedAtLeast) {
            return length;
        }
        int now = accepted;
        accepted = -1;
        return now;
    }

    /** Something is done between the post of the first few of a chain and the refusal of the rest. */
    synchronized void beforeRefusal(Runnable what) {
        beforeRefusal = what;
    }

    @Override
    public PostResult.Reason refusalReason() {
        Runnable what;
        synchronized (this) {
            what = beforeRefusal;
        }
        what.run();
        synchronized (this) {
            return reason;
        }
    }

    @Override
    public synchronized boolean refuses(Resource resource) {
        return countDown(refusals, resource);
    }

    @Override
    public synchronized @Nullable WorkFailure failureOf(WorkCompletion.Operation operation) {
        return countDown(failures, operation)
                ? new WorkFailure(WorkCompletion.Status.LOCAL_QP_OPERATION_ERROR, false)
                : null;
    }

    @Override
    public synchronized boolean losesCompletion(WorkCompletion.Operation operation) {
        countEvent();
        return countDown(losses, operation);
    }

    private static <K extends Enum<K>> boolean countDown(Map<K, Integer> counts, K key) {
        int left = counts.getOrDefault(key, 0);
        counts.put(key, Math.max(0, left - 1));
        return left > 0;
    }

    @Override
    public synchronized long completionDelayNanos(WorkCompletion.Operation operation) {
        return delays.getOrDefault(operation, 0L);
    }

    @Override
    public synchronized boolean failsDeregistration() {
        return failedDeregistrations-- > 0;
    }

    @Override
    public synchronized Forgetting forgetting() {
        return forgetting;
    }

    @Override
    public synchronized boolean losesConnection(ActionKind kind, boolean before, long step) {
        boolean now = losesNow;
        losesNow = false;
        return now;
    }
}
