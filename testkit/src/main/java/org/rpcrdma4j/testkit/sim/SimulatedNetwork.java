// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A network of simulated devices in one thread, with a clock of its own.
 *
 * <p>Posting, connecting and the like only leave word; everything happens inside {@link #step} and the methods that call it. A
 * step does one action, chosen by the seed among all that are possible: move one piece of one message, make one completion, call
 * one handler. So another seed gives another schedule, and the same seed with the same calls gives the same one, of which {@link
 * #traceHash} is the proof. The ordering rules of the verbs hold in all of them.
 *
 * <p>Each step takes one microsecond of virtual time. When nothing is possible the clock jumps to the next timer.
 *
 * <p>One thread at a time; handlers and listeners are called by the thread that steps, with nothing locked. They may use the
 * devices but not step.
 */
public final class SimulatedNetwork {

    private static final long STEP_NANOS = 1_000;
    private static final long MAX_STEPS_OF_A_RUN = 20_000_000;

    private final long seed;
    private final SplittableRandom random;
    private final Agenda agenda;
    private final Timers timers = new Timers();
    private final Trace trace = new Trace();
    private final List<Agenda.Actor> actors = new ArrayList<>();
    private final List<String> violations = new ArrayList<>();
    private final Map<InetSocketAddress, SimListener> listeners = new HashMap<>();
    private long nowNanos;
    private long steps;
    private int nextQueuePairNumber = 1;
    private int nextPort = 40_000;
    private int nextHost = 1;
    private boolean stepping;

    /** A network without devices. */
    public SimulatedNetwork(long seed) {
        this.seed = seed;
        random = new SplittableRandom(seed);
        agenda = new Agenda(random);
    }

    /** The seed of its schedule. */
    public long seed() {
        return seed;
    }

    /** Virtual time, from 0. */
    public long nanoTime() {
        return nowNanos;
    }

    /** Steps done so far. */
    public long steps() {
        return steps;
    }

    /** A task that waits for its time. */
    @FunctionalInterface
    public interface Scheduled {

        /** The task does not run any more, and the clock does not stop for it. Nothing happens if it has run. */
        void cancel();
    }

    /** Runs the task at the given distance of virtual time, inside a step. */
    public Scheduled schedule(Duration delay, Runnable task) {
        Timers.Timer timer = at(nowNanos + delay.toNanos(), task);
        return () -> timers.cancel(timer);
    }

    /**
     * Does one action, or lets the next timer go off if none is possible.
     *
     * @return false if nothing is left to do
     */
    public boolean step() {
        return fireDueTimer() || actOnce() || fireNextTimer();
    }

    /** Steps until the condition holds, looking before each step. Returns false if nothing was left to do before. */
    public boolean runUntil(BooleanSupplier condition) {
        for (long i = 0; i < MAX_STEPS_OF_A_RUN; i++) {
            if (condition.getAsBoolean()) {
                return true;
            }
            if (!step()) {
                return condition.getAsBoolean();
            }
        }
        return false;
    }

    /** Steps until nothing is possible without waiting. Timers that are not due stay. */
    public void runUntilIdle() {
        for (long i = 0; i < MAX_STEPS_OF_A_RUN; i++) {
            if (!fireDueTimer() && !actOnce()) {
                return;
            }
        }
        throw new IllegalStateException("still busy after " + MAX_STEPS_OF_A_RUN + " steps");
    }

    /** Steps through all that happens within the given virtual time. */
    public void advance(Duration duration) {
        long end = nowNanos + duration.toNanos();
        while (nowNanos < end) {
            if (fireDueTimer() || actOnce()) {
                continue;
            }
            Timers.Timer next = timers.peek();
            nowNanos = next == null ? end : Math.min(end, next.atNanos());
        }
    }

    /** A hash over everything that happened so far. */
    public long traceHash() {
        return trace.hash();
    }

    /** The last few hundred events in words. */
    public List<String> trace() {
        return trace.last();
    }

    /** What users of the devices did against the contract, in words; empty as it should be. */
    public List<String> violations() {
        return List.copyOf(violations);
    }

    private boolean actOnce() {
        if (stepping) {
            throw new IllegalStateException("a handler must not step the network that called it");
        }
        agenda.clear();
        for (Agenda.Actor actor : actors) {
            actor.offer(agenda);
        }
        if (agenda.isEmpty()) {
            return false;
        }
        int choice = agenda.choose(random);
        stepping = true;
        try {
            tick();
            perform(agenda.kind(choice), agenda.actor(choice));
        } finally {
            stepping = false;
        }
        return true;
    }

    private void perform(ActionKind kind, Agenda.Actor actor) {
        FaultPlan faults = actor.device().options().faults();
        SimQueuePair queuePair = actor instanceof SimQueuePair found ? found : null;
        if (queuePair != null && queuePair.isJoined() && faults.losesConnection(kind, true, steps)) {
            trace.add("loss before " + kind, actor.traceId(), 0);
            queuePair.loseConnection();
            return;
        }
        trace.add(kind.name(), actor.traceId(), 0);
        actor.act(kind);
        if (queuePair != null && queuePair.isJoined() && faults.losesConnection(kind, false, steps)) {
            trace.add("loss after " + kind, actor.traceId(), 0);
            queuePair.loseConnection();
        }
    }

    private void tick() {
        steps++;
        nowNanos += STEP_NANOS;
    }

    private boolean fireDueTimer() {
        Timers.Timer next = timers.peek();
        return next != null && next.atNanos() <= nowNanos && fireNextTimer();
    }

    private boolean fireNextTimer() {
        Timers.Timer next = timers.poll();
        if (next == null) {
            return false;
        }
        nowNanos = Math.max(nowNanos, next.atNanos());
        steps++;
        trace.add("timer", 0, next.atNanos());
        next.run();
        return true;
    }

    Timers.Timer at(long nanos, Runnable task) {
        return timers.add(nanos, task);
    }

    void cancel(Timers.@Nullable Timer timer) {
        timers.cancel(timer);
    }

    /** Lets time pass inside a call of the user. */
    void spend(long nanos) {
        nowNanos += nanos;
    }

    SplittableRandom random() {
        return random;
    }

    void note(String event, long actor, long value) {
        trace.add(event, actor, value);
    }

    void violation(String text) {
        violations.add("step " + steps + ": " + text);
    }

    void addActor(Agenda.Actor actor) {
        actors.add(actor);
    }

    void removeActor(Agenda.Actor actor) {
        actors.remove(actor);
    }

    int nextQueuePairNumber() {
        return nextQueuePairNumber++;
    }

    int nextPort() {
        return nextPort++;
    }

    InetAddress nextHost() {
        try {
            return InetAddress.getByAddress(new byte[] {10, 0, (byte) (nextHost >> 8), (byte) nextHost++});
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    @Nullable
    SimListener listenerAt(InetSocketAddress address) {
        return listeners.get(address);
    }

    void bind(InetSocketAddress address, SimListener listener) {
        listeners.put(address, listener);
    }

    void unbind(InetSocketAddress address) {
        listeners.remove(address);
    }

    /** Length of the next piece of a message: short rests go at once, as they would in one segment. */
    int pieceOf(long remaining) {
        if (remaining <= 1024) {
            return (int) remaining;
        }
        int bound = random.nextInt(4) == 0 ? 2048 : 65_536;
        return (int) Math.min(remaining, 1 + random.nextInt(bound));
    }
}
