// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mem;

/** A first-in, first-out queue of numbers that grows. Not safe for several threads. */
final class IntQueue {
    private int[] ring = new int[16];
    private int head;
    private int size;

    int size() {
        return size;
    }

    void add(int value) {
        if (size == ring.length) {
            int[] larger = new int[2 * ring.length];
            for (int i = 0; i < size; i++) {
                larger[i] = ring[head + i & (ring.length - 1)];
            }
            ring = larger;
            head = 0;
        }
        ring[head + size & (ring.length - 1)] = value;
        size++;
    }

    int remove() {
        int value = ring[head];
        head = head + 1 & (ring.length - 1);
        size--;
        return value;
    }
}
