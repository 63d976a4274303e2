// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.connection;

import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The lock of one connection's state, and the list of what has to be done once it is left.
 *
 * <p>Whoever is inside changes state and leaves word; nobody inside waits, calls a user's code or makes a system call. {@link
 * #afterwards} takes what must happen outside: it runs after the outermost {@link #leave}, on the leaving thread, in the order in which
 * one thread left word.
 *
 * <p>Any thread may enter; a thread that is inside may enter again.
 */
public final class Monitor {

    private final ReentrantLock lock = new ReentrantLock();
    private ArrayDeque<Runnable> effects = new ArrayDeque<>();
    private @Nullable ArrayDeque<Runnable> spare = new ArrayDeque<>();

    /** A monitor with nobody inside. */
    public Monitor() {}

    /** Enters, waiting for whoever is inside. */
    public void enter() {
        lock.lock();
    }

    /** Leaves; from the outermost one, then does what was left for afterwards. */
    public void leave() {
        if (lock.getHoldCount() > 1 || effects.isEmpty()) {
            lock.unlock();
            return;
        }
        // Mostly there is one task, or two: these need no list of their own.
        Runnable first = effects.remove();
        Runnable second = effects.poll();
        ArrayDeque<Runnable> rest = effects.isEmpty() ? null : takeAll();
        lock.unlock();
        perform(first);
        if (second != null) {
            perform(second);
        }
        if (rest != null) {
            performAll(rest);
        }
    }

    private ArrayDeque<Runnable> takeAll() {
        ArrayDeque<Runnable> taken = effects;
        ArrayDeque<Runnable> next = spare;
        effects = next == null ? new ArrayDeque<>() : next;
        spare = null;
        return taken;
    }

    private void performAll(ArrayDeque<Runnable> tasks) {
        Runnable task;
        while ((task = tasks.poll()) != null) {
            perform(task);
        }
        // Kept for the next time if that costs no waiting.
        if (lock.tryLock()) {
            spare = tasks;
            lock.unlock();
        }
    }

    private static void perform(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            // One task must not keep the others from being done, least of all the outbox. Even an Error is its own: a
            // program's task may have run out of stack.
            System.getLogger(Monitor.class.getName())
                    .log(System.Logger.Level.WARNING, "task after the monitor failed", e);
        }
    }

    /** Does the task inside. */
    public void run(Runnable task) {
        enter();
        try {
            task.run();
        } finally {
            leave();
        }
    }

    /**
     * Leaves a task to be done outside.
     *
     * @throws IllegalMonitorStateException if the calling thread is not inside
     */
    public void afterwards(Runnable task) {
        requireHeld();
        effects.add(task);
    }

    /** Whether the calling thread is inside. */
    public boolean isHeld() {
        return lock.isHeldByCurrentThread();
    }

    /**
     * For methods that may be called inside only.
     *
     * @throws IllegalMonitorStateException if the calling thread is not inside
     */
    public void requireHeld() {
        if (!lock.isHeldByCurrentThread()) {
            throw new IllegalMonitorStateException("not inside the connection's monitor");
        }
    }
}
