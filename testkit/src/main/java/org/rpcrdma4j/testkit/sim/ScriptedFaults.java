// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Faults at given occasions, counted from 1. Filled before or during a run; not safe for use by two threads. */
public final class ScriptedFaults implements FaultPlan {

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

    /** A script without faults. */
    public ScriptedFaults() {}

    /** The n-th post takes so many of its chain. */
    public ScriptedFaults acceptOfPost(int n, int accepted) {
        acceptedOfPost.put(n, accepted);
        return this;
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
        return acceptedOfPost.getOrDefault(posts, length);
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
    public long completionDelayNanos() {
        completions++;
        return delays.getOrDefault(completions, 0L);
    }

    @Override
    public long deregistrationNanos() {
        return deregistrationNanos;
    }
}
