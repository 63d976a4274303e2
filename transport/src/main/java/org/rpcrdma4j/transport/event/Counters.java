// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

/**
 * One number for each constant of an enumeration. Numbers only grow, wrapping at 2^63, and are never reset: who wants a rate takes
 * differences.
 *
 * <p>Any thread may add and read, without waiting and without allocation. Numbers read together are not of one moment.
 *
 * @param <K> what is counted, {@link ClientCounter} or {@link ServerCounter}
 */
public final class Counters<K extends Enum<K>> {

    private final EnumMap<K, LongAdder> numbers;

    /** All at 0. */
    public Counters(Class<K> type) {
        numbers = new EnumMap<>(type);
        for (K key : EnumSet.allOf(type)) {
            numbers.put(key, new LongAdder());
        }
    }

    /** Adds 1. */
    public void increment(K key) {
        number(key).increment();
    }

    /** Adds an amount, 0 or more. */
    public void add(K key, long amount) {
        number(key).add(amount);
    }

    /** The number now. */
    public long get(K key) {
        return number(key).sum();
    }

    private LongAdder number(K key) {
        return Objects.requireNonNull(numbers.get(key));
    }

    /** All numbers, in the order of the constants; a copy. */
    public Map<K, Long> snapshot() {
        Map<K, Long> result = new LinkedHashMap<>();
        numbers.forEach((key, number) -> result.put(key, number.sum()));
        return Collections.unmodifiableMap(result);
    }

    @Override
    public String toString() {
        return snapshot().toString();
    }
}
