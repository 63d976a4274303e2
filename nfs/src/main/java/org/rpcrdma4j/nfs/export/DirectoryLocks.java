// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Locks of directories and files by inode: alone to change entries or attributes, shared to look at them. Striped, so two inodes may have the same
 * lock; a call takes all that it needs at once, in the order of the stripes, so that calls cannot wait for each other in a circle.
 */
final class DirectoryLocks {

    private static final int STRIPES = 256;

    private final ReadWriteLock[] stripes = new ReadWriteLock[STRIPES];

    DirectoryLocks() {
        for (int i = 0; i < STRIPES; i++) {
            stripes[i] = new ReentrantReadWriteLock();
        }
    }

    /** What is held; by this thread, until closed. */
    static final class Held implements AutoCloseable {

        private final Deque<Lock> locks = new ArrayDeque<>();

        private void take(Lock lock) {
            lock.lock();
            locks.push(lock);
        }

        @Override
        public void close() {
            while (!locks.isEmpty()) {
                locks.pop().unlock();
            }
        }
    }

    Held share(Node node) {
        return hold(Map.of(stripe(node), false));
    }

    Held alone(Node node) {
        return hold(Map.of(stripe(node), true));
    }

    Held alone(Node one, Node other) {
        TreeMap<Integer, Boolean> wanted = new TreeMap<>();
        wanted.put(stripe(one), true);
        wanted.put(stripe(other), true);
        return hold(wanted);
    }

    /** One alone, others shared; a stripe that is wanted both ways is taken alone. */
    Held aloneAndShare(Node alone, Iterable<Node> shared) {
        TreeMap<Integer, Boolean> wanted = new TreeMap<>();
        for (Node node : shared) {
            wanted.put(stripe(node), false);
        }
        wanted.put(stripe(alone), true);
        return hold(wanted);
    }

    private Held hold(Map<Integer, Boolean> wanted) {
        Held held = new Held();
        wanted.forEach((stripe, alone) -> held.take(alone ? stripes[stripe].writeLock() : stripes[stripe].readLock()));
        return held;
    }

    private static int stripe(Node node) {
        return Math.floorMod(Long.hashCode(node.inode * 0x9e3779b97f4a7c15L), STRIPES);
    }
}
