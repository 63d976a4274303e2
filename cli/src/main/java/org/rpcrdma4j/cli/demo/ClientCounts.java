// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.demo;

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
}
