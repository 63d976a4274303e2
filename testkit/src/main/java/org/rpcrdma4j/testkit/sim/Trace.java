// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import java.util.ArrayList;
import java.util.List;

/** What happened: a hash over all events, and the last of them in words. Holds no addresses, so two runs can be compared. */
final class Trace {

    private static final int KEPT = 256;
    private static final long FNV_OFFSET = 0xcbf29ce484222325L;
    private static final long FNV_PRIME = 0x100000001b3L;

    private final String[] labels = new String[KEPT];
    private final long[] first = new long[KEPT];
    private final long[] second = new long[KEPT];
    private long count;
    private long hash = FNV_OFFSET;

    static long mix(long hash, long value) {
        long mixed = (hash ^ value) * FNV_PRIME;
        return mixed ^ (mixed >>> 29);
    }

    static long mix(long hash, byte[] bytes) {
        long mixed = hash;
        for (byte value : bytes) {
            mixed = (mixed ^ value) * FNV_PRIME;
        }
        return mixed;
    }

    static long emptyHash() {
        return FNV_OFFSET;
    }

    void add(String label, long actor, long value) {
        int slot = (int) (count % KEPT);
        labels[slot] = label;
        first[slot] = actor;
        second[slot] = value;
        count++;
        hash = mix(mix(mix(hash, label.hashCode()), actor), value);
    }

    long hash() {
        return hash;
    }

    List<String> last() {
        List<String> lines = new ArrayList<>();
        for (long i = Math.max(0, count - KEPT); i < count; i++) {
            int slot = (int) (i % KEPT);
            lines.add(i + " " + labels[slot] + " of " + first[slot] + ": " + second[slot]);
        }
        return lines;
    }
}
