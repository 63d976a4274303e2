// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.CompletionHandler;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.WorkCompletion;

/**
 * A completion queue of a {@link FaultyDevice}: passes on what the device reports, in its order, without what the plan loses, and after
 * what the plan delays.
 */
final class FaultyCompletions implements CompletionQueue {

    private final FaultyDevice device;
    private final @Nullable CompletionHandler handler;
    private final ArrayDeque<WorkCompletion> waiting = new ArrayDeque<>();
    private @Nullable CompletionQueue queue;
    private long releasedAt = System.nanoTime();
    private boolean hasLost;
    private boolean isClosed;

    FaultyCompletions(FaultyDevice device, @Nullable CompletionHandler handler) {
        this.device = device;
        this.handler = handler;
    }

    void onDevice(CompletionQueue made) {
        queue = made;
    }

    CompletionQueue onDevice() {
        if (queue == null) {
            throw new IllegalStateException("not made yet");
        }
        return queue;
    }

    /** Whether one was lost, so that it will never have been polled. */
    synchronized boolean hasLost() {
        return hasLost;
    }

    void call() {
        if (handler != null && !isClosed()) {
            handler.onCompletion(this);
        }
    }

    private synchronized boolean isClosed() {
        return isClosed;
    }

    @Override
    public int capacity() {
        return onDevice().capacity();
    }

    @Override
    public synchronized int poll(WorkCompletion[] into) {
        takeAll();
        int count = 0;
        while (count < into.length && !waiting.isEmpty() && System.nanoTime() - releasedAt >= 0) {
            WorkCompletion next = waiting.remove();
            into[count].set(next.id(), next.status(), next.operation(), next.queuePairNumber(), next.byteLength());
            if (next.isWithInvalidate()) {
                into[count].setInvalidated(next.invalidatedKey());
                device.count("remoteInvalidations", 1);
            }
            count++;
        }
        return count;
    }

    private void takeAll() {
        WorkCompletion[] one = {new WorkCompletion()};
        while (onDevice().poll(one) > 0) {
            WorkCompletion taken = one[0];
            if (device.plan().losesCompletion(taken.operation())) {
                hasLost = true;
                continue;
            }
            delayBy(device.plan().completionDelayNanos(taken.operation()));
            waiting.add(taken);
            one[0] = new WorkCompletion();
        }
    }

    private void delayBy(long nanos) {
        if (nanos > 0) {
            releasedAt = System.nanoTime() + nanos;
            CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS).execute(this::call);
        }
    }

    @Override
    public void requestNotify(Notify kind) {
        onDevice().requestNotify(kind);
    }

    @Override
    public synchronized void close() {
        onDevice().close();
        isClosed = true;
    }
}
