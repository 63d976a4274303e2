// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.proxy;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicInteger;

/** One connection through the proxy: two sockets, and a pump for each direction. */
final class Relay {
    private final FaultProxy proxy;
    private final Socket client;
    private final Socket server;
    private final Pump up;
    private final Pump down;
    private final AtomicInteger ended = new AtomicInteger();

    Relay(FaultProxy proxy, Socket client, Socket server) {
        this.proxy = proxy;
        this.client = client;
        this.server = server;
        up = new Pump(client, server, Direction.UP);
        down = new Pump(server, client, Direction.DOWN);
    }

    void start() {
        Thread.ofVirtual().name("fault-proxy-up").start(up::run);
        Thread.ofVirtual().name("fault-proxy-down").start(down::run);
    }

    /** Resets both sides: what was on its way is lost, and both get "connection reset". */
    void reset() {
        reset(client);
        reset(server);
    }

    /** Without lingering, closing sends a reset. */
    static void reset(Socket socket) {
        try (socket) {
            socket.setSoLinger(true, 0);
        } catch (IOException e) {
            // It was closed already: there is nothing to reset.
            return;
        }
    }

    /** The first bytes of a direction in hexadecimal digits, as many as came. */
    String setup(Direction direction) {
        return (direction == Direction.UP ? up : down).setup();
    }

    /** A pump ended; with the second one the connection is over. */
    private void end() {
        if (ended.incrementAndGet() == 2) {
            closeQuietly(client);
            closeQuietly(server);
            proxy.ended(this);
        }
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // There is nothing more to do to it.
            return;
        }
    }

    /** One direction: its thread owns the buffer. */
    private final class Pump {
        private static final int BUFFER_BYTES = 16384;

        /** What a direction says first is kept for {@link FaultProxy#status()} and never damaged: a set-up frame is no FPDU. */
        private static final int SETUP_BYTES = 20;

        private final Socket from;
        private final Socket to;
        private final Direction direction;
        private final byte[] setup = new byte[SETUP_BYTES];
        private int setupLength;

        Pump(Socket from, Socket to, Direction direction) {
            this.from = from;
            this.to = to;
            this.direction = direction;
        }

        void run() {
            byte[] buffer = new byte[BUFFER_BYTES];
            try {
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream();
                for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                    proxy.awaitThawed();
                    if (!pass(buffer, n, out)) {
                        proxy.cut(Relay.this);
                        return;
                    }
                }
                // The other direction may go on, as on a plain connection.
                to.shutdownOutput();
            } catch (IOException e) {
                // One side failed: so does the other.
                reset();
            } finally {
                end();
            }
        }

        /** Passes {@code n} bytes on, with what the fault of this direction does to them; false if the connection is to be cut. */
        private boolean pass(byte[] buffer, int n, OutputStream out) throws IOException {
            Fault.Place place =
                    remember(buffer, n) ? null : proxy.fault(direction).next(n);
            if (place != null && place.kind() == Fault.Kind.CUT) {
                out.write(buffer, 0, place.index());
                return false;
            }
            if (place != null) {
                proxy.flipped();
                buffer[place.index()] ^= 0x10;
            }
            out.write(buffer, 0, n);
            proxy.passed(direction, n);
            return true;
        }

        /** Keeps what belongs to the first bytes; false if they were all there before. */
        private synchronized boolean remember(byte[] buffer, int n) {
            int length = Math.min(n, SETUP_BYTES - setupLength);
            System.arraycopy(buffer, 0, setup, setupLength, length);
            setupLength += length;
            return length > 0;
        }

        synchronized String setup() {
            return HexFormat.of().formatHex(setup, 0, setupLength);
        }
    }
}
