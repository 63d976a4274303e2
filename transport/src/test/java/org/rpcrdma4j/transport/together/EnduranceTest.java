// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.together;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.client.PendingReply;
import org.rpcrdma4j.transport.client.RpcRdmaClient;
import org.rpcrdma4j.transport.event.ClientCounter;

/** Many calls of all kinds, failing ones and reconnects among them, take no memory, regions or threads that they do not give back. */
class EnduranceTest {

    private static final int NULL_CALLS = 200_000;
    private static final int CHUNKED_CALLS = 20_000;
    private static final int FAILING_CALLS = 5_000;
    private static final int RECONNECTS = 300;
    private static final int IN_FLIGHT = 32;
    private static final int BLOCK = 5_000;
    /** What the JVM itself may have come to keep meanwhile: compiled code's data, interned things, the test's own counts. */
    private static final long HEAP_SLACK = 1 << 20;

    /** Buffers that the device keeps for the next time; one kept for each connection made here would be a hundred times as much. */
    private static final long DIRECT_SLACK = 1 << 20;

    /** A connection makes regions by batches when it misses them: one half may end just before a batch, the other just after. */
    private static final long REGION_SLACK = 64;

    @Test
    @Timeout(value = 8, unit = TimeUnit.HOURS)
    void theSecondHalfTakesNoMoreThanTheFirst() throws Exception {
        int percent = OneServer.rounds(100);
        try (OneServer one = new OneServer();
                Arena arena = Arena.ofShared();
                RpcRdmaClient client = one.client().maxInFlight(IN_FLIGHT).build()) {
            MemorySegment blocks = arena.allocate((long) IN_FLIGHT * BLOCK);
            // What is made once and kept is made here.
            half(one, client, blocks, Math.min(10, percent));
            half(one, client, blocks, percent / 2);
            Held first = Held.now(one);
            half(one, client, blocks, percent - percent / 2);
            Held second = Held.now(one);
            System.out.println("after the first half: " + first);
            System.out.println("after the second half: " + second);
            assertThat(second.heapBytes()).isLessThan(first.heapBytes() + HEAP_SLACK);
            assertThat(second.directBytes()).isLessThanOrEqualTo(first.directBytes() + DIRECT_SLACK);
            assertThat(second.leasedBytes()).isLessThanOrEqualTo(first.leasedBytes());
            assertThat(second.regions()).isLessThanOrEqualTo(first.regions() + REGION_SLACK);
            assertThat(second.threads()).isLessThanOrEqualTo(first.threads());
            assertThat(client.counters().get(ClientCounter.REGIONS_ORPHANED)).isZero();
        }
    }

    private static void half(OneServer one, RpcRdmaClient client, MemorySegment blocks, int percent) throws Exception {
        many(client, NULL_CALLS * percent / 100, i -> OneServer.nothing(client));
        many(client, CHUNKED_CALLS * percent / 100, i -> {
            MemorySegment block = blocks.asSlice((long) (i % IN_FLIGHT) * BLOCK, BLOCK);
            return i % 2 == 0 ? OneServer.fetch(client, block) : OneServer.store(client, block);
        });
        failing(client, blocks.asSlice(0, BLOCK), FAILING_CALLS * percent / 100);
        reconnects(one, blocks.asSlice(0, BLOCK), RECONNECTS * percent / 100);
        one.await("other clients' connections are gone", () -> one.server.connections() == 1);
    }

    private static void many(RpcRdmaClient client, int count, IntFunction<CallMessage> call) throws Exception {
        ArrayDeque<PendingReply> pending = new ArrayDeque<>();
        for (int i = 0; i < count; i++) {
            if (pending.size() == IN_FLIGHT) {
                pending.remove().get(60, TimeUnit.SECONDS);
            }
            pending.add(client.send(call.apply(i)));
        }
        for (PendingReply each : pending) {
            each.get(60, TimeUnit.SECONDS);
        }
    }

    /** A third is refused by the server, a third given up by its caller, a third comes too late. */
    private static void failing(RpcRdmaClient client, MemorySegment block, int count)
            throws InterruptedException, TimeoutException {
        int failures = 0;
        for (int i = 0; i < count; i++) {
            PendingReply pending = switch (i % 3) {
                case 0 ->
                    client.send(CallMessage.builder(OneServer.head(client, BlockProgram.FETCH, BLOCK))
                            .build());
                // The server's Write into memory that is shut ends the connection: so only some with memory.
                case 1 -> client.send(i % 10 == 1 ? OneServer.fetch(client, block) : OneServer.nothing(client));
                default ->
                    client.send(CallMessage.builder(OneServer.head(client, BlockProgram.FETCH, BLOCK))
                            .target(block)
                            .timeout(Duration.ofNanos(1 + i % 100_000))
                            .build());
            };
            if (i % 3 == 1) {
                pending.cancel(false);
            }
            try {
                pending.get(60, TimeUnit.SECONDS);
            } catch (ExecutionException | CancellationException e) {
                failures++;
            }
        }
        assertThat(failures).isGreaterThanOrEqualTo(count / 3);
    }

    /** Connections that their client ends for being idle, and makes again for the next call; and clients that are closed. */
    private static void reconnects(OneServer one, MemorySegment block, int count) throws Exception {
        try (RpcRdmaClient client =
                one.client().idleTimeout(Duration.ofMillis(1)).build()) {
            for (int i = 0; i < count / 2; i++) {
                client.call(OneServer.fetch(client, block));
                int ended = i + 1;
                one.await("the idle connection ends", () -> client.counters().get(ClientCounter.DISCONNECTS) >= ended);
            }
        }
        for (int i = 0; i < count - count / 2; i++) {
            try (RpcRdmaClient client = one.client().build()) {
                client.call(OneServer.store(client, block));
            }
        }
    }
}
