// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

import java.util.EnumMap;
import java.util.Map;
import org.rpcrdma4j.verbs.MappingLedger;

/**
 * The levels of one moment: filled by their owner inside its monitor, then handed out and not changed any more. A gauge that was not
 * set is not shown.
 */
public final class Gauges {

    private final EnumMap<Gauge, Long> levels = new EnumMap<>(Gauge.class);

    /** Without any level. */
    public Gauges() {}

    /** Sets a level. */
    public Gauges set(Gauge gauge, long level) {
        levels.put(gauge, level);
        return this;
    }

    /** Sets those of the device's account of leased memory. */
    public Gauges set(MappingLedger ledger) {
        set(Gauge.MEMORY_LEASES, ledger.maps() - ledger.unmaps());
        set(Gauge.MEMORY_LEASED_BYTES, ledger.mappedBytes());
        return set(Gauge.DEVICE_REGIONS, ledger.regions());
    }

    /** Takes in the levels of another connection. */
    public Gauges combine(Gauges other) {
        other.levels.forEach((gauge, level) -> levels.merge(gauge, level, gauge::combine));
        return this;
    }

    /** A level; 0 if it was not set. */
    public long get(Gauge gauge) {
        return levels.getOrDefault(gauge, 0L);
    }

    /** All levels that were set, in the order of the constants; a copy. */
    public Map<Gauge, Long> snapshot() {
        return new EnumMap<>(levels);
    }

    @Override
    public String toString() {
        return levels.toString();
    }
}
