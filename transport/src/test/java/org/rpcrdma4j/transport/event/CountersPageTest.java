// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.verbs.MappingLedger;

class CountersPageTest {

    @Test
    void givesEachCounterALineWithItsOwner() {
        Counters<ClientCounter> client = new Counters<>(ClientCounter.class);
        client.add(ClientCounter.SENDS, 1200);
        Counters<ServerCounter> server = new Counters<>(ServerCounter.class);
        server.add(ServerCounter.READS, 3);
        String page = new CountersPage()
                .counters("client", "nas1", client)
                .counters("server", "here", server)
                .toString();

        assertThat(page)
                .contains("# TYPE rpcrdma_client_sends_total counter\nrpcrdma_client_sends_total{name=\"nas1\"} 1200\n")
                .contains("# TYPE rpcrdma_server_reads_total counter\nrpcrdma_server_reads_total{name=\"here\"} 3\n");
        assertThat(page.lines()).hasSize(2 * (ClientCounter.values().length + ServerCounter.values().length));
    }

    @Test
    void keepsTheSamplesOfOneNameTogetherUnderOneType() {
        Counters<ClientCounter> counters = new Counters<>(ClientCounter.class);
        String page = new CountersPage()
                .counters("client", "a", counters)
                .gauges("client", "a", new Gauges().set(Gauge.CONNECTIONS, 1))
                .counters("client", "b", counters)
                .gauges("client", "b", new Gauges().set(Gauge.CONNECTIONS, 2))
                .toString();

        assertThat(page).contains("""
                        # TYPE rpcrdma_client_connections gauge
                        rpcrdma_client_connections{name="a"} 1
                        rpcrdma_client_connections{name="b"} 2
                        """);
        Set<String> seen = new HashSet<>();
        assertThat(page.lines().filter(line -> line.startsWith("#"))).allMatch(seen::add);
    }

    @Test
    void letsNoNameBreakTheFormat() {
        String page = new CountersPage()
                .gauges("client", "a\"b\\c\nd", new Gauges().set(Gauge.CONNECTIONS, 1))
                .toString();

        assertThat(page).isEqualTo("""
                        # TYPE rpcrdma_client_connections gauge
                        rpcrdma_client_connections{name="a\\"b\\\\c\\nd"} 1
                        """);
    }

    @Test
    void gaugesOfSeveralConnectionsAreAddedOrTheLargestTaken() {
        Gauges all = new Gauges()
                .set(Gauge.REGIONS_FREE, 5)
                .set(Gauge.OLDEST_CALL_AGE_NANOS, 30)
                .combine(new Gauges()
                        .set(Gauge.REGIONS_FREE, 7)
                        .set(Gauge.OLDEST_CALL_AGE_NANOS, 20)
                        .set(Gauge.CALLS_ZOMBIE, 9));

        assertThat(all.get(Gauge.REGIONS_FREE)).isEqualTo(12);
        assertThat(all.get(Gauge.OLDEST_CALL_AGE_NANOS)).isEqualTo(30);
        assertThat(all.get(Gauge.CALLS_ZOMBIE)).isEqualTo(9);
        assertThat(all.get(Gauge.CALLS_WAITING)).isZero();
        assertThat(all.snapshot())
                .containsOnlyKeys(Gauge.REGIONS_FREE, Gauge.OLDEST_CALL_AGE_NANOS, Gauge.CALLS_ZOMBIE);
    }

    @Test
    void theDevicesLedgerIsZeroWhenItIsBalanced() {
        assertThat(new Gauges().set(new MappingLedger(10, 10, 0, 0)).snapshot().values())
                .containsOnly(0L);
        assertThat(new Gauges().set(new MappingLedger(10, 7, 4096, 2)).toString())
                .isEqualTo("{MEMORY_LEASES=3, MEMORY_LEASED_BYTES=4096, DEVICE_REGIONS=2}");
    }
}
