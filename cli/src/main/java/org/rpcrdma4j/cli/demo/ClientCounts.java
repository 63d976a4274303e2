// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.demo;

import java.util.List;
import java.util.Map;
import org.rpcrdma4j.transport.event.ClientCounter;

/**
 * What a client counted.
 *
 * @param counters all of it
 * @param mountstats the same as Linux prints it
 */
public record ClientCounts(Map<ClientCounter, Long> counters, String mountstats) {
    /** A counter's value. */
    public long count(ClientCounter counter) {
        return counters.getOrDefault(counter, 0L);
    }

    /** The sum of several. */
    public long count(List<ClientCounter> several) {
        return several.stream().mapToLong(this::count).sum();
    }
}
