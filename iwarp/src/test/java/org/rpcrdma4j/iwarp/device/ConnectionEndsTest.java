// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.iwarp.SoftIwarpProvider;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.ProtectionDomain;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.QueuePairOptions;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.cm.ConnectOptions;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;
import org.rpcrdma4j.verbs.cm.ConnectionListener;
import org.rpcrdma4j.verbs.cm.Disconnect;
import org.rpcrdma4j.verbs.cm.ListenEndpoint;

/** A connection ends once, is told of once, and lets go of everything, whatever breaks. A failure leaves hung devices behind. */
class ConnectionEndsTest {
    private static final class Told implements ConnectionListener {
        final CompletableFuture<ConnectionInfo> established = new CompletableFuture<>();
        final CompletableFuture<String> over = new CompletableFuture<>();
        Runnable onEstablished = () -> {};

        @Override
        public void onEstablished(ConnectionInfo info) {
            established.complete(info);
            onEstablished.run();
        }

        @Override
        public void onRefused(ConnectRefusal refusal) {
            over.complete(refusal.toString());
        }

        @Override
        public void onDisconnected(Disconnect disconnect) {
            over.complete(disconnect.toString());
        }
    }

    private final RdmaDevice device = new SoftIwarpProvider().open(Map.of("threads", "2"));
    private final ProtectionDomain domain = device.allocateProtectionDomain();

    private QueuePair queuePair() {
        CompletionQueue queue = device.createCompletionQueue(64, null);
        return domain.createQueuePair(new QueuePairOptions(queue, queue, 16, 16, 4));
    }

    private Told connect(QueuePair client, Told told) throws Exception {
        Told server = new Told();
        QueuePair accepting = queuePair();
        ListenEndpoint endpoint = device.connectionManager()
                .listen(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        4,
                        request -> request.accept(accepting, ConnectOptions.DEFAULT, server));
        device.connectionManager().connect(client, endpoint.localAddress(), ConnectOptions.DEFAULT, told);
        return server;
    }

    @Test
    void aListenerThatThrowsHarmsNoConnection() throws Exception {
        Told told = new Told();
        told.onEstablished = () -> {
            throw new IllegalStateException("on purpose");
        };
        QueuePair client = queuePair();
        connect(client, told);
        told.established.get(5, TimeUnit.SECONDS);
        assertEquals(QueuePair.State.CONNECTED, client.state());
        client.disconnect();
        String end = told.over.completeOnTimeout("nothing", 5, TimeUnit.SECONDS).get();
        assertTrue(end.contains("LOCAL_CLOSE"), end);
    }

    @Test
    void anErrorWhileSendingEndsTheConnectionAndCloseReturns() throws Exception {
        Path file = Files.createTempFile("mapped", ".bin");
        try (Arena arena = Arena.ofShared();
                FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            channel.write(java.nio.ByteBuffer.allocate(1), (1 << 20) - 1);
            MemorySegment mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, 1 << 20, arena);
            MemoryRegion region = domain.register(mapped, Access.LOCAL_READ);
            QueuePair client = queuePair();
            Told told = new Told();
            connect(client, told);
            assertNotNull(told.established.get(5, TimeUnit.SECONDS));
            channel.truncate(0);
            Throwable thrown = null;
            try {
                client.postSend(new SendRequest().sge(region, 8192, 200));
            } catch (Throwable e) {
                thrown = e;
            }
            Thread closer = new Thread(client::close);
            closer.setDaemon(true);
            closer.start();
            closer.join(3000);
            assertFalse(closer.isAlive(), "close spins for ever after " + thrown);
        } finally {
            Files.delete(file);
        }
    }

    @Test
    void disconnectDuringSetUpEndsTheConnection() throws Exception {
        for (int i = 0; i < 300; i++) {
            QueuePair client = queuePair();
            Told told = new Told();
            Told server = connect(client, told);
            long spin = 200_000L + (i * 37_000L) % 3_000_000L;
            long until = System.nanoTime() + spin;
            while (client.state() == QueuePair.State.CONNECTING && System.nanoTime() < until + 1_000_000_000L) {
                if (i % 2 == 0 && System.nanoTime() > until) {
                    break;
                }
                Thread.onSpinWait();
            }
            client.disconnect();
            String end =
                    told.over.completeOnTimeout("nothing", 5, TimeUnit.SECONDS).get();
            assertTrue(
                    !end.equals("nothing"),
                    "round " + i + ": told nothing, state " + client.state() + ", established "
                            + told.established.isDone() + ", peer's end " + server.over.getNow("none"));
            assertEquals(QueuePair.State.ERROR, client.state());
            client.close();
        }
    }

    @Test
    void drainOfAClosedQueuePairEnds() throws Exception {
        QueuePair client = queuePair();
        client.postReceive(new org.rpcrdma4j.verbs.ReceiveRequest()).orThrow();
        client.close();
        client.drain().get(2, TimeUnit.SECONDS);
    }

    @Test
    void anErrorWhileReceivingEndsTheConnection() throws Exception {
        Path file = Files.createTempFile("mapped", ".bin");
        try (Arena arena = Arena.ofShared();
                FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            channel.write(java.nio.ByteBuffer.allocate(1), (1 << 20) - 1);
            MemorySegment mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, 1 << 20, arena);
            MemoryRegion target = domain.register(mapped, Access.REMOTE_WRITE);
            MemoryRegion source = domain.register(arena.allocate(64), Access.LOCAL_READ);
            QueuePair client = queuePair();
            Told told = new Told();
            Told server = connect(client, told);
            assertNotNull(told.established.get(5, TimeUnit.SECONDS));
            channel.truncate(0);
            client.postSend(new org.rpcrdma4j.verbs.RdmaWriteRequest()
                            .sge(source, 0, 64)
                            .target(target.remoteKey(), target.remoteAddress() + 8192))
                    .orThrow();
            String end = server.over
                    .completeOnTimeout("nothing", 3, TimeUnit.SECONDS)
                    .get();
            assertFalse(end.equals("nothing"), "the receiver is told nothing; errors " + device.counters());
        } finally {
            Files.delete(file);
        }
    }
}
