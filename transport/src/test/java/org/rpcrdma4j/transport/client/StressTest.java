// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.RawConnection;
import org.rpcrdma4j.transport.raw.RawMessage;
import org.rpcrdma4j.transport.raw.Segment;
import org.rpcrdma4j.transport.raw.Words;

/** Threads that call, give up and run into deadlines over real sockets while the server breaks connections off. */
class StressTest {

    private static final int THREADS = 6;
    private static final int CALLS = 150;

    private final AtomicReference<@Nullable Throwable> wrong = new AtomicReference<>();
    private final AtomicInteger replies = new AtomicInteger();

    @Test
    void eachCallEndsAndItsMemoryIsItsCallersByThen() throws InterruptedException {
        long seed = Long.getLong("rpcrdma.seed", System.nanoTime());
        try (ClientFixture fixture = new ClientFixture(
                Network.IWARP.open(),
                builder -> builder.reconnectDelay(Duration.ofMillis(1), Duration.ofMillis(20))
                        .maxTransmissions(100)
                        .callTimeout(Duration.ofSeconds(30)))) {
            AtomicInteger messages = new AtomicInteger();
            fixture.responder.onMessage((connection, call) -> {
                if (messages.incrementAndGet() % 97 == 0) {
                    connection.breakOff();
                } else {
                    answer(connection, call);
                }
            });
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                SplittableRandom random = new SplittableRandom(seed + i);
                threads.add(Thread.ofPlatform().start(() -> run(fixture, random)));
            }
            for (Thread thread : threads) {
                thread.join(Duration.ofSeconds(60));
                assertThat(thread.isAlive())
                        .as("-Drpcrdma.seed=%s: %s", seed, fixture.rig.describe())
                        .isFalse();
            }
            assertThat(wrong.get()).as("-Drpcrdma.seed=" + seed).isNull();
            assertThat(replies.get()).isPositive();
            assertThat(fixture.client.bounceBytesTaken()).isZero();
        }
    }

    private static void answer(RawConnection connection, RawMessage call) {
        List<Segment> used = new ArrayList<>();
        for (Segment segment : call.writeList().getFirst()) {
            byte[] data = new byte[segment.length()];
            Arrays.fill(data, (byte) call.xid());
            connection.write(segment, data);
            used.add(segment);
        }
        connection.send(Words.header(call.xid(), 1, 16, Words.RDMA_MSG)
                .end()
                .chunk(used)
                .end()
                .end()
                .add(Words.reply(call.xid(), 0)));
    }

    private void run(ClientFixture fixture, SplittableRandom random) {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment target = arena.allocate(9000);
            for (int i = 0; i < CALLS && wrong.get() == null; i++) {
                call(fixture, random, target);
            }
        } catch (InterruptedException | TimeoutException | RuntimeException | AssertionError e) {
            wrong.compareAndSet(null, e);
        }
    }

    private void call(ClientFixture fixture, SplittableRandom random, MemorySegment target)
            throws InterruptedException, TimeoutException {
        CallMessage.Builder builder = fixture.nullCall().target(target);
        if (random.nextInt(5) == 0) {
            builder.timeout(Duration.ofNanos(random.nextInt(400_000)));
        }
        CallMessage message = builder.build();
        PendingReply pending = fixture.client.send(message);
        if (random.nextInt(5) == 0) {
            pending.cancel(false);
        }
        try {
            pending.get(40, TimeUnit.SECONDS);
            replies.incrementAndGet();
            requireAll(target, (byte) message.xid());
        } catch (ExecutionException | CancellationException e) {
            // Ended without a reply: the memory is the caller's all the same.
        }
        byte mine = (byte) (message.xid() ^ 0x80);
        target.fill(mine);
        LockSupport.parkNanos(20_000);
        requireAll(target, mine);
    }

    private static void requireAll(MemorySegment memory, byte value) {
        for (long i = 0; i < memory.byteSize(); i++) {
            if (memory.get(ValueLayout.JAVA_BYTE, i) != value) {
                throw new AssertionError("byte " + i + " is not " + value);
            }
        }
    }
}
