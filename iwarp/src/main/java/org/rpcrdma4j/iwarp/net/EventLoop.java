// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One thread and one selector that serve any number of channels. A turn is: readiness of channels, timers that are due,
 * tasks. Tasks that tasks add run in the same turn, up to a bound, then channels get their chance again. A turn in which
 * nothing new comes up allocates nothing.
 *
 * <p>States: new, running after {@link #start}, ended after {@link #close}. Every task that was accepted runs, the last ones
 * while the loop ends. A handler, timer or task that throws does not end the loop: the error is counted, logged and given to
 * the error listener.
 *
 * <p>Threads: all methods may be called from any thread unless they say otherwise. Handlers, timers and tasks run on the
 * loop's thread; handlers are called from inside the selector, so they must not select or close the loop's selector, which
 * nothing here lets them do. They must not block.
 */
public final class EventLoop implements Executor, AutoCloseable {
    /** Size of the staging buffer unless something else is wanted. */
    public static final int DEFAULT_STAGING_BYTES = 256 * 1024;

    private static final long SPIN_NANOS = 50_000;
    private static final long SELECT_FAILURE_PAUSE_NANOS = 1_000_000;
    private static final int BATCHES_PER_TURN = 8;
    private static final long MAX_DELAY_NANOS = Long.MAX_VALUE / 4;
    private static final Logger LOG = System.getLogger("org.rpcrdma4j.iwarp");

    private final Thread thread;
    private final Selector selector;
    private final ByteBuffer staging;
    private final boolean busyPoll;
    private final CarryPool carries = new CarryPool();
    private final TaskQueue tasks = new TaskQueue(this);
    private final TimerHeap timers = new TimerHeap();
    private final Consumer<SelectionKey> dispatch = this::dispatch;
    private final LoopErrors errors;
    private final Object lifecycle = new Object();
    private volatile boolean closing;
    private volatile boolean ended;

    /** Set while the thread may be in a blocking select; whoever clears it wakes the selector. */
    private final AtomicBoolean sleeping = new AtomicBoolean();

    /** Makes a loop that does not run yet. */
    public EventLoop(String name, int stagingBytes, boolean busyPoll) {
        if (stagingBytes < 1) {
            throw new IllegalArgumentException("stagingBytes " + stagingBytes + ": must be positive");
        }
        this.busyPoll = busyPoll;
        errors = new LoopErrors(name);
        staging = ByteBuffer.allocateDirect(stagingBytes);
        try {
            selector = Selector.open();
        } catch (IOException e) {
            throw new UncheckedIOException("no selector for event loop " + name, e);
        }
        thread = Thread.ofPlatform().daemon().name(name).unstarted(this::run);
    }

    /** Starts the thread; tasks given before run first. */
    public void start() {
        synchronized (lifecycle) {
            if (closing) {
                throw new IllegalStateException("event loop " + name() + " is closed");
            }
            thread.start();
        }
    }

    /** The thread's name. */
    public String name() {
        return thread.getName();
    }

    /** Whether the caller is the loop's thread. */
    public boolean inEventLoop() {
        return Thread.currentThread() == thread;
    }

    /** The time that timers go by. */
    public long nanoTime() {
        return System.nanoTime();
    }

    /** Buffer for what is read within one call of a handler, direct and big-endian; its content does not outlive the call. */
    public ByteBuffer staging() {
        assert inEventLoop();
        return staging;
    }

    /** Where the loop's connections keep incomplete FPDUs. */
    CarryPool carries() {
        return carries;
    }

    /** Errors thrown by handlers, timers and tasks so far. */
    public long taskErrors() {
        return errors.count();
    }

    /** Who is told of errors of handlers, timers and tasks, on the loop's thread. */
    public void onError(Consumer<Throwable> listener) {
        errors.listener(listener);
    }

    /**
     * Runs a task on the loop's thread, after those given before. Also from the loop's own thread it runs later, not inside
     * the call.
     *
     * @throws RejectedExecutionException if the loop has ended
     */
    @Override
    public void execute(Runnable work) {
        if (!task(work).schedule()) {
            throw new RejectedExecutionException("event loop " + name() + " has ended");
        }
    }

    /** A task for repeated use; it is not scheduled yet. */
    public LoopTask task(Runnable work) {
        return new LoopTask(this, work);
    }

    /**
     * Does work once after a delay; the selector's clock makes it up to a millisecond late. Once the loop has ended the
     * timer comes back cancelled.
     */
    public LoopTimer schedule(long delayNanos, Runnable work) {
        long delay = Math.clamp(delayNanos, 0, MAX_DELAY_NANOS);
        LoopTimer timer = new LoopTimer(this, nanoTime() + delay, work);
        if (inEventLoop() && !closing) {
            timers.add(timer);
        } else if (!task(() -> addTimer(timer)).schedule()) {
            timer.cancel();
        }
        return timer;
    }

    private void addTimer(LoopTimer timer) {
        if (closing) {
            timer.cancel();
        } else if (timer.isPending()) {
            timers.add(timer);
        }
    }

    void timerCancelled(LoopTimer timer) {
        if (inEventLoop()) {
            timers.remove(timer);
        } else {
            timers.noteCancelled();
        }
    }

    /**
     * Puts a non-blocking channel on this loop. The channel stays the caller's, who closes it.
     *
     * @throws ClosedChannelException if it is closed
     * @throws RejectedExecutionException if the loop has ended
     */
    public Registration register(SelectableChannel channel, int ops, ReadyHandler handler)
            throws ClosedChannelException {
        Registration registration = new Registration(this, handler);
        try {
            // ORDER: the key is bound before any readiness can be reported.
            registration.bind(channel.register(selector, 0, registration));
        } catch (ClosedSelectorException e) {
            throw new RejectedExecutionException("event loop " + name() + " has ended", e);
        }
        if (ended) {
            registration.cancel();
            throw new RejectedExecutionException("event loop " + name() + " has ended");
        }
        registration.interest(ops);
        return registration;
    }

    boolean enqueue(LoopTask task) {
        if (!tasks.push(task)) {
            return false;
        }
        wakeForSelector();
        return true;
    }

    /** Makes the thread see new tasks and interests if it may be asleep. */
    void wakeForSelector() {
        if (sleeping.get() && !inEventLoop() && sleeping.compareAndSet(true, false)) {
            selector.wakeup();
        }
    }

    /**
     * Ends the loop. Tasks that were accepted run, timers are dropped, handlers are told, their channels closed. Returns
     * when the thread has ended, or at once when called on it.
     */
    @Override
    public void close() {
        synchronized (lifecycle) {
            closing = true;
            if (thread.getState() == Thread.State.NEW) {
                if (!ended) {
                    end();
                }
                return;
            }
        }
        if (!inEventLoop()) {
            wakeForSelector();
            joinThread();
        }
    }

    private void joinThread() {
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        while (!closing) {
            poll();
            runTimers();
            runTasks();
        }
        end();
    }

    private void poll() {
        try {
            long wait = tasks.isEmpty() ? nanosToNextTimer() : 0;
            if (wait <= 0) {
                selector.selectNow(dispatch);
            } else if (!busyPoll || !spin(Math.min(wait, SPIN_NANOS))) {
                block(wait);
            }
        } catch (IOException e) {
            errors.note(e);
            LockSupport.parkNanos(SELECT_FAILURE_PAUSE_NANOS);
        }
    }

    private boolean spin(long nanos) throws IOException {
        long end = nanoTime() + nanos;
        do {
            if (selector.selectNow(dispatch) > 0 || !tasks.isEmpty() || closing) {
                return true;
            }
            Thread.onSpinWait();
        } while (nanoTime() - end < 0);
        return false;
    }

    private void block(long nanos) throws IOException {
        // ORDER: the flag before the last look at the queue, as the others push before they look at the flag.
        sleeping.set(true);
        if (tasks.isEmpty() && !closing) {
            // Rounded up, so that no turn is made in vain; 0 means for ever.
            long millis = nanos == Long.MAX_VALUE ? 0 : (nanos + 999_999) / 1_000_000;
            selector.select(dispatch, millis);
        }
        sleeping.set(false);
        if (Thread.interrupted()) {
            LOG.log(Level.DEBUG, "event loop {0}: interrupt ignored", name());
        }
    }

    private long nanosToNextTimer() {
        LoopTimer first = timers.first();
        return first == null ? Long.MAX_VALUE : first.deadlineNanos - nanoTime();
    }

    private void dispatch(SelectionKey key) {
        if (sleeping.get()) {
            sleeping.set(false);
        }
        Registration registration = (Registration) key.attachment();
        try {
            if (key.isValid()) {
                registration.handler().onReady(key.readyOps());
            }
        } catch (Throwable e) {
            errors.note(e);
        }
    }

    private void runTimers() {
        int most = timers.size();
        if (most == 0) {
            return;
        }
        long now = nanoTime();
        for (LoopTimer first = timers.first();
                first != null && first.deadlineNanos - now <= 0 && most > 0;
                first = timers.first(), most--) {
            timers.remove(first);
            Runnable work = first.fire();
            if (work != null) {
                guarded(work);
            }
        }
    }

    private void runTasks() {
        for (int batch = 0; batch < BATCHES_PER_TURN; batch++) {
            LoopTask task = tasks.takeAll();
            if (task == null) {
                return;
            }
            runAll(task);
        }
    }

    private void runAll(@Nullable LoopTask first) {
        LoopTask task = first;
        while (task != null) {
            // ORDER: the link is read before the run, from which on the task may be queued anew.
            LoopTask next = task.next;
            task.next = null;
            try {
                task.runOnce();
            } catch (Throwable e) {
                errors.note(e);
            }
            task = next;
        }
    }

    private void guarded(Runnable work) {
        try {
            work.run();
        } catch (Throwable e) {
            errors.note(e);
        }
    }

    private void end() {
        runTasks();
        // ORDER: the flag before the look at the keys, as others register before they look at the flag.
        ended = true;
        for (SelectionKey key : new ArrayList<>(selector.keys())) {
            Registration registration = (Registration) key.attachment();
            guarded(() -> registration.handler().onLoopClosed());
            guarded(() -> closeChannel(key));
        }
        runAll(tasks.end());
        timers.clear();
        try {
            selector.close();
        } catch (IOException e) {
            errors.note(e);
        }
    }

    private static void closeChannel(SelectionKey key) {
        try {
            key.channel().close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
