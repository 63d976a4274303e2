// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.rpcrdma4j.iwarp.mpa.MpaWishes;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.verbs.cm.Octets;

/** Loops, counters, log, and what was opened on them. */
final class NetFixture implements AutoCloseable {
    static final Duration SHORT = Duration.ofMillis(150);
    static final MpaWishes WISHES = MpaWishes.of(32, 16);
    static final SetUpConfig RESPONDER = SetUpConfig.responder(WISHES);
    static final SetUpConfig INITIATOR = SetUpConfig.initiator(WISHES, Octets.EMPTY);

    final EventLoopGroup group = new EventLoopGroup("net-test", 2, EventLoop.DEFAULT_STAGING_BYTES, false);
    final Counters counters = new Counters();
    final RecordingLogger logger = new RecordingLogger();
    final WireLog log = new WireLog(logger, counters, System::nanoTime, 1000);
    final BlockingQueue<InboundRequest> requests = new LinkedBlockingQueue<>();
    private final List<Listener> listeners = new ArrayList<>();
    private final List<RecordingListener> results = new ArrayList<>();

    Listener listen(SetUpConfig config) {
        return listen(config, Listener.Limits.ofBacklog(16), requests::add);
    }

    Listener listen(SetUpConfig config, Listener.Limits limits, Consumer<InboundRequest> program) {
        try {
            Listener listener = Listener.open(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                    limits,
                    group,
                    config,
                    counters,
                    log,
                    program);
            listeners.add(listener);
            return listener;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A listener whose requests are accepted at once. */
    Listener listenAndAccept(SetUpConfig config, RecordingListener told) {
        results.add(told);
        return listen(
                config,
                Listener.Limits.ofBacklog(16),
                request -> request.accept(new byte[0], WISHES.ird(), WISHES.ord(), told));
    }

    RecordingListener connect(InetSocketAddress remote, SetUpConfig config) {
        return connect(remote, config, new RecordingListener());
    }

    RecordingListener connect(InetSocketAddress remote, SetUpConfig config, RecordingListener told) {
        results.add(told);
        InitiatorSetUp.start(group.next(), remote, config, counters, log, told);
        return told;
    }

    InboundRequest nextRequest() {
        try {
            InboundRequest request = requests.poll(10, TimeUnit.SECONDS);
            if (request == null) {
                throw new AssertionError("no request within 10 s: " + counters.snapshot());
            }
            return request;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    /** Runs on a loop and waits. */
    static void runOn(EventLoop loop, Runnable work) {
        CountDownLatch done = new CountDownLatch(1);
        loop.execute(() -> {
            try {
                work.run();
            } finally {
                done.countDown();
            }
        });
        Waits.until(done, () -> "work not done on " + loop.name());
    }

    void assertNoSetUpIsLeft() {
        for (Listener listener : listeners) {
            Waits.until(
                    () -> listener.openSetUps() == 0 && listener.waitingRequests() == 0,
                    () -> listener.openSetUps() + " open, " + listener.waitingRequests() + " waiting: "
                            + counters.snapshot());
        }
    }

    @Override
    public void close() {
        listeners.forEach(Listener::close);
        group.close();
        assertThat(group.loops())
                .allSatisfy(loop -> assertThat(loop.taskErrors())
                        .as("errors on %s", loop.name())
                        .isZero());
        results.forEach(result -> assertThat(result.results()).hasSizeLessThanOrEqualTo(1));
    }

    static void closeStream(EstablishedStream stream) {
        runOn(stream.loop(), () -> TcpOptions.closeQuietly(stream.channel()));
    }

    /** Takes bytes as the engine would: leftover first, then by readiness. */
    static byte[] readFrom(EstablishedStream stream, int count) {
        ByteBuffer taken = ByteBuffer.allocate(count);
        CountDownLatch done = new CountDownLatch(1);
        stream.loop().execute(() -> {
            taken.put(stream.leftover());
            stream.registration().handler(ops -> {
                try {
                    if (stream.channel().read(taken) < 0 || !taken.hasRemaining()) {
                        stream.registration().interest(0);
                        done.countDown();
                    }
                } catch (IOException e) {
                    stream.registration().interest(0);
                    done.countDown();
                }
            });
            if (taken.hasRemaining()) {
                stream.registration().interest(SelectionKey.OP_READ);
            } else {
                done.countDown();
            }
        });
        Waits.until(done, () -> "read " + taken.position() + " of " + count);
        return Arrays.copyOf(taken.array(), taken.position());
    }
}
