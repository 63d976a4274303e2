// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Counters and gauges as text, one number on each line, in the format that Prometheus reads: the samples of one name together, after a
 * line with its type. Filled and printed by one thread.
 *
 * <pre>
 *   # TYPE rpcrdma_client_sends_total counter
 *   rpcrdma_client_sends_total{name="nas1"} 1200
 * </pre>
 */
public final class CountersPage {

    private final Map<String, List<String>> families = new LinkedHashMap<>();

    /** An empty page. */
    public CountersPage() {}

    /**
     * Adds counters.
     *
     * @param side the middle part of the names, such as {@code client}
     * @param name tells the owner from others of the same kind
     */
    public CountersPage counters(String side, String name, Counters<?> counters) {
        counters.snapshot().forEach((counter, number) -> add(side, counter, "_total", "counter", name, number));
        return this;
    }

    /** Adds gauges. */
    public CountersPage gauges(String side, String name, Gauges gauges) {
        gauges.snapshot().forEach((gauge, level) -> add(side, gauge, "", "gauge", name, level));
        return this;
    }

    private void add(String side, Enum<?> what, String suffix, String type, String name, long number) {
        String family = "rpcrdma_" + side + "_" + what.name().toLowerCase(Locale.ROOT) + suffix;
        families.computeIfAbsent("# TYPE " + family + " " + type, ignored -> new ArrayList<>())
                .add(family + "{name=\"" + escaped(name) + "\"} " + number);
    }

    private static String escaped(String label) {
        return label.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }

    /** The page; each line has a line end. */
    @Override
    public String toString() {
        StringBuilder page = new StringBuilder();
        families.forEach((type, samples) -> {
            page.append(type).append('\n');
            samples.forEach(sample -> page.append(sample).append('\n'));
        });
        return page.toString();
    }
}
