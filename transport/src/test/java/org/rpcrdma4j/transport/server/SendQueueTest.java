// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.testkit.Seeds;
import org.rpcrdma4j.testkit.sim.SimulationOptions;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.transport.raw.RawConnection;
import org.rpcrdma4j.transport.raw.RawMessage;
import org.rpcrdma4j.transport.raw.RawRequester;
import org.rpcrdma4j.transport.raw.Segment;
import org.rpcrdma4j.transport.raw.SimulatedRig;
import org.rpcrdma4j.transport.raw.Words;
import org.rpcrdma4j.verbs.Access;

/** The send queue never overflows, however many Writes replies have. */
class SendQueueTest {

    private static final int SEGMENTS = 100;

    @Test
    void postsChainsLongerThanTheQueueInPartsAndRepliesInTheirOrder() {
        Seeds.run(10, seed -> {
            // 40 places, 16 of which are for Reads; one entry for each Write.
            SimulationOptions server = SimulationOptions.DEFAULT.withLimits(1, 1, 40, 8192);
            try (ServerFixture fixture = new ServerFixture(
                    new SimulatedRig(seed, SimulationOptions.DEFAULT, server),
                    ServerOptions.builder()
                            .credits(8)
                            .receiveBytes(8192)
                            .sendBytes(8192)
                            .build(),
                    null)) {
                run(fixture, seed);
            }
        });
    }

    private static void run(ServerFixture fixture, long seed) {
        RawConnection client = fixture.connect(
                new RawRequester(fixture.rig).privateData("f6ab0e18 01000707").receives(64, 8192));
        List<RawConnection.Exposed> rooms = new ArrayList<>();
        for (int call = 0; call < 8; call++) {
            RawConnection.Exposed room = client.expose(1000, Access.REMOTE_WRITE);
            rooms.add(room);
            Segment[] segments = new Segment[call % 3 == 2 ? 1 : SEGMENTS];
            for (int i = 0; i < segments.length; i++) {
                segments[i] = segments.length == 1 ? room.segment() : room.part(10 * i, 10);
            }
            client.send(Words.header(call, 1, 64, Words.RDMA_MSG)
                    .end()
                    .chunk(segments)
                    .end()
                    .end()
                    .add(TestProgram.call(call, TestProgram.FETCH))
                    .u32(1, 1000));
        }
        fixture.await("all are answered", () -> client.messageCount() == 8 || client.hasEnded());
        assertThat(client.messages().stream().map(RawMessage::xid))
                .as("seed %d", seed)
                .containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
        assertThat(rooms).allMatch(room -> Arrays.equals(room.bytes(), TestProgram.result(1000)));
        assertThat(fixture.count(ServerCounter.SEND_QUEUE_FULL)).isPositive();
        assertThat(fixture.count(ServerCounter.POST_ERRORS)).isZero();
    }
}
