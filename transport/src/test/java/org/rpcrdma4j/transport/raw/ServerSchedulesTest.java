// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.rpcrdma4j.testkit.Seeds;
import org.rpcrdma4j.testkit.sim.RandomFaults;
import org.rpcrdma4j.testkit.sim.SimulationOptions;
import org.rpcrdma4j.verbs.Access;

/**
 * Our server under thousands of schedules, with faults of its device and raw clients that send good calls, rubbish, and bad handles, come
 * and go: every answer belongs to a call of its connection and is right to the byte, and in the end all is given back. {@code
 * -Drpcrdma.seed} replays one schedule, {@code -Drpcrdma.seeds} sets how many there are.
 */
@ExtendWith(SilentLog.class)
class ServerSchedulesTest {

    private static final int STEPS = 60;

    private int answers;

    @Test
    void everyAnswerIsRightAndAllIsGivenBack() {
        int runs = Seeds.run(300, seed -> new Schedule(seed).run());
        assertThat(answers).isGreaterThan(runs > 1 ? runs * 5 : 0);
    }

    /** A raw client, the answers that its calls may have, and their sinks. */
    private static final class Client {
        final RawConnection connection;
        final Map<Integer, Words> expected = new HashMap<>();
        final Map<Integer, byte[]> results = new HashMap<>();
        final Map<Integer, RawConnection.Exposed> sinks = new HashMap<>();
        int checked;

        Client(RawConnection connection) {
            this.connection = connection;
        }
    }

    /** Few seeds, since a region that is not given back is kept for good, and with it all of its simulation. */
    private static boolean losesRegions(long seed) {
        return seed % 16 == 0 && seed <= 1000;
    }

    /** One run. */
    private final class Schedule {
        private final SplittableRandom random;
        private final RandomFaults faults;
        private final SimulatedRig rig;
        private final ServerUnderTest server;
        private final List<Client> clients = new ArrayList<>();

        Schedule(long seed) {
            random = new SplittableRandom(~seed);
            boolean faulty = random.nextInt(4) > 0;
            int scale = random.nextInt(3) == 0 ? 20 : 200;
            faults = new RandomFaults(
                            random.nextLong(), faulty ? scale : 0, faulty ? 10 * scale : 0, faulty ? scale : 0, 0)
                    .withFailures(faulty ? 5 * scale : 0)
                    .withLostCompletions(faulty ? 10 * scale : 0)
                    .withFailedDeregistrations(faulty && losesRegions(seed) ? scale : 0);
            faults.enable(false);
            rig = new SimulatedRig(seed, SimulationOptions.DEFAULT, SimulationOptions.DEFAULT.withFaults(faults));
            if (faulty) {
                rig.withoutLedgerCheck();
            }
            server = ServerUnderTest.start(
                    rig,
                    ServerUnderTest.options()
                            .pullTimeout(Duration.ofSeconds(10))
                            .sendTimeout(Duration.ofSeconds(10))
                            .maxBadMessages(1000));
            faults.enable(true);
        }

        void run() {
            try (SimulatedRig closing = rig) {
                for (int i = 0; i < STEPS; i++) {
                    act();
                    for (int step = random.nextInt(40); step > 0; step--) {
                        rig.network().step();
                    }
                    clients.forEach(this::check);
                }
                server.toy().answerAllHeld();
                rig.advance(Duration.ofSeconds(60));
                server.toy().answerAllHeld();
                clients.forEach(this::check);
                faults.enable(false);
                clients.forEach(client -> client.connection.close());
                server.close();
                closing.settle();
            }
        }

        private void act() {
            if (clients.isEmpty() || random.nextInt(12) == 0) {
                Client client = new Client(new RawRequester(rig)
                        .privateData(ServerUnderTest.CLIENT_DATA)
                        .dial(server.address()));
                clients.add(client);
                rig.await(
                        "it is connected or refused",
                        () -> client.connection.isEstablished() || client.connection.hasEnded());
                return;
            }
            Client client = clients.get(random.nextInt(clients.size()));
            RawConnection connection = client.connection;
            if (!connection.isEstablished()
                    || connection.hasEnded()
                    || client.expected.size() - client.checked >= ServerUnderTest.CREDITS) {
                server.toy().answerAllHeld();
                return;
            }
            int xid = server.newXid();
            switch (random.nextInt(16)) {
                case 0 -> expect(client, xid, Words.header(xid, 1, 8, 9).noChunks(), Words.errorChunk(xid, 1, 0));
                case 1 ->
                    expect(client, xid, Words.header(xid, 3, 8, 0).noChunks(), Words.errorVersion(xid, 3, 0, 1, 1));
                case 2 -> connection.send(new Words().u32(xid, 1));
                case 3 -> {
                    if (random.nextInt(3) == 0) {
                        connection.breakOff();
                    } else {
                        connection.end();
                    }
                }
                // A handle that opens nothing: the connection ends, or the call is refused before the handle is used.
                case 4 ->
                    expect(
                            client,
                            xid,
                            Words.header(xid, 1, 8, 0)
                                    .readSegment(52, new Segment(xid, 5000, 0))
                                    .noChunks()
                                    .add(Toy.call(xid, Toy.STORE).u32(1, 1, 5000, 2)),
                            Words.errorChunk(xid, 1, 0));
                case 5, 6 ->
                    expect(
                            client,
                            xid,
                            Words.inline(xid, 8).add(Toy.call(xid, Toy.HOLD)),
                            Words.inline(xid, 0).add(Words.reply(xid, 0)));
                case 7, 8, 9 -> store(client, xid);
                case 10, 11, 12 -> fetch(client, xid);
                default ->
                    expect(
                            client,
                            xid,
                            Words.inline(xid, 8).add(Toy.call(xid, Toy.NULL)),
                            Words.inline(xid, 0).add(Words.reply(xid, 0)));
            }
            if (random.nextInt(4) == 0) {
                server.toy().answerAllHeld();
            }
        }

        private void store(Client client, int xid) {
            byte[] item = Toy.pattern(xid, 1 + random.nextInt(30_000));
            RawConnection.Exposed source =
                    client.connection.expose(item.length, Access.REMOTE_READ).fill(item);
            expect(
                    client,
                    xid,
                    Words.header(xid, 1, 8, 0)
                            .readSegment(52, source.segment())
                            .noChunks()
                            .add(Toy.call(xid, Toy.STORE).u32(1, 1, item.length, 2)),
                    Words.inline(xid, 0).add(Words.reply(xid, 0).u32(1, 1, item.length, Toy.crc(item), 2)));
        }

        private void fetch(Client client, int xid) {
            int bytes = 1 + random.nextInt(30_000);
            RawConnection.Exposed sink = client.connection.expose(bytes, Access.REMOTE_WRITE);
            client.sinks.put(xid, sink);
            client.results.put(xid, Toy.pattern(0, bytes));
            expect(
                    client,
                    xid,
                    Words.header(xid, 1, 8, 0)
                            .end()
                            .chunk(sink.segment())
                            .end()
                            .end()
                            .add(Toy.call(xid, Toy.FETCH).u32(1, bytes)),
                    Words.header(xid, 1, 0, 0)
                            .end()
                            .chunk(sink.segment())
                            .end()
                            .end()
                            .add(Words.reply(xid, 0).u32(1, bytes, Toy.CLOSING_WORD)));
        }

        private void expect(Client client, int xid, Words call, Words answer) {
            client.expected.put(xid, answer);
            client.connection.send(call);
        }

        private void check(Client client) {
            while (client.checked < client.connection.messageCount()) {
                RawMessage message = client.connection.message(client.checked++);
                Words expected = client.expected.get(message.xid());
                if (expected == null) {
                    throw new AssertionError("an answer to no call: " + message);
                }
                if (message.isErrorChunk() || isSystemError(message)) {
                    // The server was short of something: the call was refused, and that is all.
                    continue;
                }
                answers++;
                ServerUnderTest.expect(message, expected);
                byte[] result = client.results.get(message.xid());
                RawConnection.Exposed sink = client.sinks.get(message.xid());
                if (result != null && sink != null) {
                    assertThat(sink.bytes()).isEqualTo(result);
                }
            }
        }

        private static boolean isSystemError(RawMessage message) {
            return message.procedure() == Words.RDMA_MSG
                    && message.rpc().length() == 24
                    && message.rpc().word(5) == Toy.SYSTEM_ERR;
        }
    }
}
