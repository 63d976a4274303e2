// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.iwarp.net.EventLoop;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.ProtectionDomain;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.QueuePairOptions;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.cm.ConnectOptions;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;
import org.rpcrdma4j.verbs.cm.ConnectionListener;
import org.rpcrdma4j.verbs.cm.Disconnect;

class ManyPostersTest {
    private static final int POSTERS = 4;
    private static final int MESSAGES = 3_000;
    private static final int BYTES = 2_000;
    private static final int RECEIVES = 64;

    /** Messages of one poster that may be under way: there is a Receive for each. */
    private static final int WINDOW = RECEIVES / POSTERS;

    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(40);

    private final SoftIwarpDevice device = new SoftIwarpDevice(IwarpSettings.of(Map.of("threads", "4")));
    private final ProtectionDomain domain = device.allocateProtectionDomain();
    private final Arena arena = Arena.ofShared();
    private final AtomicIntegerArray arrived = new AtomicIntegerArray(POSTERS);
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final long begin = System.nanoTime();

    @AfterEach
    void closeAll() {
        device.close();
        arena.close();
        assertThat(device.ledger().isBalanced()).isTrue();
    }

    private static ConnectionListener counting(CountDownLatch latch) {
        return new ConnectionListener() {
            @Override
            public void onEstablished(ConnectionInfo info) {
                latch.countDown();
            }

            @Override
            public void onRefused(ConnectRefusal refusal) {}

            @Override
            public void onDisconnected(Disconnect disconnect) {}
        };
    }

    private QueuePair queuePair(CompletionQueue sending, CompletionQueue receiving) {
        return domain.createQueuePair(new QueuePairOptions(sending, receiving, 8, RECEIVES, 2));
    }

    @Test
    void messagesOfSeveralThreadsArriveWholeAndEachThreadsInOrder() throws Exception {
        CompletionQueue sent = device.createCompletionQueue(64, null);
        CompletionQueue received = device.createCompletionQueue(256, null);
        QueuePair sender = queuePair(sent, device.createCompletionQueue(RECEIVES, null));
        QueuePair receiver = queuePair(device.createCompletionQueue(8, null), received);
        MemorySegment inbox = arena.allocate((long) RECEIVES * BYTES);
        MemoryRegion inboxRegion = domain.register(inbox, Access.LOCAL_WRITE);
        for (int i = 0; i < RECEIVES; i++) {
            receiver.postReceive(new ReceiveRequest().id(i).sge(inboxRegion, (long) i * BYTES, BYTES))
                    .orThrow();
        }
        CountDownLatch connected = new CountDownLatch(2);
        var endpoint = device.connectionManager()
                .listen(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        1,
                        request -> request.accept(receiver, ConnectOptions.DEFAULT, counting(connected)));
        device.connectionManager()
                .connect(sender, endpoint.localAddress(), ConnectOptions.DEFAULT, counting(connected));
        assertThat(connected.await(10, TimeUnit.SECONDS)).isTrue();

        AtomicIntegerArray done = new AtomicIntegerArray(POSTERS);
        List<Thread> threads = new ArrayList<>();
        threads.add(start(() -> countSent(sent, done)));
        threads.add(start(() -> receiveAll(receiver, received, inbox, inboxRegion)));
        for (int i = 0; i < POSTERS; i++) {
            int poster = i;
            threads.add(start(() -> post(sender, poster, done)));
        }
        for (Thread thread : threads) {
            thread.join(TimeUnit.NANOSECONDS.toMillis(LIMIT_NANOS));
            assertThat(thread.isAlive())
                    .as("%s %s, done %s", sender, receiver, done)
                    .isFalse();
        }
        assertThat(failure.get()).isNull();
    }

    private Thread start(Runnable work) {
        return Thread.ofPlatform().daemon().start(() -> {
            try {
                work.run();
            } catch (Throwable e) {
                failure.compareAndSet(null, e);
            }
        });
    }

    private void pause() {
        assertThat(System.nanoTime() - begin).as("deadline").isLessThan(LIMIT_NANOS);
        assertThat(failure.get()).isNull();
        LockSupport.parkNanos(20_000);
    }

    private void post(QueuePair sender, int poster, AtomicIntegerArray done) {
        MemorySegment memory = arena.allocate(BYTES);
        MemoryRegion region = domain.register(memory, Access.LOCAL_READ);
        for (int i = 0; i < MESSAGES; i++) {
            int length = 8 + (i * 37 + poster) % (BYTES - 8);
            memory.asSlice(0, length).fill((byte) (poster + i));
            memory.set(ValueLayout.JAVA_INT_UNALIGNED, 0, poster);
            memory.set(ValueLayout.JAVA_INT_UNALIGNED, 4, i);
            SendRequest send = new SendRequest().id(poster).sge(region, 0, length);
            while (i - arrived.get(poster) >= WINDOW || !sender.postSend(send).isPosted()) {
                pause();
            }
            while (done.get(poster) <= i) {
                pause();
            }
        }
    }

    private void countSent(CompletionQueue sent, AtomicIntegerArray done) {
        WorkCompletion[] one = {new WorkCompletion()};
        for (int i = 0; i < POSTERS * MESSAGES; i++) {
            while (sent.poll(one) == 0) {
                pause();
            }
            assertThat(one[0].isSuccess()).as(one[0].toString()).isTrue();
            done.incrementAndGet((int) one[0].id());
        }
    }

    private void receiveAll(QueuePair receiver, CompletionQueue received, MemorySegment inbox, MemoryRegion region) {
        int[] next = new int[POSTERS];
        WorkCompletion[] one = {new WorkCompletion()};
        for (int i = 0; i < POSTERS * MESSAGES; i++) {
            while (received.poll(one) == 0) {
                pause();
            }
            assertThat(one[0].isSuccess()).as(one[0].toString()).isTrue();
            MemorySegment message = inbox.asSlice(one[0].id() * BYTES, one[0].byteLength());
            int poster = message.get(ValueLayout.JAVA_INT_UNALIGNED, 0);
            int number = message.get(ValueLayout.JAVA_INT_UNALIGNED, 4);
            assertThat(number).as("of poster %d", poster).isEqualTo(next[poster]);
            next[poster]++;
            assertThat(message.byteSize()).isEqualTo(8 + (number * 37 + poster) % (BYTES - 8));
            for (long at = 8; at < message.byteSize(); at++) {
                if (message.get(ValueLayout.JAVA_BYTE, at) != (byte) (poster + number)) {
                    throw new AssertionError("byte " + at + " of message " + number + " of poster " + poster);
                }
            }
            receiver.postReceive(new ReceiveRequest().id(one[0].id()).sge(region, one[0].id() * BYTES, BYTES))
                    .orThrow();
            arrived.incrementAndGet(poster);
        }
    }

    @Test
    void queuePairsSpreadOverAllThreadsHoweverTheirCompletionQueuesAreMade() {
        Set<EventLoop> loops = new HashSet<>();
        for (int i = 0; i < 4; i++) {
            CompletionQueue sending = device.createCompletionQueue(8, null);
            CompletionQueue receiving = device.createCompletionQueue(RECEIVES, null);
            loops.add(((SoftQueuePair) queuePair(sending, receiving)).loop());
        }
        assertThat(loops).hasSize(4);
    }
}
