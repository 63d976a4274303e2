// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.loopback;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.LockSupport;

/** Round trips over a plain socket, one thread at each end: blocked in a read, or asking again and again without blocking. */
public final class TcpPingPong implements PingPong {
    private final TcpPair pair;
    private final Thread echo;
    private final ByteBuffer message = ByteBuffer.allocateDirect(MESSAGE_BYTES);
    private volatile boolean paused = true;

    /** Connects. */
    public TcpPingPong(boolean busy) throws IOException {
        pair = TcpPair.open();
        pair.client().configureBlocking(!busy);
        pair.server().configureBlocking(!busy);
        echo = Thread.ofPlatform().daemon().name("tcp-echo").start(this::echo);
    }

    @Override
    public void run(long[] nanos) throws IOException {
        paused = false;
        try {
            for (int i = 0; i < nanos.length; i++) {
                long begin = System.nanoTime();
                write(pair.client(), message);
                read(pair.client(), message);
                nanos[i] = System.nanoTime() - begin;
            }
        } finally {
            paused = true;
        }
    }

    private void echo() {
        ByteBuffer buffer = ByteBuffer.allocateDirect(MESSAGE_BYTES);
        try {
            while (true) {
                // A busy end must not take the processor from what is measured in between.
                while (paused && !pair.server().isBlocking() && pair.server().isOpen()) {
                    LockSupport.parkNanos(50_000);
                }
                read(pair.server(), buffer);
                write(pair.server(), buffer);
            }
        } catch (ClosedChannelException e) {
            assert !pair.server().isOpen();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void read(SocketChannel channel, ByteBuffer buffer) throws IOException {
        buffer.clear();
        while (buffer.hasRemaining()) {
            int count = channel.read(buffer);
            if (count < 0) {
                throw new ClosedChannelException();
            }
            if (count == 0) {
                if (paused && Thread.currentThread() == echo) {
                    LockSupport.parkNanos(50_000);
                }
                Thread.onSpinWait();
            }
        }
    }

    private static void write(SocketChannel channel, ByteBuffer buffer) throws IOException {
        buffer.clear();
        while (buffer.hasRemaining()) {
            channel.write(buffer);
        }
    }

    @Override
    public void close() throws IOException {
        pair.close();
    }
}
