// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.together;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.transport.client.PendingReply;
import org.rpcrdma4j.transport.client.RpcRdmaClient;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.transport.server.ServerOptions;
import org.rpcrdma4j.transport.time.SystemTime;

/** Many connections to one server at a time, all with calls, and what one of them takes while it is idle. */
class ManyConnectionsTest {

    private static final int CONNECTIONS = 200;
    private static final int CALLS = 20;
    private static final int BLOCK = 5_000;

    @ParameterizedTest
    @ValueSource(ints = {64, 2})
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void eachOfManyConnectionsAtATimeIsServed(int credits) throws Exception {
        List<RpcRdmaClient> clients = new ArrayList<>();
        try (OneServer one = new OneServer(
                        Map.of(),
                        new BlockProgram(),
                        ServerOptions.builder().credits(credits).build());
                SystemTime time = new SystemTime();
                ExecutorService worker = Executors.newFixedThreadPool(4);
                Arena arena = Arena.ofShared()) {
            try {
                Held before = Held.now(one);
                for (int i = 0; i < CONNECTIONS; i++) {
                    clients.add(one.client()
                            .maxInFlight(Math.min(8, credits))
                            .time(time)
                            .worker(worker)
                            .build());
                }
                // All connect at the same moment.
                List<PendingReply> first = new ArrayList<>();
                for (RpcRdmaClient client : clients) {
                    first.add(client.send(OneServer.nothing(client)));
                }
                for (PendingReply reply : first) {
                    reply.get(60, TimeUnit.SECONDS);
                }
                assertThat(one.server.connections()).isEqualTo(CONNECTIONS);
                Held idle = Held.now(one);
                System.out.println("before: " + before + System.lineSeparator() + "idle: " + idle
                        + System.lineSeparator() + "each idle connection of " + credits + " credits, both ends: heap "
                        + (idle.heapBytes() - before.heapBytes()) / CONNECTIONS + " bytes, direct "
                        + (idle.directBytes() - before.directBytes()) / CONNECTIONS + ", resident "
                        + (idle.residentBytes() - before.residentBytes()) / CONNECTIONS + "; registered by the server "
                        + one.serverDevice.ledger().mappedBytes() / CONNECTIONS + ", by the client "
                        + one.clientDevice.ledger().mappedBytes() / CONNECTIONS);
                callOnAll(clients, arena);
                for (RpcRdmaClient client : clients) {
                    assertThat(client.counters().get(ClientCounter.CONNECTS)).isEqualTo(1);
                    assertThat(client.counters().get(ClientCounter.CALLS_FAILED))
                            .isZero();
                }
                assertThat(one.count(ServerCounter.CONNECTS)).isEqualTo(CONNECTIONS);
                assertThat(one.count(ServerCounter.CALLS)).isEqualTo((long) CONNECTIONS * (1 + CALLS));
            } finally {
                var ends = clients.stream().map(RpcRdmaClient::closeAsync).toList();
                for (Future<Void> end : ends) {
                    end.get(60, TimeUnit.SECONDS);
                }
            }
        }
    }

    private static void callOnAll(List<RpcRdmaClient> clients, Arena arena) throws Exception {
        List<PendingReply> pending = new ArrayList<>();
        List<MemorySegment> targets = new ArrayList<>();
        for (int i = 0; i < CALLS; i++) {
            for (RpcRdmaClient client : clients) {
                MemorySegment target = arena.allocate(i % 2 == 0 ? BLOCK : 1);
                targets.add(target);
                pending.add(client.send(i % 2 == 0 ? OneServer.fetch(client, target) : OneServer.nothing(client)));
            }
        }
        for (int i = 0; i < pending.size(); i++) {
            var reply = pending.get(i).get(60, TimeUnit.SECONDS);
            if (targets.get(i).byteSize() > 1) {
                assertThat(OneServer.isWhole(reply, targets.get(i))).isTrue();
            }
        }
    }
}
