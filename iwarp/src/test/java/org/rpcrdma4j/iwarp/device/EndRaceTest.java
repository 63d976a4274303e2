// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.iwarp.mem.OwnThread;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.QueuePair.State;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectRequest;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;
import org.rpcrdma4j.verbs.cm.ConnectionListener;
import org.rpcrdma4j.verbs.cm.Disconnect;
import org.rpcrdma4j.verbs.cm.ListenEndpoint;
import org.rpcrdma4j.verbs.cm.Octets;

/** Ends of all kinds at the same instant, on both sides, from threads, handlers and listeners, in every state. */
class EndRaceTest {
    private static final int ROUNDS = 2_000;
    private static final int ENDERS = 3;

    private final Loopback loopback = new Loopback("race", Map.of("kick-millis", "0"));

    private static void end(QueuePair queuePair, int how) {
        switch (how) {
            case 0 -> queuePair.disconnect();
            case 1 -> queuePair.abort();
            case 2 -> queuePair.close();
            default -> {
                var _ = queuePair.drain();
            }
        }
    }

    /** Ends its queue pair from inside one of its calls. */
    private record Ender(Side side, int inEstablished, int inEnd, AtomicInteger ends, AtomicBoolean accepted)
            implements ConnectionListener {
        @Override
        public void onEstablished(ConnectionInfo info) {
            side.onEstablished(info);
            if (inEstablished >= 0) {
                end(side.queuePair, inEstablished);
            }
        }

        @Override
        public void onRefused(ConnectRefusal refusal) {
            side.onRefused(refusal);
            over();
        }

        @Override
        public void onDisconnected(Disconnect disconnect) {
            assertThat(side.queuePair.state()).isEqualTo(State.ERROR);
            side.onDisconnected(disconnect);
            over();
        }

        private void over() {
            ends.incrementAndGet();
            if (inEnd >= 0) {
                end(side.queuePair, inEnd);
            }
        }
    }

    @Test
    void everyOneOfTwoThousandRacesEndsWithOneEventAndNothingLeft() throws Exception {
        AtomicReference<@Nullable Ender> next = new AtomicReference<>();
        CyclicBarrier barrier = new CyclicBarrier(ENDERS);
        AtomicReference<List<Runnable>> work = new AtomicReference<>(List.of());
        List<CompletableFuture<Void>> threads = new ArrayList<>();
        for (int i = 1; i < ENDERS; i++) {
            int mine = i;
            threads.add(OwnThread.run(() -> {
                for (int round = 0; round < ROUNDS; round++) {
                    barrier.await(30, TimeUnit.SECONDS);
                    work.get().get(mine).run();
                    barrier.await(30, TimeUnit.SECONDS);
                }
            }));
        }
        try (loopback;
                ListenEndpoint endpoint = loopback.device
                        .connectionManager()
                        .listen(Loopback.anyPort(), 64, request -> {
                            Ender ender = next.getAndSet(null);
                            if (ender == null || !accepts(request, ender)) {
                                request.reject(Octets.EMPTY);
                            }
                        })) {
            for (int round = 0; round < ROUNDS; round++) {
                play(round, endpoint, next, barrier, work);
            }
            for (CompletableFuture<Void> thread : threads) {
                thread.get(30, TimeUnit.SECONDS);
            }
            loopback.requireEmpty();
        }
    }

    private void play(
            int round,
            ListenEndpoint endpoint,
            AtomicReference<@Nullable Ender> next,
            CyclicBarrier barrier,
            AtomicReference<List<Runnable>> work)
            throws Exception {
        SplittableRandom random = new SplittableRandom(round);
        try (Side client = new Side(loopback.device, 4, 4096);
                Side server = new Side(loopback.device, 4, 4096)) {
            Ender ours = ender(random, client);
            Ender theirs = ender(random, server);
            next.set(theirs);
            client.queuePair.postReceive(client.receive(0, 0, 100)).orThrow();
            loopback.device
                    .connectionManager()
                    .connect(client.queuePair, endpoint.localAddress(), Loopback.OPTIONS, ours);
            if (random.nextInt(4) > 0) {
                Waits.until(() -> client.established.isDone() || client.ends.get() > 0, client::toString);
            }
            List<Runnable> enders = new ArrayList<>();
            for (int i = 0; i < ENDERS; i++) {
                Side side = random.nextInt(3) > 0 ? client : server;
                int how = i == 0 ? random.nextInt(2) : random.nextInt(6);
                Side first = i == 0 ? client : side;
                enders.add(() -> {
                    if (how < 4) {
                        end(first.queuePair, how);
                    } else if (how == 4) {
                        first.queuePair.postSend(first.send(1, 0, 64));
                    } else {
                        first.queuePair.postReceive(first.receive(2, 0, 64));
                    }
                });
            }
            work.set(enders);
            barrier.await(30, TimeUnit.SECONDS);
            enders.get(0).run();
            barrier.await(30, TimeUnit.SECONDS);
            Supplier<String> what = () -> "round " + round + " " + ours + theirs + loopback.device.counters();
            Waits.until(() -> ours.ends.get() > 0, what);
            if (next.getAndSet(null) == null && theirs.accepted.get()) {
                Waits.until(() -> theirs.ends.get() > 0 || !theirs.accepted.get(), what);
                assertThat(theirs.ends).as(what.get()).hasValue(theirs.accepted.get() ? 1 : 0);
            }
            assertThat(ours.ends).as(what.get()).hasValue(1);
            assertThat(client.queuePair.state()).as(what.get()).isEqualTo(State.ERROR);
        }
    }

    /** Accepts, unless the queue pair was ended before. */
    private static boolean accepts(ConnectRequest request, Ender ender) {
        ender.accepted.set(true);
        try {
            request.accept(ender.side.queuePair, Loopback.OPTIONS, ender);
        } catch (IllegalStateException e) {
            assertThat(e).hasMessageContaining("not IDLE");
            ender.accepted.set(false);
        }
        return ender.accepted.get();
    }

    private static Ender ender(SplittableRandom random, Side side) {
        int inEstablished = random.nextInt(6) == 0 ? random.nextInt(4) : -1;
        int inEnd = random.nextInt(3) == 0 ? random.nextInt(4) : -1;
        return new Ender(side, inEstablished, inEnd, new AtomicInteger(), new AtomicBoolean());
    }

    @Test
    void aDeviceClosedWithEverythingBusyLeavesNothing() throws Exception {
        for (int round = 0; round < 20; round++) {
            Loopback busy = new Loopback("busy" + round, Map.of());
            List<CompletableFuture<Void>> threads = new ArrayList<>();
            List<Side> sides = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                Side client = new Side(busy.device, 32, 1 << 18);
                Side server = new Side(busy.device, 32, 1 << 18);
                busy.join(client, server);
                sides.add(client);
                sides.add(server);
                threads.add(OwnThread.run(() -> writeUntilTheEnd(client, server)));
                threads.add(OwnThread.run(() -> makeThingsUntilTheEnd(busy.device)));
            }
            Waits.pause(Duration.ofMillis(5));
            busy.close();
            for (CompletableFuture<Void> thread : threads) {
                thread.get(20, TimeUnit.SECONDS);
            }
            assertThat(busy.device.ledger().isBalanced())
                    .as("%s", busy.device.ledger())
                    .isTrue();
            for (Side side : sides) {
                assertThat(side.ends).as("%s", side).hasValue(1);
                side.close();
            }
        }
        loopback.close();
    }

    private static void writeUntilTheEnd(Side client, Side server) {
        while (client.queuePair.state() == State.CONNECTED) {
            client.queuePair.postSend(client.write(1, server, 0, 1 << 16));
            client.queuePair.postSend(client.read(2, server, 1 << 16, 1 << 16));
            client.poll(client.sending);
        }
    }

    private static void makeThingsUntilTheEnd(SoftIwarpDevice device) {
        try {
            while (true) {
                new Side(device, 4, 64).close();
                device.connectionManager()
                        .listen(Loopback.anyPort(), 1, request -> {})
                        .close();
            }
        } catch (IllegalStateException | java.io.IOException e) {
            assertThat(e).hasMessageContaining("closed");
        }
    }
}
