// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.device;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.ProtectionDomain;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.QueuePairOptions;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;
import org.rpcrdma4j.verbs.cm.ConnectionListener;
import org.rpcrdma4j.verbs.cm.Disconnect;
import org.rpcrdma4j.verbs.cm.ListenEndpoint;

/** Many connections at a time, and many one after the other. */
class ManyConnectionsTest {
    private static final int IDLE = 1_000;
    private static final int ACTIVE = 20;
    private static final int DEPTH = 16;
    private static final int LOOPS = 2_000;
    private static final long TARGET_BYTES = 64 * 1024;

    /** Counts what happens on a number of connections. */
    private static final class Count implements ConnectionListener {
        private final AtomicInteger established = new AtomicInteger();
        private final AtomicInteger ended = new AtomicInteger();
        private final AtomicInteger refused = new AtomicInteger();

        @Override
        public void onEstablished(ConnectionInfo info) {
            established.incrementAndGet();
        }

        @Override
        public void onRefused(ConnectRefusal refusal) {
            refused.incrementAndGet();
        }

        @Override
        public void onDisconnected(Disconnect disconnect) {
            ended.incrementAndGet();
        }

        @Override
        public String toString() {
            return established + " established, " + refused + " refused, " + ended + " ended";
        }
    }

    private static long directBytes() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> "direct".equals(pool.getName()))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }

    private static long heapBytes() {
        long used = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            System.gc();
            Waits.pause(Duration.ofMillis(20));
            used = Math.min(
                    used,
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
        }
        return used;
    }

    @Test
    void aThousandIdleConnectionsCostLittleAndTwentyActiveOnesWorkBesideThem() throws Exception {
        Loopback loopback = new Loopback("many", Map.of("kick-millis", "0"));
        ProtectionDomain domain = loopback.device.allocateProtectionDomain();
        int ends = 2 * (IDLE + ACTIVE);
        CompletionQueue sending = loopback.device.createCompletionQueue(ends * DEPTH, null);
        CompletionQueue[] receiving = {
            loopback.device.createCompletionQueue(ends * DEPTH, null),
            loopback.device.createCompletionQueue(ends * DEPTH, null)
        };
        QueuePairOptions[] options = {
            new QueuePairOptions(sending, receiving[0], DEPTH, DEPTH, 4),
            new QueuePairOptions(sending, receiving[1], DEPTH, DEPTH, 4)
        };
        ConcurrentLinkedQueue<QueuePair> accepted = new ConcurrentLinkedQueue<>();
        Count count = new Count();
        try (loopback;
                Arena arena = Arena.ofShared();
                ListenEndpoint endpoint = loopback.device
                        .connectionManager()
                        .listen(Loopback.anyPort(), 1024, request -> {
                            QueuePair queuePair = domain.createQueuePair(options[accepted.size() & 1]);
                            accepted.add(queuePair);
                            request.accept(queuePair, Loopback.OPTIONS, count);
                        })) {
            MemorySegment memory = arena.allocate(4096);
            MemoryRegion region = domain.register(memory, Access.REMOTE_READ_WRITE);
            List<QueuePair> clients = new ArrayList<>();
            connect(loopback, domain, options, endpoint, count, clients, ACTIVE);
            exchange(clients, accepted, region, sending, receiving);
            long heap = heapBytes();
            long direct = directBytes();
            connect(loopback, domain, options, endpoint, count, clients, IDLE);
            long perEnd = (heapBytes() - heap) / (2 * IDLE);
            long directPerEnd = (directBytes() - direct) / (2 * IDLE);
            System.out.printf(
                    "idle connection, each end: %d bytes of heap, %d of direct memory, %d threads%n",
                    perEnd, directPerEnd, loopback.threads().size());
            assertThat(perEnd + directPerEnd).isLessThan(TARGET_BYTES);
            assertThat(loopback.threads()).hasSizeLessThanOrEqualTo(3);
            exchange(clients.subList(0, ACTIVE), accepted, region, sending, receiving);
            loopback.device.close();
            assertThat(count.ended).as("%s", count).hasValue(ends);
        }
    }

    private static void connect(
            Loopback loopback,
            ProtectionDomain domain,
            QueuePairOptions[] options,
            ListenEndpoint endpoint,
            Count count,
            List<QueuePair> clients,
            int more) {
        for (int i = 0; i < more; i++) {
            QueuePair client = domain.createQueuePair(options[i & 1]);
            clients.add(client);
            loopback.device.connectionManager().connect(client, endpoint.localAddress(), Loopback.OPTIONS, count);
            if (i % 100 == 99 || i == more - 1) {
                Waits.until(() -> count.established.get() == 2 * clients.size(), count::toString);
            }
        }
    }

    /** A Send from each of the first clients to whoever accepted it: every accepted end has a Receive. */
    private static void exchange(
            List<QueuePair> clients,
            Iterable<QueuePair> accepted,
            MemoryRegion region,
            CompletionQueue sending,
            CompletionQueue[] receiving) {
        for (QueuePair server : accepted) {
            server.postReceive(new ReceiveRequest().id(server.number()).sge(region, 0, 64))
                    .orThrow();
        }
        for (QueuePair client : clients) {
            client.postSend(new SendRequest().id(client.number()).sge(region, 0, 64))
                    .orThrow();
        }
        int[] got = {0, 0};
        WorkCompletion[] into = {new WorkCompletion()};
        Waits.until(
                () -> {
                    got[0] += sending.poll(into);
                    got[1] += receiving[0].poll(into) + receiving[1].poll(into);
                    return got[0] == clients.size() && got[1] == clients.size();
                },
                () -> got[0] + " sent, " + got[1] + " received of " + clients.size());
    }

    @Test
    void twoThousandConnectionsOneAfterTheOtherLeaveNothingBehind() {
        Loopback loopback = new Loopback("loops", Map.of());
        AtomicReference<@Nullable Side> next = new AtomicReference<>();
        try (loopback;
                ListenEndpoint endpoint = loopback.serve(() -> requireNonNull(next.get()), Loopback.OPTIONS)) {
            long direct = 0;
            for (int i = 0; i < LOOPS; i++) {
                if (i == 200) {
                    System.gc();
                    direct = directBytes();
                }
                try (Side client = new Side(loopback.device, 4, 64);
                        Side server = new Side(loopback.device, 4, 64)) {
                    next.set(server);
                    loopback.connect(client, endpoint.localAddress(), Loopback.OPTIONS);
                    client.get(client.established, "onEstablished");
                    if (i % 3 == 0) {
                        client.queuePair.disconnect();
                        client.awaitDisconnected();
                    }
                }
            }
            loopback.requireEmpty();
            assertThat(loopback.threads()).hasSizeLessThanOrEqualTo(3);
            assertThat(loopback.device.liveQueuePairs()).isZero();
            assertThat(loopback.device.liveDomains()).isZero();
            long before = direct;
            Waits.until(
                    () -> {
                        System.gc();
                        return directBytes() - before < (8 << 20);
                    },
                    () -> "direct memory grew from " + before + " to " + directBytes());
        }
    }
}
