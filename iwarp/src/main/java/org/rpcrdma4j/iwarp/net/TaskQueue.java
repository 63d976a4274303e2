// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Tasks on their way to the loop: an intrusive stack, taken as a whole and turned round, so that they run in the order in
 * which they were pushed. Many threads push, the loop's thread takes.
 */
final class TaskQueue {
    private static final VarHandle HEAD;

    static {
        try {
            HEAD = MethodHandles.lookup().findVarHandle(TaskQueue.class, "head", LoopTask.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Stands at the head when the loop has ended. */
    private final LoopTask ended;

    private volatile @Nullable LoopTask head;

    TaskQueue(EventLoop loop) {
        ended = new LoopTask(loop, () -> {
            throw new AssertionError("the mark of the end is no task");
        });
    }

    /** Adds a task; false once the queue has ended. */
    boolean push(LoopTask task) {
        while (true) {
            LoopTask first = head;
            if (first == ended) {
                return false;
            }
            task.next = first;
            if (HEAD.compareAndSet(this, first, task)) {
                return true;
            }
        }
    }

    boolean isEmpty() {
        return head == null;
    }

    /** Takes all tasks, the oldest first, linked by {@code next}. */
    @Nullable
    LoopTask takeAll() {
        LoopTask first = head;
        if (first == null || first == ended) {
            return null;
        }
        return reversed((LoopTask) HEAD.getAndSet(this, null));
    }

    /** Takes all tasks and admits no more. */
    @Nullable
    LoopTask end() {
        LoopTask first = (LoopTask) HEAD.getAndSet(this, ended);
        return first == ended ? null : reversed(first);
    }

    private static @Nullable LoopTask reversed(@Nullable LoopTask newest) {
        LoopTask oldest = null;
        LoopTask task = newest;
        while (task != null) {
            LoopTask older = task.next;
            task.next = oldest;
            oldest = task;
            task = older;
        }
        return oldest;
    }
}
