// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.device;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.net.EventLoop;
import org.rpcrdma4j.iwarp.net.LoopTask;
import org.rpcrdma4j.iwarp.queue.SoftCompletionQueue;
import org.rpcrdma4j.verbs.CompletionHandler;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.WorkCompletion;

/**
 * A completion queue and the loop that calls its handler.
 *
 * <p>The loop is chosen when the first queue pair reports here: the next one in turn if it reports Receives, for queue pairs live on the loop
 * of their receive completion queue; else that of the queue pair. So queue pairs spread over all loops, and what belongs together is
 * on one.
 */
final class DeviceCompletionQueue implements CompletionQueue {
    private final SoftCompletionQueue entries;
    private final @Nullable CompletionHandler handler;
    private @Nullable EventLoop loop;
    private volatile @Nullable LoopTask wake;

    DeviceCompletionQueue(int capacity, @Nullable CompletionHandler handler) {
        this.entries = new SoftCompletionQueue(capacity, this::wake, () -> {});
        this.handler = handler;
    }

    private void wake() {
        LoopTask task = wake;
        if (task != null) {
            task.schedule();
        }
    }

    /** The loop; chosen now if none is yet. */
    synchronized EventLoop loop(Supplier<EventLoop> choice) {
        EventLoop chosen = loop;
        if (chosen == null) {
            chosen = choice.get();
            loop = chosen;
            CompletionHandler told = handler;
            if (told != null) {
                wake = chosen.task(() -> {
                    if (entries.isOpen()) {
                        told.onCompletion(this);
                    }
                });
            }
        }
        return chosen;
    }

    SoftCompletionQueue entries() {
        return entries;
    }

    @Override
    public int capacity() {
        return entries.capacity();
    }

    @Override
    public int poll(WorkCompletion[] into) {
        return entries.poll(into);
    }

    @Override
    public void requestNotify(Notify kind) {
        entries.requestNotify(kind);
    }

    @Override
    public void close() {
        entries.close();
    }
}
