// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/**
 * Ends a connection so that what was sent last is read by the peer: writes the last words if there are any, sends FIN, reads
 * and drops what comes until the peer's FIN, closes. All of it within one limit of time, after which the socket is closed as
 * it is. Closing at once with unread input would make the system send a reset, which can destroy the last words in the
 * peer's receive queue. Input is dropped from the beginning: a peer that writes before it reads would otherwise never take the
 * last words.
 *
 * <p>States: writing, FIN sent, closed. Threads: the loop's only. Owns channel and registration from {@link #begin} on.
 */
public final class OrderlyClose implements ReadyHandler {
    private static final int READS_PER_TURN = 4;

    private final Registration registration;
    private final SocketChannel channel;
    private final ByteBuffer lastWords;
    private final Runnable onClosed;
    private @Nullable LoopTimer limit;
    private boolean finSent;
    private boolean finSeen;
    private boolean closed;

    private OrderlyClose(
            Registration registration, SocketChannel channel, @Nullable ByteBuffer lastWords, Runnable onClosed) {
        this.registration = registration;
        this.channel = channel;
        this.lastWords = lastWords == null ? ByteBuffer.allocate(0) : lastWords;
        this.onClosed = onClosed;
    }

    /**
     * Takes a connection over and ends it. Loop thread only; never blocks.
     *
     * @param lastWords sent before FIN; null if there are none
     * @param limitNanos for all of it
     * @param onClosed called once on the loop's thread when the socket is closed, possibly inside this call
     */
    public static void begin(
            Registration registration, @Nullable ByteBuffer lastWords, long limitNanos, Runnable onClosed) {
        EventLoop loop = registration.loop();
        assert loop.inEventLoop();
        OrderlyClose close =
                new OrderlyClose(registration, (SocketChannel) registration.channel(), lastWords, onClosed);
        registration.handler(close);
        close.limit = loop.schedule(limitNanos, close::close);
        close.onReady(0);
    }

    @Override
    public void onReady(int readyOps) {
        if (closed) {
            return;
        }
        try {
            if (!finSent) {
                write();
            }
            if ((readyOps & SelectionKey.OP_READ) != 0) {
                drain();
            }
            if (finSent && finSeen) {
                close();
            } else {
                registration.interest((finSent ? 0 : SelectionKey.OP_WRITE) | (finSeen ? 0 : SelectionKey.OP_READ));
            }
        } catch (IOException e) {
            // The peer reset the connection, or the owner closed the channel: nothing is left to be done in order.
            close();
        }
    }

    @Override
    public void onLoopClosed() {
        close();
    }

    private void write() throws IOException {
        if (lastWords.hasRemaining()) {
            channel.write(lastWords);
        }
        if (!lastWords.hasRemaining()) {
            channel.shutdownOutput();
            finSent = true;
        }
    }

    private void drain() throws IOException {
        ByteBuffer dropped = registration.loop().staging();
        for (int i = 0; i < READS_PER_TURN; i++) {
            dropped.clear();
            int count = channel.read(dropped);
            finSeen = count < 0;
            if (count <= 0) {
                return;
            }
        }
    }

    private void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (limit != null) {
            limit.cancel();
        }
        TcpOptions.closeQuietly(channel);
        onClosed.run();
    }
}
