// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.together;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rpcrdma4j.transport.client.RpcRdmaClient;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.event.ServerCounter;

/** One client after the other from the same host: however the last one ended, the next one is served, and nothing of the last is kept. */
class ClientProcessesTest {

    private static final int PROCESSES = 20;
    private static final int LOOPS = 200;
    private static final long FEW = 5;
    private static final long ENDLESS = Long.MAX_VALUE;

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void aClientIsServedAlsoAfterOthersWereKilled() throws IOException, InterruptedException {
        try (OneServer one = new OneServer()) {
            for (int i = 0; i < PROCESSES; i++) {
                boolean killed = i % 2 == 0;
                runClient(one, killed);
                one.awaitNoConnections();
                one.awaitBalance();
                assertThat(one.count(ServerCounter.CONNECTS)).isEqualTo(i + 1);
            }
            assertThat(one.count(ServerCounter.ACCEPT_FAILURES)).isZero();
            assertThat(one.count(ServerCounter.BAD_CALLS)).isZero();
        }
    }

    private static void runClient(OneServer one, boolean killed) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx32m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        ClientProcess.class.getName(),
                        String.valueOf(one.server.localAddress().getPort()),
                        String.valueOf(killed ? ENDLESS : FEW))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader said =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            assertThat(said.readLine()).isEqualTo(ClientProcess.WORKS);
            if (killed) {
                // SIGKILL, in the middle of calls.
                assertThat(one.server.connections()).isEqualTo(1);
                process.destroyForcibly();
            } else {
                assertThat(said.readLine()).isEqualTo(ClientProcess.ENDS);
            }
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue() == 0).isEqualTo(!killed);
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void clientsOfOneProcessConnectCallAndCloseInTurn() throws IOException {
        int loops = OneServer.rounds(LOOPS);
        try (OneServer one = new OneServer();
                Arena arena = Arena.ofShared()) {
            MemorySegment target = arena.allocate(20_000);
            for (int i = 0; i < loops; i++) {
                RpcRdmaClient client = one.client().build();
                try (client) {
                    client.call(OneServer.nothing(client));
                    assertThat(OneServer.isWhole(client.call(OneServer.fetch(client, target)), target))
                            .isTrue();
                }
                assertThat(client.counters().get(ClientCounter.CONNECTS)).isEqualTo(1);
                assertThat(client.counters().get(ClientCounter.DISCONNECTS)).isEqualTo(1);
                assertThat(client.counters().get(ClientCounter.CONNECT_FAILURES))
                        .isZero();
                assertThat(one.clientDevice.ledger().isBalanced()).isTrue();
            }
            one.awaitNoConnections();
            one.awaitBalance();
            assertThat(one.count(ServerCounter.CONNECTS)).isEqualTo(loops);
        }
    }
}
