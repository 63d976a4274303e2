// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.testkit.sim.FaultPlan;
import org.rpcrdma4j.testkit.sim.SimulationOptions;
import org.rpcrdma4j.transport.raw.RawConnection;
import org.rpcrdma4j.transport.raw.SimulatedRig;
import org.rpcrdma4j.transport.raw.Words;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.WorkCompletion;

/** Nothing is waited for without end: completions that never come end the connection, and all is given back. */
class ConnectionWatchTest {

    private static final Duration LIMIT = Duration.ofSeconds(4);

    private static void endsWithoutTheCompletionOf(WorkCompletion.Operation lost) {
        FaultPlan faults = new FaultPlan() {
            @Override
            public boolean losesCompletion(WorkCompletion.Operation operation) {
                return operation == lost;
            }
        };
        SimulatedRig rig = new SimulatedRig(
                Long.getLong("rpcrdma.seed", 1),
                SimulationOptions.DEFAULT,
                SimulationOptions.DEFAULT.withFaults(faults));
        ServerOptions options = ServerOptions.builder()
                .pullTimeout(LIMIT)
                .sendTimeout(LIMIT)
                .drainTimeout(Duration.ofSeconds(1))
                .build();
        try (ServerFixture fixture = new ServerFixture(rig, options, null)) {
            RawConnection client = fixture.connect();
            RawConnection.Exposed memory = client.expose(100, Access.REMOTE_READ);
            client.send(Words.header(7, 1, 64, Words.RDMA_MSG)
                    .readSegment(48, memory.segment())
                    .end()
                    .end()
                    .end()
                    .add(TestProgram.call(7, TestProgram.STORE))
                    .u32(1, 100, TestProgram.MARK));
            fixture.rig.settle();
            assertThat(client.hasEnded()).isFalse();
            fixture.rig.advance(LIMIT.multipliedBy(2));
            fixture.await("the server has given up the connection", client::hasEnded);
            fixture.await("the server has given it back", () -> fixture.server.connections() == 0);
            assertThat(client.messageCount()).isEqualTo(lost == WorkCompletion.Operation.SEND ? 1 : 0);
        }
    }

    @Test
    void endsAConnectionWhoseReadDoesNotComplete() {
        endsWithoutTheCompletionOf(WorkCompletion.Operation.RDMA_READ);
    }

    @Test
    void endsAConnectionWhoseSendDoesNotComplete() {
        endsWithoutTheCompletionOf(WorkCompletion.Operation.SEND);
    }

    @Test
    void givesMemoryBackThatIsNotUsed() {
        SimulatedRig rig = new SimulatedRig(1, SimulationOptions.DEFAULT, SimulationOptions.DEFAULT);
        try (ServerFixture fixture = new ServerFixture(rig, ServerOptions.DEFAULT, null)) {
            RawConnection client = fixture.connect();
            long regions = rig.serverDevice().ledger().regions();
            fixture.exchange(
                    client,
                    Words.inline(1, 64)
                            .add(TestProgram.call(1, TestProgram.FETCH))
                            .u32(1, 3000));
            assertThat(rig.serverDevice().ledger().regions()).isEqualTo(regions + 1);
            rig.advance(ServerOptions.DEFAULT.trimDelay().multipliedBy(4));
            assertThat(rig.serverDevice().ledger().regions()).isEqualTo(regions);
            // Then the timer stands still.
            assertThat(rig.time().pending()).isZero();
        }
    }
}
