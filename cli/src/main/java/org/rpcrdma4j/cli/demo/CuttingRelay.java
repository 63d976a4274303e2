// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.demo;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongPredicate;

/**
 * Stands between clients and a server and passes on all bytes, but once breaks off a connection under their hands: both sides get a reset,
 * and what was on its way is lost.
 *
 * <p>States: ARMED, then by so many bytes from the server CUT; from then on it only passes on. Any thread may call.
 */
final class CuttingRelay implements AutoCloseable {
    private static final int BUFFER_BYTES = 64 << 10;
    private static final long PATIENCE_NANOS = 1_000_000_000L;
    private static final long LOOK_NANOS = 200_000;

    private final InetSocketAddress server;
    private final ServerSocketChannel listener;
    private final Set<SocketChannel> sockets = ConcurrentHashMap.newKeySet();
    private final AtomicLong untilCut = new AtomicLong(Long.MAX_VALUE);
    private volatile LongPredicate worthCutting = heldNanos -> true;
    private volatile boolean cut;

    /** Listens, and passes on to the server. */
    CuttingRelay(InetSocketAddress server) throws IOException {
        this.server = server;
        listener = ServerSocketChannel.open();
        listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        Thread.ofVirtual().name("relay-accept").start(this::accept);
    }

    /** Where clients connect. */
    InetSocketAddress address() throws IOException {
        return (InetSocketAddress) listener.getLocalAddress();
    }

    /**
     * Has it cut after so many bytes more from the server. It passes on nothing more from there then, and so no reply, and waits until it is
     * worth it, for a second at most.
     *
     * @param isWorthIt asked again and again, with the nanoseconds that it has waited
     */
    void cutAfter(long serverBytes, LongPredicate isWorthIt) {
        worthCutting = isWorthIt;
        // ORDER: the condition first: from here on it may be asked.
        untilCut.set(serverBytes);
    }

    /** Whether it has cut. */
    boolean hasCut() {
        return cut;
    }

    private void accept() {
        try {
            while (true) {
                connect(listener.accept());
            }
        } catch (IOException e) {
            // It was closed.
        }
    }

    private void connect(SocketChannel client) throws IOException {
        sockets.add(client);
        SocketChannel upstream = SocketChannel.open();
        sockets.add(upstream);
        try {
            upstream.connect(server);
            client.setOption(StandardSocketOptions.TCP_NODELAY, true);
            upstream.setOption(StandardSocketOptions.TCP_NODELAY, true);
        } catch (IOException e) {
            breakOff(client, upstream);
            return;
        }
        Thread.ofVirtual().name("relay-up").start(() -> pump(client, upstream, false));
        Thread.ofVirtual().name("relay-down").start(() -> pump(upstream, client, true));
    }

    private void pump(SocketChannel from, SocketChannel to, boolean fromServer) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
        try {
            while (from.read(buffer.clear()) >= 0) {
                buffer.flip();
                if (fromServer && isTimeToCut(buffer.remaining())) {
                    cut = true;
                    break;
                }
                while (buffer.hasRemaining()) {
                    to.write(buffer);
                }
            }
        } catch (IOException e) {
            // The other way ends too.
        }
        breakOff(from, to);
    }

    private boolean isTimeToCut(int bytes) {
        if (cut || untilCut.addAndGet(-bytes) > 0) {
            return false;
        }
        long begin = System.nanoTime();
        for (long held = 0; held < PATIENCE_NANOS && !worthCutting.test(held); held = System.nanoTime() - begin) {
            LockSupport.parkNanos(LOOK_NANOS);
        }
        return true;
    }

    private void breakOff(SocketChannel... pair) {
        for (SocketChannel socket : pair) {
            try {
                sockets.remove(socket);
                // A reset, not an orderly end.
                socket.setOption(StandardSocketOptions.SO_LINGER, 0);
                socket.close();
            } catch (IOException e) {
                // It is closed, or cannot be.
            }
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        breakOff(sockets.toArray(SocketChannel[]::new));
    }
}
