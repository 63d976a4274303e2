// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.testkit.Seeds;
import org.rpcrdma4j.testkit.sim.RandomFaults;
import org.rpcrdma4j.testkit.sim.SimulationOptions;
import org.rpcrdma4j.transport.raw.RawConnection;
import org.rpcrdma4j.transport.raw.RawMessage;
import org.rpcrdma4j.transport.raw.RawRequester;
import org.rpcrdma4j.transport.raw.SimulatedRig;
import org.rpcrdma4j.transport.raw.SimulatedWorker;
import org.rpcrdma4j.transport.raw.Words;
import org.rpcrdma4j.verbs.Access;

/**
 * Under posts that are refused, lost connections, late completions and devices short of resources: a reply is right or it does not come,
 * and in the end nothing is left. Each seed is one schedule; {@code -Drpcrdma.seed} repeats it.
 */
class ServerFaultsTest {

    private static final int SIZE = 3000;

    private final byte[] data = TestProgram.result(SIZE);

    @Test
    void repliesAreRightOrDoNotComeAndNothingIsLeft() {
        Seeds.run(150, this::run);
    }

    private void run(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        RandomFaults faults = new RandomFaults(
                seed,
                random.nextBoolean() ? 200 : 0,
                random.nextBoolean() ? 3000 : 0,
                random.nextBoolean() ? 40 : 0,
                0);
        SimulatedRig rig =
                new SimulatedRig(seed, SimulationOptions.DEFAULT, SimulationOptions.DEFAULT.withFaults(faults));
        ServerOptions options = ServerOptions.builder()
                .credits(1 + random.nextInt(8))
                .maxPayloadBytes(8192)
                .build();
        SimulatedWorker worker = new SimulatedWorker(rig.network(), random.nextInt(3) * 100_000L);
        ServerFixture fixture = new ServerFixture(rig, options, null, worker);
        for (int round = 0; round < 4; round++) {
            RawConnection client = new RawRequester(rig)
                    .privateData(ServerFixture.INVALIDATED)
                    .receives(64, 4096)
                    .dial(fixture.address());
            rig.await("the client is connected or refused", () -> client.isEstablished() || client.hasEnded());
            if (client.isEstablished()) {
                talk(rig, client, random, options.credits());
            }
            if (random.nextInt(3) == 0) {
                client.breakOff();
            }
            client.close();
        }
        faults.enable(false);
        CompletableFuture<Void> end = fixture.server.shutdown(ServerFixture.GRACE);
        rig.await("the server is closed", end::isDone);
        fixture.program.stored.forEach(stored -> assertThat(stored).isEqualTo(data));
        rig.close();
    }

    /** Sends calls within the credits; looks at each reply that comes. */
    private void talk(SimulatedRig rig, RawConnection client, SplittableRandom random, int credits) {
        List<RawConnection.Exposed> rooms = new ArrayList<>();
        int sent = 0;
        for (int burst = 0; burst < 4 && !client.hasEnded(); burst++) {
            for (int i = 0; i < credits; i++) {
                rooms.add(send(client, random, sent++));
            }
            int expected = sent;
            rig.await("answers or the end", () -> client.messageCount() == expected || client.hasEnded());
        }
        for (RawMessage reply : client.messages()) {
            check(reply, rooms.get(reply.xid()));
        }
    }

    private RawConnection.Exposed send(RawConnection client, SplittableRandom random, int xid) {
        boolean store = random.nextBoolean();
        RawConnection.Exposed memory = client.expose(SIZE, store ? Access.REMOTE_READ : Access.REMOTE_WRITE);
        Words message = Words.header(xid, 1, 64, Words.RDMA_MSG);
        if (store) {
            memory.fill(data);
            message.readSegment(48, memory.part(0, 1000))
                    .readSegment(48, memory.part(1000, SIZE - 1000))
                    .end()
                    .end()
                    .end()
                    .add(TestProgram.call(xid, TestProgram.STORE))
                    .u32(1, SIZE, TestProgram.MARK);
        } else {
            message.end()
                    .chunk(memory.part(0, 1), memory.part(1, SIZE - 1))
                    .end()
                    .end()
                    .add(TestProgram.call(xid, TestProgram.FETCH))
                    .u32(1, SIZE);
        }
        client.send(message);
        return memory;
    }

    private void check(RawMessage reply, RawConnection.Exposed memory) {
        if (reply.isErrorChunk()) {
            // No memory for the call's arguments.
            return;
        }
        int status = reply.rpc().word(5);
        if (status == 5) {
            // No memory for its results.
            return;
        }
        assertThat(status).isZero();
        if (!reply.writeList().isEmpty()) {
            assertThat(reply.writeList().getFirst()).containsExactly(memory.part(0, 1), memory.part(1, SIZE - 1));
            assertThat(Arrays.equals(memory.bytes(), data)).isTrue();
        }
    }
}
