// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.queue;

import java.util.concurrent.locks.ReentrantLock;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.WorkCompletion.Operation;
import org.rpcrdma4j.verbs.WorkCompletion.Status;

/**
 * A completion queue: a ring of entries under a lock of its own, which nests inside that of a queue pair.
 *
 * <p>It grows up to its capacity. Attaching checks that the places of all queues fit, and a place is held until its entry was polled,
 * so it cannot overflow (RFC 5042, Section 6.4.3.2).
 */
public final class SoftCompletionQueue implements CompletionQueue {

    private static final class Entry {
        private final WorkCompletion completion = new WorkCompletion();
        private WorkQueue queue;

        private Entry(WorkQueue queue) {
            this.queue = queue;
        }
    }

    private enum Armed {
        NO,
        SOLICITED,
        ANY
    }

    private final int capacity;
    private final Runnable wake;
    private final Runnable onClose;
    private final ReentrantLock lock = new ReentrantLock();
    private Entry[] ring = new Entry[0];
    private int head;
    private int size;
    private int attachedPlaces;
    private Armed armed = Armed.NO;
    private boolean closed;

    /**
     * @param wake makes the handler be called soon, once for any number of calls before that; called with locks held
     * @param onClose called once when it is closed
     */
    public SoftCompletionQueue(int capacity, Runnable wake, Runnable onClose) {
        this.capacity = capacity;
        this.wake = wake;
        this.onClose = onClose;
    }

    @Override
    public int capacity() {
        return capacity;
    }

    /**
     * Reserves room for the places of a queue.
     *
     * @throws IllegalArgumentException if they do not fit
     * @throws IllegalStateException if the completion queue is closed
     */
    public void attach(int places) {
        lock.lock();
        try {
            if (closed) {
                throw new IllegalStateException("completion queue is closed");
            }
            if (attachedPlaces + places > capacity) {
                throw new IllegalArgumentException("completion queue of " + capacity + " entries has "
                        + (capacity - attachedPlaces) + " left, too few for a queue of " + places);
            }
            attachedPlaces += places;
        } finally {
            lock.unlock();
        }
    }

    /** Discards the entries of a queue and gives its room back. */
    public void detach(WorkQueue queue) {
        lock.lock();
        try {
            int kept = 0;
            for (int i = 0; i < size; i++) {
                Entry entry = entry(i);
                if (entry.queue != queue) {
                    swap(kept, i);
                    kept++;
                }
            }
            size = kept;
            attachedPlaces -= queue.depth();
        } finally {
            lock.unlock();
        }
    }

    /** Gives room back that was reserved for a queue that did not come about. */
    public void unreserve(int places) {
        lock.lock();
        try {
            attachedPlaces -= places;
        } finally {
            lock.unlock();
        }
    }

    private void swap(int a, int b) {
        Entry kept = entry(b);
        ring[index(b)] = entry(a);
        ring[index(a)] = kept;
    }

    private int index(int i) {
        return head + i & (ring.length - 1);
    }

    private Entry entry(int i) {
        return ring[index(i)];
    }

    void push(WorkQueue queue, long id, Status status, Operation operation, long bytes, boolean solicited) {
        lock.lock();
        try {
            add(queue).set(id, status, operation, queue.queuePair(), bytes);
            notifyIfArmed(solicited || status != Status.SUCCESS);
        } finally {
            lock.unlock();
        }
    }

    void pushInvalidated(WorkQueue queue, long id, long bytes, boolean solicited, int key) {
        lock.lock();
        try {
            WorkCompletion completion = add(queue);
            completion.set(id, Status.SUCCESS, Operation.RECEIVE, queue.queuePair(), bytes);
            completion.setInvalidated(key);
            notifyIfArmed(solicited);
        } finally {
            lock.unlock();
        }
    }

    private WorkCompletion add(WorkQueue queue) {
        if (size == ring.length) {
            grow(queue);
        }
        Entry entry = entry(size);
        entry.queue = queue;
        size++;
        return entry.completion;
    }

    private void grow(WorkQueue queue) {
        Entry[] larger = new Entry[Math.max(16, 2 * ring.length)];
        for (int i = 0; i < larger.length; i++) {
            larger[i] = i < size ? entry(i) : new Entry(queue);
        }
        ring = larger;
        head = 0;
    }

    private void notifyIfArmed(boolean solicited) {
        if (armed == Armed.ANY || (armed == Armed.SOLICITED && solicited)) {
            armed = Armed.NO;
            if (!closed) {
                wake.run();
            }
        }
    }

    @Override
    public int poll(WorkCompletion[] into) {
        int taken = 0;
        lock.lock();
        try {
            while (taken < into.length && size > 0) {
                Entry entry = entry(0);
                copy(entry.completion, into[taken]);
                taken++;
                head = head + 1 & (ring.length - 1);
                size--;
                // ORDER: out of the ring first, then the place is free: the ring never holds more than there are
                // places.
                entry.queue.giveBackPlace();
            }
        } finally {
            lock.unlock();
        }
        return taken;
    }

    private static void copy(WorkCompletion from, WorkCompletion to) {
        to.set(from.id(), from.status(), from.operation(), from.queuePairNumber(), from.byteLength());
        if (from.isWithInvalidate()) {
            to.setInvalidated(from.invalidatedKey());
        }
    }

    @Override
    public void requestNotify(Notify kind) {
        lock.lock();
        try {
            if (armed != Armed.ANY) {
                armed = kind == Notify.ANY ? Armed.ANY : Armed.SOLICITED;
            }
        } finally {
            lock.unlock();
        }
    }

    /** Whether the handler may still be called. */
    public boolean isOpen() {
        lock.lock();
        try {
            return !closed;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            if (attachedPlaces > 0) {
                throw new IllegalStateException("queues of " + attachedPlaces + " places still report to this");
            }
            closed = true;
        } finally {
            lock.unlock();
        }
        onClose.run();
    }
}
