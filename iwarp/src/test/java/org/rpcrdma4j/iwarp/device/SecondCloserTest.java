// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.iwarp.mem.OwnThread;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.ProtectionDomain;
import org.rpcrdma4j.verbs.QueuePairOptions;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;
import org.rpcrdma4j.verbs.cm.ConnectionListener;
import org.rpcrdma4j.verbs.cm.Disconnect;
import org.rpcrdma4j.verbs.cm.ListenEndpoint;

/** What close promises holds for everyone who closes, also for one who finds another in the middle of it. */
class SecondCloserTest {
    private static final int ROUNDS = 3_000;

    private final Loopback loopback = new Loopback("closers", Map.of());

    @Test
    void whatTwoThreadsCloseAtOnceIsGoneForEachOfThem() throws Exception {
        CyclicBarrier barrier = new CyclicBarrier(2);
        AtomicReference<List<Runnable>> closers = new AtomicReference<>(List.of());
        CompletableFuture<Void> other = OwnThread.run(() -> {
            for (int round = 0; round < ROUNDS; round++) {
                barrier.await(30, TimeUnit.SECONDS);
                closers.get().forEach(Runnable::run);
                barrier.await(30, TimeUnit.SECONDS);
            }
        });
        try (loopback) {
            for (int round = 0; round < ROUNDS; round++) {
                ProtectionDomain domain = loopback.device.allocateProtectionDomain();
                CompletionQueue completions = loopback.device.createCompletionQueue(8, null);
                try (Arena arena = Arena.ofShared()) {
                    List<Runnable> things = List.of(
                            domain.createQueuePair(new QueuePairOptions(completions, completions, 4, 4, 1))::close,
                            domain.register(arena.allocate(64), Access.REMOTE_READ)::close,
                            domain.allocateFastRegion(1)::close);
                    closers.set(things.subList(round % 3, round % 3 + 1));
                    barrier.await(30, TimeUnit.SECONDS);
                    things.forEach(Runnable::run);
                    completions.close();
                    domain.close();
                }
                barrier.await(30, TimeUnit.SECONDS);
            }
            other.get(30, TimeUnit.SECONDS);
        }
    }

    /** Holds up the end of its connection. */
    private static final class SlowListener implements ConnectionListener {
        private final Side side;
        private final CountDownLatch told = new CountDownLatch(1);
        private final CountDownLatch goOn = new CountDownLatch(1);

        private SlowListener(Side side) {
            this.side = side;
        }

        @Override
        public void onEstablished(ConnectionInfo info) {
            side.onEstablished(info);
        }

        @Override
        public void onRefused(ConnectRefusal refusal) {
            side.onRefused(refusal);
        }

        @Override
        public void onDisconnected(Disconnect disconnect) {
            told.countDown();
            try {
                assertThat(goOn.await(30, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    @Test
    void aCallThatIsUnderWayIsWaitedForByEveryCloser() throws Exception {
        try (loopback;
                Side client = new Side(loopback.device, 4, 64);
                Side server = new Side(loopback.device, 4, 64);
                ListenEndpoint endpoint = loopback.serve(() -> server, Loopback.OPTIONS)) {
            SlowListener listener = new SlowListener(client);
            loopback.device
                    .connectionManager()
                    .connect(client.queuePair, endpoint.localAddress(), Loopback.OPTIONS, listener);
            client.get(client.established, "onEstablished of the client");
            CompletableFuture<Void> first = OwnThread.run(client.queuePair::close);
            assertThat(listener.told.await(30, TimeUnit.SECONDS)).isTrue();
            AtomicReference<@Nullable Thread> thread = new AtomicReference<>();
            CompletableFuture<Void> second = OwnThread.run(() -> {
                thread.set(Thread.currentThread());
                client.queuePair.close();
            });
            Waits.until(
                    () -> {
                        Thread closer = thread.get();
                        return second.isDone() || (closer != null && closer.getState() == Thread.State.WAITING);
                    },
                    () -> "the second closer is at " + thread.get());
            assertThat(second).isNotDone();
            listener.goOn.countDown();
            first.get(30, TimeUnit.SECONDS);
            second.get(30, TimeUnit.SECONDS);
        }
    }
}
