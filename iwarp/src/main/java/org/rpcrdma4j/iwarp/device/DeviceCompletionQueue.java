// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.device;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.net.EventLoop;
import org.rpcrdma4j.iwarp.net.LoopTask;
import org.rpcrdma4j.iwarp.queue.SoftCompletionQueue;
import org.rpcrdma4j.verbs.CompletionHandler;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.WorkCompletion;

/** A completion queue and the loop that calls its handler; queue pairs whose Receives report here live on the same loop. */
final class DeviceCompletionQueue implements CompletionQueue {
    private final EventLoop loop;
    private final SoftCompletionQueue entries;

    private DeviceCompletionQueue(EventLoop loop, SoftCompletionQueue entries) {
        this.loop = loop;
        this.entries = entries;
    }

    static DeviceCompletionQueue create(EventLoop loop, int capacity, @Nullable CompletionHandler handler) {
        AtomicReference<@Nullable LoopTask> task = new AtomicReference<>();
        SoftCompletionQueue entries = new SoftCompletionQueue(
                capacity,
                () -> {
                    LoopTask wake = task.get();
                    if (wake != null) {
                        wake.schedule();
                    }
                },
                () -> {});
        DeviceCompletionQueue queue = new DeviceCompletionQueue(loop, entries);
        if (handler != null) {
            task.set(loop.task(() -> {
                if (entries.isOpen()) {
                    handler.onCompletion(queue);
                }
            }));
        }
        return queue;
    }

    EventLoop loop() {
        return loop;
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
