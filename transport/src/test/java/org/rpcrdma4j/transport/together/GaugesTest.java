// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.together;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.event.Gauge;
import org.rpcrdma4j.transport.event.Gauges;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.server.ServerRequest;

/** What the gauges show while a call is held at the server, and after it. */
class GaugesTest {

    @Test
    void aRegionIsRegisteredWhileItsCallIsOutAndFreeAfterwards() {
        List<ServerRequest> held = new ArrayList<>();
        try (ClientServerFixture fixture =
                        new ClientServerFixture(Network.SIMULATION.open(), held::add, builder -> builder);
                Arena arena = Arena.ofShared()) {
            MemorySegment block = arena.allocate(100_000);
            var pending = fixture.client.send(CallMessage.builder(fixture.head(BlockProgram.STORE, 100_000))
                    .item(block)
                    .tail(MemorySegment.ofArray(new byte[4]))
                    .build());
            fixture.rig.await("the call is at the server", () -> held.size() == 1);
            Gauges during = fixture.client.gauges();
            assertThat(during.get(Gauge.CALLS_IN_FLIGHT)).isEqualTo(1);
            assertThat(during.get(Gauge.REGIONS_REGISTERED)).isEqualTo(1);
            assertThat(during.get(Gauge.REGIONS_INVALIDATING)).isZero();
            assertThat(during.get(Gauge.CONNECTIONS)).isEqualTo(1);
            assertThat(during.get(Gauge.MEMORY_LEASED_BYTES)).isGreaterThan(100_000);
            assertThat(fixture.server.gauges().get(Gauge.CONNECTIONS)).isEqualTo(1);
            assertThat(fixture.server.gauges().get(Gauge.MEMORY_LEASES)).isPositive();

            held.getFirst().refuse();
            fixture.rig.await("the call ends", pending::isDone);
            Gauges after = fixture.client.gauges();
            assertThat(after.get(Gauge.CALLS_IN_FLIGHT)).isZero();
            assertThat(after.get(Gauge.REGIONS_REGISTERED)).isZero();
            assertThat(after.get(Gauge.REGIONS_FREE)).isPositive();
            assertThat(after.get(Gauge.REGIONS_MAPPING)).isZero();
            assertThat(after.get(Gauge.REGIONS_IN_RECOVERY)).isZero();
        }
    }
}
