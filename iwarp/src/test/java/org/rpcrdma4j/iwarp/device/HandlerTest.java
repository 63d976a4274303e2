// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.iwarp.mem.OwnThread;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.verbs.CompletionQueue.Notify;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;
import org.rpcrdma4j.verbs.cm.ConnectionListener;
import org.rpcrdma4j.verbs.cm.Disconnect;
import org.rpcrdma4j.verbs.cm.ListenEndpoint;

class HandlerTest {
    private static final int MESSAGES = 200_000;

    private final Loopback loopback = new Loopback("handlers", Map.of());

    @AfterEach
    void closeAll() {
        loopback.close();
    }

    @Test
    void aHandlerThatThrowsIsCountedAndItsQueueGoesOn() {
        AtomicInteger calls = new AtomicInteger();
        try (Side client = new Side(loopback.device, 4, 64);
                Side server = new Side(loopback.device, 4, 64, null, queue -> {
                    calls.incrementAndGet();
                    throw new IllegalArgumentException("thrown on purpose");
                })) {
            loopback.join(client, server);
            for (int i = 1; i <= 3; i++) {
                int wanted = i;
                server.queuePair.postReceive(server.receive(i, 0, 8)).orThrow();
                server.receiving.requestNotify(Notify.ANY);
                client.queuePair.postSend(client.send(i, 0, 8)).orThrow();
                Waits.until(() -> calls.get() == wanted, () -> calls + " calls, " + server);
                assertThat(server.poll(server.receiving)).containsExactly(i + " SUCCESS");
                assertThat(client.await(client.sending, 1)).containsExactly(i + " SUCCESS");
            }
            assertThat(loopback.device.counters()).containsEntry("loop.task_errors", 3L);
        }
    }

    /** Notes everything, then throws. */
    private record Thrower(Side side) implements ConnectionListener {
        @Override
        public void onEstablished(ConnectionInfo info) {
            side.onEstablished(info);
            throw new IllegalArgumentException("thrown on purpose");
        }

        @Override
        public void onRefused(ConnectRefusal refusal) {
            side.onRefused(refusal);
            throw new IllegalArgumentException("thrown on purpose");
        }

        @Override
        public void onDisconnected(Disconnect disconnect) {
            side.onDisconnected(disconnect);
            throw new IllegalArgumentException("thrown on purpose");
        }
    }

    @Test
    void aListenerThatThrowsHasAConnectionThatWorksAndEnds() throws Exception {
        for (int round = 0; round < 4; round++) {
            try (Side client = new Side(loopback.device, 4, 64);
                    Side server = new Side(loopback.device, 4, 64);
                    ListenEndpoint endpoint = loopback.device
                            .connectionManager()
                            .listen(
                                    Loopback.anyPort(),
                                    4,
                                    request ->
                                            request.accept(server.queuePair, Loopback.OPTIONS, new Thrower(server)))) {
                server.queuePair.postReceive(server.receive(1, 0, 8)).orThrow();
                loopback.device
                        .connectionManager()
                        .connect(client.queuePair, endpoint.localAddress(), Loopback.OPTIONS, new Thrower(client));
                client.get(client.established, "onEstablished");
                client.queuePair.postSend(client.send(2, 0, 8)).orThrow();
                assertThat(client.await(client.sending, 1)).containsExactly("2 SUCCESS");
                assertThat(server.await(server.receiving, 1)).containsExactly("1 SUCCESS");
                server.queuePair.disconnect();
                client.awaitDisconnected();
                server.awaitDisconnected();
                assertThat(client.ends.get() + server.ends.get()).isEqualTo(2);
            }
        }
    }

    /** One message at a time with think times: an entry that waits for the next one would stop it for good. */
    @Test
    void pollArmPollLeavesNoEntryBehind() throws Exception {
        Semaphore wakes = new Semaphore(0);
        CompletableFuture<Side> echo = new CompletableFuture<>();
        try (Side client = new Side(loopback.device, 8, 64, null, queue -> wakes.release());
                Side server = new Side(loopback.device, 8, 64, null, queue -> echo(echo.join()))) {
            echo.complete(server);
            server.queuePair.postReceive(server.receive(0, 0, 8)).orThrow();
            server.receiving.requestNotify(Notify.ANY);
            loopback.join(client, server);
            OwnThread.run(() -> pingPong(client, wakes)).get(50, TimeUnit.SECONDS);
        }
    }

    /** Posts and polls inside the handler. */
    private static void echo(Side server) {
        answerAll(server);
        server.receiving.requestNotify(Notify.ANY);
        answerAll(server);
    }

    private static void answerAll(Side server) {
        for (String entry : server.poll(server.receiving)) {
            if (entry.endsWith("SUCCESS")) {
                server.queuePair.postReceive(server.receive(0, 0, 8)).orThrow();
                server.queuePair.postSend(server.send(1, 0, 8).signaled(false)).orThrow();
            }
        }
    }

    private static void pingPong(Side client, Semaphore wakes) throws InterruptedException {
        SplittableRandom random = new SplittableRandom(69);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(15);
        int done = 0;
        for (; done < MESSAGES && System.nanoTime() - end < 0; done++) {
            client.queuePair.postReceive(client.receive(done, 8, 8)).orThrow();
            client.queuePair.postSend(client.send(done, 0, 8).signaled(false)).orThrow();
            for (int think = random.nextInt(64) == 0 ? random.nextInt(20_000) : random.nextInt(200);
                    think > 0;
                    think--) {
                Thread.onSpinWait();
            }
            while (client.poll(client.receiving).isEmpty()) {
                client.receiving.requestNotify(Notify.ANY);
                if (!client.poll(client.receiving).isEmpty()) {
                    break;
                }
                if (!wakes.tryAcquire(10, TimeUnit.SECONDS)) {
                    throw new AssertionError("stranded after " + done + " messages: " + client);
                }
            }
        }
        assertThat(done).isPositive();
    }
}
