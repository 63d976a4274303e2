// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.testkit.Waits;

class OrderlyCloseTest {
    private static final byte[] LAST = "the last words".getBytes(StandardCharsets.US_ASCII);

    private final NetFixture net = new NetFixture();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final AtomicInteger closings = new AtomicInteger();
    private RawMpaPeer peer;
    private SocketChannel channel;

    @BeforeEach
    void connect() throws IOException {
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            peer = RawMpaPeer.connect((InetSocketAddress) server.getLocalAddress());
            channel = server.accept();
        }
        TcpOptions.apply(channel);
    }

    @AfterEach
    void close() throws IOException {
        peer.close();
        channel.close();
        net.close();
        assertThat(closings.get()).isLessThanOrEqualTo(1);
    }

    private EventLoop begin(@Nullable ByteBuffer lastWords, Duration limit) throws IOException {
        EventLoop loop = net.group.next();
        Registration registration = loop.register(channel, 0, ops -> {});
        loop.execute(() -> OrderlyClose.begin(registration, lastWords, limit.toNanos(), () -> {
            closings.incrementAndGet();
            closed.countDown();
        }));
        return loop;
    }

    @Test
    void lastWordsAreReadBeforeFinThoughInputIsUnread() throws IOException {
        peer.send(new byte[100_000]);
        begin(ByteBuffer.wrap(LAST), Duration.ofSeconds(10));
        assertThat(peer.readUntilFin()).isEqualTo(LAST);
        peer.send(new byte[100_000]);
        assertThat(closings).hasValue(0);
        peer.finish();
        Waits.until(closed, () -> "not closed");
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void aPeerThatKeepsSendingIsCutOffAtTheLimit() throws IOException {
        long begin = System.nanoTime();
        begin(null, NetFixture.SHORT);
        assertThat(peer.readUntilFin()).isEmpty();
        try {
            while (closed.getCount() > 0) {
                peer.send(new byte[10_000]);
            }
        } catch (IOException e) {
            assertThat(e).hasMessageMatching("(?s).*(reset|pipe|abort).*");
        }
        Waits.until(closed, () -> "not closed");
        assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(NetFixture.SHORT.toNanos());
    }

    @Test
    void aResetEndsItAtOnce() throws IOException {
        begin(null, Duration.ofSeconds(60));
        peer.readUntilFin();
        peer.reset();
        Waits.until(closed, () -> "not closed");
    }

    @Test
    void longLastWordsToASlowReaderArriveWhole() throws IOException {
        int length = 16 * 1024 * 1024;
        ByteBuffer words = ByteBuffer.allocateDirect(length);
        EventLoop loop = begin(words, Duration.ofSeconds(30));
        NetFixture.runOn(loop, () -> {});
        assertThat(closings).hasValue(0);
        assertThat(peer.readUntilFin()).hasSize(length);
        peer.finish();
        Waits.until(closed, () -> "not closed");
    }

    @Test
    void theLoopsEndClosesTheSocket() throws IOException {
        EventLoop loop = begin(null, Duration.ofSeconds(60));
        peer.readUntilFin();
        loop.close();
        Waits.until(closed, () -> "not closed");
        assertThat(channel.isOpen()).isFalse();
    }
}
