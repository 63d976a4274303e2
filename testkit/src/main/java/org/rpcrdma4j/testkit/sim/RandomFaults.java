// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.WorkCompletion;

/** Faults drawn by a seed: the same seed on the same run gives the same faults. */
public final class RandomFaults implements FaultPlan {

    private static final int DELAY_ODDS = 8;
    private static final int MAX_DELAY_NANOS = 200_000;
    private static final WorkCompletion.Status[] FAILURES = {
        WorkCompletion.Status.LOCAL_QP_OPERATION_ERROR,
        WorkCompletion.Status.LOCAL_PROTECTION_ERROR,
        WorkCompletion.Status.REMOTE_ACCESS_ERROR,
        WorkCompletion.Status.GENERAL_ERROR
    };

    private final SplittableRandom random;
    private final int postOdds;
    private final int lossOdds;
    private final int resourceOdds;
    private final int connectOdds;
    private int failureOdds;
    private int lostCompletionOdds;
    private int deregistrationOdds;
    private boolean enabled = true;

    /**
     * Draws for each occasion whether it goes wrong.
     *
     * @param postOdds one in so many posts is cut short; 0 for never
     * @param lossOdds one in so many occasions (before and after each action) loses the connection; 0 for never
     * @param resourceOdds one in so many allocations and maps is refused; 0 for never
     * @param connectOdds one in so many attempts to connect fails; 0 for never
     */
    public RandomFaults(long seed, int postOdds, int lossOdds, int resourceOdds, int connectOdds) {
        random = new SplittableRandom(seed);
        this.postOdds = postOdds;
        this.lossOdds = lossOdds;
        this.resourceOdds = resourceOdds;
        this.connectOdds = connectOdds;
    }

    /** One in so many requests fails with a status other than flushed. */
    public RandomFaults withFailures(int odds) {
        failureOdds = odds;
        return this;
    }

    /** One in so many completions never comes. */
    public RandomFaults withLostCompletions(int odds) {
        lostCompletionOdds = odds;
        return this;
    }

    /** One in so many deregistrations fails. */
    public RandomFaults withFailedDeregistrations(int odds) {
        deregistrationOdds = odds;
        return this;
    }

    /** Switches all faults off or on again. */
    public void enable(boolean value) {
        enabled = value;
    }

    private boolean happens(int odds) {
        return enabled && odds > 0 && random.nextInt(odds) == 0;
    }

    @Override
    public int acceptedOfChain(int length) {
        return happens(postOdds) ? random.nextInt(length + 1) : length;
    }

    @Override
    public PostResult.Reason refusalReason() {
        return random.nextBoolean() ? PostResult.Reason.QUEUE_FULL : PostResult.Reason.NO_RESOURCES;
    }

    @Override
    public @Nullable WorkFailure failureOf(WorkCompletion.Operation operation) {
        if (!happens(failureOdds)) {
            return null;
        }
        return new WorkFailure(FAILURES[random.nextInt(FAILURES.length)], random.nextBoolean());
    }

    @Override
    public boolean losesCompletion(WorkCompletion.Operation operation) {
        return happens(lostCompletionOdds);
    }

    @Override
    public Forgetting forgetting() {
        Forgetting[] all = Forgetting.values();
        return all[random.nextInt(all.length)];
    }

    @Override
    public long flushDelayNanos() {
        return happens(DELAY_ODDS) ? random.nextInt(MAX_DELAY_NANOS) : 0;
    }

    @Override
    public boolean failsDeregistration() {
        return happens(deregistrationOdds);
    }

    @Override
    public boolean losesConnection(ActionKind kind, boolean before, long step) {
        return happens(lossOdds);
    }

    @Override
    public boolean refuses(Resource resource) {
        return happens(resourceOdds);
    }

    @Override
    public ConnectFault onConnect() {
        ConnectFault[] all = ConnectFault.values();
        return happens(connectOdds) ? all[random.nextInt(all.length)] : ConnectFault.NONE;
    }

    @Override
    public long completionDelayNanos(WorkCompletion.Operation operation) {
        return happens(DELAY_ODDS) ? random.nextInt(MAX_DELAY_NANOS) : 0;
    }
}
