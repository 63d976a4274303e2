// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A piece of work that its owner asks the loop to do, again and again. Scheduling it several times before it runs runs it
 * once; scheduling allocates nothing. It runs on the loop's thread, with no lock held, at the end of the turn; what was
 * written before a call of {@link #schedule} that returned true is seen by the run that follows.
 *
 * <p>Threads: {@link #schedule} from any thread. The link belongs to the queue from the moment the flag is set until the loop
 * clears it.
 */
public final class LoopTask {
    private static final VarHandle SCHEDULED;

    static {
        try {
            SCHEDULED = MethodHandles.lookup().findVarHandle(LoopTask.class, "scheduled", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final EventLoop loop;
    private final Runnable work;

    @SuppressWarnings("unused") // through SCHEDULED
    private volatile boolean scheduled;

    @Nullable
    LoopTask next;

    LoopTask(EventLoop loop, Runnable work) {
        this.loop = loop;
        this.work = work;
    }

    /**
     * Asks for a run.
     *
     * @return false if the loop has ended, so that the task will not run
     */
    public boolean schedule() {
        if ((boolean) SCHEDULED.getAndSet(this, true)) {
            return true;
        }
        if (!loop.enqueue(this)) {
            scheduled = false;
            return false;
        }
        return true;
    }

    /** Whether a run was asked for and has not begun. */
    public boolean isScheduled() {
        return scheduled;
    }

    void runOnce() {
        // A read-modify-write, not a plain write: it sees the writes of a thread that found the flag set.
        boolean was = (boolean) SCHEDULED.getAndSet(this, false);
        assert was;
        work.run();
    }
}
