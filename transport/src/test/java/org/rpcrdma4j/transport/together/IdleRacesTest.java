// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.together;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rpcrdma4j.transport.client.RpcRdmaClient;
import org.rpcrdma4j.transport.client.TransportException;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.transport.server.ServerOptions;
import org.rpcrdma4j.transport.server.ServerRequest;
import org.rpcrdma4j.transport.xdr.XdrException;

/** Connections that either end, or both, close for being idle at the moment when the next call comes. */
class IdleRacesTest {

    private static final int CLIENTS = 20;
    private static final Duration IDLE = Duration.ofMillis(50);

    private final long seed = Long.getLong("rpcrdma.seed", System.nanoTime());

    @ParameterizedTest
    @CsvSource({"true, false", "false, true", "true, true"})
    @Timeout(value = 30, unit = TimeUnit.MINUTES)
    void aCallThatMeetsTheEndOfAnIdleConnectionIsAnsweredAllTheSame(boolean clientCloses, boolean serverCloses)
            throws Exception {
        int rounds = OneServer.rounds(30);
        ServerOptions options = ServerOptions.builder()
                .idleTimeout(serverCloses ? IDLE : Duration.ZERO)
                .build();
        List<RpcRdmaClient> clients = new ArrayList<>();
        try (OneServer one = new OneServer(Map.of(), new BlockProgram(), options)) {
            try (ExecutorService callers = Executors.newFixedThreadPool(CLIENTS)) {
                List<Future<?>> done = new ArrayList<>();
                for (int i = 0; i < CLIENTS; i++) {
                    RpcRdmaClient client = one.client()
                            .idleTimeout(clientCloses ? IDLE : Duration.ZERO)
                            .build();
                    clients.add(client);
                    SplittableRandom random = new SplittableRandom(seed + i);
                    done.add(callers.submit(() -> callAtTheIdleTime(client, random, rounds)));
                }
                for (Future<?> each : done) {
                    each.get(20, TimeUnit.MINUTES);
                }
            } catch (ExecutionException | TimeoutException e) {
                throw new AssertionError("-Drpcrdma.seed=" + seed + ": " + one, e);
            }
            // Nobody calls any more: whoever is to close does, and the other end learns of it.
            one.awaitNoConnections();
            for (RpcRdmaClient client : clients) {
                one.await("the client knows", () -> client.toString().contains("IDLE"));
                assertEnds(client);
            }
            one.awaitBalance();
            long connects = one.count(ServerCounter.CONNECTS);
            System.out.println(connects + " connections for " + CLIENTS * rounds + " calls of " + CLIENTS + " clients");
            assertThat(connects).as("some calls met a closed connection").isGreaterThan(CLIENTS);
            clients.forEach(RpcRdmaClient::close);
            clients.forEach(IdleRacesTest::assertEnds);
        }
    }

    private static void assertEnds(RpcRdmaClient client) {
        assertThat(client.counters().get(ClientCounter.DISCONNECTS))
                .as("%s", client.counters().snapshot())
                .isEqualTo(client.counters().get(ClientCounter.CONNECTS));
        assertThat(client.counters().get(ClientCounter.CALLS_FAILED)).isZero();
    }

    private static Void callAtTheIdleTime(RpcRdmaClient client, SplittableRandom random, int rounds)
            throws TransportException {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment target = arena.allocate(5000);
            for (int i = 0; i < rounds; i++) {
                if (random.nextBoolean()) {
                    client.call(OneServer.nothing(client));
                } else {
                    target.fill((byte) 0);
                    assertThat(OneServer.isWhole(client.call(OneServer.fetch(client, target)), target))
                            .isTrue();
                }
                long until = System.nanoTime() + 45_000_000 + random.nextInt(10_000_000);
                long left;
                while ((left = until - System.nanoTime()) > 0) {
                    LockSupport.parkNanos(left);
                }
            }
        }
        return null;
    }

    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void aCallThatIsServedForLongerThanTheIdleTimeIsNotIdle() throws Exception {
        ServerOptions options = ServerOptions.builder().idleTimeout(IDLE).build();
        try (OneServer one = new OneServer(
                        Map.of(), request -> Thread.ofPlatform().start(() -> serveLate(request)), options);
                RpcRdmaClient client = one.client().idleTimeout(IDLE).build()) {
            for (int i = 0; i < 5; i++) {
                client.call(OneServer.nothing(client));
                assertThat(client.counters().get(ClientCounter.RETRANSMISSIONS)).isZero();
            }
            assertThat(client.counters().get(ClientCounter.SENDS)).isEqualTo(5);
        }
    }

    private static void serveLate(ServerRequest request) {
        LockSupport.parkNanos(4 * IDLE.toNanos());
        try {
            new BlockProgram().onRequest(request);
        } catch (XdrException e) {
            throw new IllegalStateException(e);
        }
    }
}
