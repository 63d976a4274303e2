// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import java.util.ArrayDeque;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.CompletionHandler;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.WorkCompletion;

/** A completion queue: entries that were not polled, and the handler's calls that are due. */
final class SimCompletionQueue implements CompletionQueue, Agenda.Actor {

    private final SimulatedDevice device;
    private final int capacity;
    private final @Nullable CompletionHandler handler;
    private final ArrayDeque<WorkEntry> entries = new ArrayDeque<>();
    private final int number;
    private int reserved;
    private int users;
    private @Nullable Notify armed;
    private int callsDue;
    private boolean isClosed;

    SimCompletionQueue(SimulatedDevice device, int capacity, @Nullable CompletionHandler handler, int number) {
        this.device = device;
        this.capacity = capacity;
        this.handler = handler;
        this.number = number;
    }

    @Override
    public int capacity() {
        return capacity;
    }

    /** Keeps places for a queue of a queue pair. */
    void reserve(int depth) {
        reserved += depth;
        users++;
    }

    void release(int depth) {
        reserved -= depth;
        users--;
    }

    int unreserved() {
        return capacity - reserved;
    }

    boolean isOpenOn(SimulatedDevice owner) {
        return !isClosed && owner == device;
    }

    void add(WorkEntry entry) {
        if (entries.size() == capacity) {
            throw new AssertionError("completion queue of " + capacity + " entries overflows");
        }
        entries.add(entry);
        boolean wakes = armed == Notify.ANY || (armed == Notify.SOLICITED && entry.wakesSolicited());
        if (wakes) {
            armed = null;
            callsDue++;
        }
    }

    void discard(WorkQueue queue) {
        entries.removeIf(entry -> entry.queue == queue);
    }

    @Override
    public int poll(WorkCompletion[] into) {
        int count = 0;
        while (count < into.length) {
            WorkEntry entry = entries.poll();
            if (entry == null) {
                break;
            }
            entry.fill(Objects.requireNonNull(into[count], "element of the array"));
            entry.queue.polled(entry);
            device.network().note("polled", entry.queue.traceId(), entry.id);
            count++;
        }
        return count;
    }

    @Override
    public void requestNotify(Notify kind) {
        if (armed != Notify.ANY) {
            armed = kind;
        }
    }

    @Override
    public void offer(Agenda agenda) {
        if (callsDue > 0) {
            agenda.add(ActionKind.NOTIFY, this);
        }
    }

    @Override
    public void act(ActionKind kind) {
        callsDue--;
        if (handler != null) {
            device.guarded(() -> handler.onCompletion(this));
        }
    }

    @Override
    public SimulatedDevice device() {
        return device;
    }

    @Override
    public int traceId() {
        return number;
    }

    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        if (users > 0) {
            throw new IllegalStateException(users + " queues of queue pairs still report to the completion queue");
        }
        isClosed = true;
        callsDue = 0;
        device.remove(this);
    }
}
