// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.C;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.R;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.reply;
import static org.rpcrdma4j.iwarp.net.RawMpaPeer.request;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.verbs.cm.ConnectRefusal.Reason;

/** Set-ups and ends on a socket whose send buffer is full, as its peer does not read. */
class PartialWriteTest {
    private static final byte[] REQUEST = request(C, 1);

    private final NetFixture net = new NetFixture();
    private final CountDownLatch gone = new CountDownLatch(1);
    private RawMpaPeer peer;
    private SocketChannel channel;
    private int filled;

    @BeforeEach
    void fillASocket() throws IOException {
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            peer = RawMpaPeer.connect((InetSocketAddress) server.getLocalAddress());
            channel = server.accept();
        }
        TcpOptions.apply(channel);
        // Little to fill.
        channel.setOption(StandardSocketOptions.SO_SNDBUF, 16 * 1024);
        ByteBuffer chunk = ByteBuffer.allocateDirect(64 * 1024);
        try (Selector selector = Selector.open()) {
            channel.register(selector, SelectionKey.OP_WRITE);
            // Full when there is no sign of room for a while, as the system passes bytes on in the background, and
            // nothing fits into the rest for which no sign is given.
            int before;
            do {
                before = filled;
                write(chunk);
            } while (selector.select(key -> write(chunk), 50) > 0 || filled > before);
        }
    }

    private void write(ByteBuffer chunk) {
        try {
            chunk.clear();
            filled += channel.write(chunk);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @AfterEach
    void close() throws IOException {
        peer.close();
        channel.close();
        net.close();
    }

    private InboundRequest askedOn(SetUpConfig config) throws IOException {
        EventLoop loop = net.group.next();
        ResponderSetUp setUp = new ResponderSetUp(
                loop,
                channel,
                config,
                new ResponderSetUp.Gate() {
                    @Override
                    public boolean tryAsk() {
                        return true;
                    }

                    @Override
                    public void ask(InboundRequest request) {
                        net.requests.add(request);
                    }

                    @Override
                    public void answered() {}

                    @Override
                    public void gone(ResponderSetUp over) {
                        gone.countDown();
                    }
                },
                net.counters,
                net.log);
        loop.execute(setUp::begin);
        peer.send(REQUEST);
        return net.nextRequest();
    }

    @Test
    void aReplyWaitsForRoomAndIsThenWhole() throws IOException {
        byte[] data = new byte[512];
        Arrays.fill(data, (byte) 7);
        RecordingListener told = new RecordingListener();
        InboundRequest inbound = askedOn(NetFixture.RESPONDER);
        inbound.accept(data, 1, 1, told);
        NetFixture.runOn(inbound.loop(), () -> {});
        NetFixture.runOn(inbound.loop(), () -> {});
        assertThat(told.prepared()).hasSize(1);
        assertThat(told.results()).isEmpty();

        assertThat(peer.read(filled)).hasSize(filled);
        assertThat(peer.readFrame()).isEqualTo(reply(C, 1, data));
        NetFixture.closeStream(told.stream());
        assertThat(peer.readUntilFin()).isEmpty();
    }

    @Test
    void aReplyThatFindsNoRoomFailsAtTheDeadline() throws IOException {
        RecordingListener told = new RecordingListener();
        askedOn(NetFixture.RESPONDER.withDeadline(NetFixture.SHORT)).accept(new byte[0], 1, 1, told);
        assertThat(told.refusal().reason()).isEqualTo(Reason.TIMED_OUT);
        assertThat(told.prepared()).hasSize(1);
        Waits.until(gone, () -> "place kept");
    }

    @Test
    void aReplyThatMeetsAResetFailsOnce() throws IOException {
        RecordingListener told = new RecordingListener();
        askedOn(NetFixture.RESPONDER).accept(new byte[0], 1, 1, told);
        peer.reset();
        assertThat(told.refusal().reason()).isEqualTo(Reason.CLOSED_BY_PEER);
        Waits.until(gone, () -> "place kept");
    }

    @Test
    void aRejectionWaitsForRoomAndIsThenWhole() throws IOException {
        askedOn(NetFixture.RESPONDER).reject(new byte[20]);
        assertThat(peer.read(filled)).hasSize(filled);
        assertThat(peer.readUntilFin()).isEqualTo(reply(C | R, 1, new byte[20]));
        peer.close();
        Waits.until(gone, () -> "place kept");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aRejectionThatFindsNoRoomFreesItsPlaceAtTheLimit(boolean reset) throws IOException {
        askedOn(NetFixture.RESPONDER.withDrain(NetFixture.SHORT)).reject(new byte[20]);
        if (reset) {
            peer.reset();
        }
        Waits.until(gone, () -> "place kept");
        assertThat(channel.isOpen()).isFalse();
    }
}
