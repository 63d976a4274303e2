// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.WorkCompletion;

/** Faults at given occasions, counted from 1. Filled before or during a run; not safe for use by two threads. */
public final class ScriptedFaults implements FaultPlan {

    private record Work(WorkCompletion.Operation operation, int count) {}

    private record Occasion(ActionKind kind, boolean before, long count) {}

    private final Map<Integer, Integer> acceptedOfPost = new HashMap<>();
    private final Set<Occasion> losses = new HashSet<>();
    private final Set<Long> lossSteps = new HashSet<>();
    private final Map<Resource, Set<Integer>> refusals = new EnumMap<>(Resource.class);
    private final Map<Integer, ConnectFault> connectFaults = new HashMap<>();
    private final Map<Integer, Long> delays = new HashMap<>();
    private final Map<Occasion, Long> actionCounts = new HashMap<>();
    private final Map<Resource, Integer> resourceCounts = new EnumMap<>(Resource.class);
    private int posts;
    private int connects;
    private int completions;
    private long deregistrationNanos;
    private long flushDelayNanos;
    private PostResult.Reason refusalReason = PostResult.Reason.NO_RESOURCES;
    private Forgetting forgetting = Forgetting.SOME;
    private final Map<Integer, PostResult.Reason> reasons = new HashMap<>();
    private final Map<Work, WorkFailure> failures = new HashMap<>();
    private final Set<Work> lostCompletions = new HashSet<>();
    private final Map<Work, Long> delaysOfWork = new HashMap<>();
    private final Set<Integer> failedDeregistrations = new HashSet<>();
    private final Map<WorkCompletion.Operation, Integer> begun = new EnumMap<>(WorkCompletion.Operation.class);
    private final Map<WorkCompletion.Operation, Integer> due = new EnumMap<>(WorkCompletion.Operation.class);
    private final Map<WorkCompletion.Operation, Integer> done = new EnumMap<>(WorkCompletion.Operation.class);
    private int deregistrations;

    /** A script without faults. */
    public ScriptedFaults() {}

    /** The n-th post takes so many of its chain. */
    public ScriptedFaults acceptOfPost(int n, int accepted) {
        acceptedOfPost.put(n, accepted);
        return this;
    }

    /** How many posts there were, of both queues. */
    public int posts() {
        return posts;
    }

    /** The n-th post takes so many of its chain, and the next is refused with the given reason. */
    public ScriptedFaults refusePost(int n, int accepted, PostResult.Reason reason) {
        reasons.put(n, reason);
        return acceptOfPost(n, accepted);
    }

    /** The n-th request of the kind that begins, or the n-th Receive that a message fills, fails. */
    public ScriptedFaults fail(WorkCompletion.Operation operation, int n, WorkFailure failure) {
        failures.put(new Work(operation, n), failure);
        return this;
    }

    /** The n-th completion of the kind that is due, flushed ones included, never comes. */
    public ScriptedFaults loseCompletion(WorkCompletion.Operation operation, int n) {
        lostCompletions.add(new Work(operation, n));
        return this;
    }

    /** Puts the completion of the n-th request of the kind that succeeds off. */
    public ScriptedFaults delayCompletion(WorkCompletion.Operation operation, int n, long nanos) {
        delaysOfWork.put(new Work(operation, n), nanos);
        return this;
    }

    /** Puts the completions of every flush off. */
    public ScriptedFaults delayFlushes(long nanos) {
        flushDelayNanos = nanos;
        return this;
    }

    /** What every flush forgets. */
    public ScriptedFaults forget(Forgetting what) {
        forgetting = what;
        return this;
    }

    /** The n-th deregistration fails. */
    public ScriptedFaults failDeregistration(int n) {
        failedDeregistrations.add(n);
        return this;
    }

    /** How many deregistrations there were. */
    public int deregistrations() {
        return deregistrations;
    }

    /** The connection is lost before the n-th action of the kind on this device. */
    public ScriptedFaults loseConnectionBefore(ActionKind kind, long n) {
        losses.add(new Occasion(kind, true, n));
        return this;
    }

    /** The connection is lost after the n-th action of the kind on this device. */
    public ScriptedFaults loseConnectionAfter(ActionKind kind, long n) {
        losses.add(new Occasion(kind, false, n));
        return this;
    }

    /** The queue pair of this device that acts in the given step of the network loses its connection before. */
    public ScriptedFaults loseConnectionAtStep(long step) {
        lossSteps.add(step);
        return this;
    }

    /** The n-th wish for the resource is refused. */
    public ScriptedFaults refuse(Resource resource, int n) {
        refusals.computeIfAbsent(resource, key -> new HashSet<>()).add(n);
        return this;
    }

    /** What becomes of the n-th attempt to connect. */
    public ScriptedFaults failConnect(int n, ConnectFault fault) {
        connectFaults.put(n, fault);
        return this;
    }

    /** Puts the n-th completion off. */
    public ScriptedFaults delayCompletion(int n, long nanos) {
        delays.put(n, nanos);
        return this;
    }

    /** Makes every deregistration take so long. */
    public ScriptedFaults slowDeregistration(long nanos) {
        deregistrationNanos = nanos;
        return this;
    }

    @Override
    public int acceptedOfChain(int length) {
        posts++;
        refusalReason = reasons.getOrDefault(posts, PostResult.Reason.NO_RESOURCES);
        return acceptedOfPost.getOrDefault(posts, length);
    }

    @Override
    public PostResult.Reason refusalReason() {
        return refusalReason;
    }

    @Override
    public @Nullable WorkFailure failureOf(WorkCompletion.Operation operation) {
        return failures.get(next(begun, operation));
    }

    @Override
    public boolean losesCompletion(WorkCompletion.Operation operation) {
        return lostCompletions.contains(next(due, operation));
    }

    private static Work next(Map<WorkCompletion.Operation, Integer> counts, WorkCompletion.Operation operation) {
        return new Work(operation, counts.merge(operation, 1, Integer::sum));
    }

    @Override
    public Forgetting forgetting() {
        return forgetting;
    }

    @Override
    public long flushDelayNanos() {
        return flushDelayNanos;
    }

    @Override
    public boolean failsDeregistration() {
        deregistrations++;
        return failedDeregistrations.contains(deregistrations);
    }

    @Override
    public boolean losesConnection(ActionKind kind, boolean before, long step) {
        long count = actionCounts.merge(new Occasion(kind, before, 0), 1L, Long::sum);
        return losses.contains(new Occasion(kind, before, count)) || (before && lossSteps.contains(step));
    }

    @Override
    public boolean refuses(Resource resource) {
        int count = resourceCounts.merge(resource, 1, Integer::sum);
        return refusals.getOrDefault(resource, Set.of()).contains(count);
    }

    @Override
    public ConnectFault onConnect() {
        connects++;
        return connectFaults.getOrDefault(connects, ConnectFault.NONE);
    }

    @Override
    public long completionDelayNanos(WorkCompletion.Operation operation) {
        completions++;
        return Math.max(delays.getOrDefault(completions, 0L), delaysOfWork.getOrDefault(next(done, operation), 0L));
    }

    @Override
    public long deregistrationNanos() {
        return deregistrationNanos;
    }
}
