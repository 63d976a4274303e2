// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;

/** All counters of one device. Usable from any thread without a lock. */
public final class Counters {
    private final Map<Counter, LongAdder> adders = new EnumMap<>(Counter.class);

    /** All zero. */
    public Counters() {
        for (Counter counter : Counter.values()) {
            adders.put(counter, new LongAdder());
        }
    }

    /** Counts one. */
    public void increment(Counter counter) {
        adder(counter).increment();
    }

    /** Counts several. */
    public void add(Counter counter, long count) {
        adder(counter).add(count);
    }

    /** The count so far. */
    public long value(Counter counter) {
        return adder(counter).sum();
    }

    // The map is complete and does not change, so it is read without a lock.
    private LongAdder adder(Counter counter) {
        return Objects.requireNonNull(adders.get(counter));
    }

    /** Every counter by its public name, also those at zero. */
    public SortedMap<String, Long> snapshot() {
        SortedMap<String, Long> all = new TreeMap<>();
        for (Counter counter : Counter.values()) {
            all.put(counter.publicName(), value(counter));
        }
        return Collections.unmodifiableSortedMap(all);
    }
}
