// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.proxy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A TCP relay in front of a server that does harm on command: cuts connections, now or after each so many bytes, stands still, inverts
 * bits. It listens on the loopback interface, on a port of its own choice or a given one, and connects to its target once for each
 * client.
 *
 * <p>Any thread may call any method. Faults act on all connections, present and future ones.
 */
public final class FaultProxy implements AutoCloseable {
    private final ServerSocket listener;
    private final InetSocketAddress target;
    private final Set<Relay> relays = ConcurrentHashMap.newKeySet();
    private final Fault faultUp = new Fault();
    private final Fault faultDown = new Fault();
    private final AtomicLong bytesUp = new AtomicLong();
    private final AtomicLong bytesDown = new AtomicLong();
    private final AtomicLong connections = new AtomicLong();
    private final AtomicLong cuts = new AtomicLong();
    private final AtomicLong flips = new AtomicLong();
    private final Object gate = new Object();
    private boolean frozen;
    private volatile boolean closed;
    private volatile @Nullable Relay newest;

    private FaultProxy(ServerSocket listener, InetSocketAddress target) {
        this.listener = listener;
        this.target = target;
    }

    /**
     * Starts one.
     *
     * @param port where to listen, 0 for any
     * @param target where to connect to, at each connection anew
     * @throws IOException the port cannot be had
     */
    public static FaultProxy start(int port, InetSocketAddress target) throws IOException {
        ServerSocket listener = new ServerSocket(port, 64, InetAddress.getLoopbackAddress());
        FaultProxy proxy = new FaultProxy(listener, target);
        Thread.ofVirtual().name("fault-proxy-accept").start(proxy::accept);
        return proxy;
    }

    /** Where clients connect to. */
    public InetSocketAddress address() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.getLocalPort());
    }

    /** Resets all connections that there are. New ones are taken. */
    public void cut() {
        for (Relay relay : List.copyOf(relays)) {
            cut(relay);
        }
    }

    /** Resets a connection in the midst of what it carries each time that {@code everyBytes} have gone in a direction. */
    public void cutEvery(Direction direction, long everyBytes) {
        fault(direction).set(Fault.Kind.CUT, everyBytes);
    }

    /** Resets the connection that carries the next bytes of a direction, once, and passes none of these bytes on. */
    public void cutNext(Direction direction) {
        fault(direction).setOnce(Fault.Kind.CUT);
    }

    /** Inverts one bit each time that {@code everyBytes} have gone in a direction; never in the first bytes of a connection. */
    public void flipEvery(Direction direction, long everyBytes) {
        fault(direction).set(Fault.Kind.FLIP, everyBytes);
    }

    /** No more faults by count, in either direction. */
    public void heal() {
        faultUp.set(null, 0);
        faultDown.set(null, 0);
    }

    /** Passes nothing on any more; connections stay open and new ones are taken. */
    public void freeze() {
        synchronized (gate) {
            frozen = true;
        }
    }

    /** Goes on after {@link #freeze()}. */
    public void thaw() {
        synchronized (gate) {
            frozen = false;
            gate.notifyAll();
        }
    }

    /** What was counted until now. */
    public Status status() {
        Relay last = newest;
        return new Status(
                connections.get(),
                relays.size(),
                cuts.get(),
                flips.get(),
                bytesUp.get(),
                bytesDown.get(),
                last == null ? "" : last.setup(Direction.UP),
                last == null ? "" : last.setup(Direction.DOWN));
    }

    /** Resets all connections and listens no more. */
    @Override
    public void close() throws IOException {
        closed = true;
        thaw();
        listener.close();
        relays.forEach(Relay::reset);
    }

    private void accept() {
        while (!closed) {
            try {
                Socket client = listener.accept();
                Thread.ofVirtual().name("fault-proxy-connect").start(() -> connect(client));
            } catch (IOException e) {
                // The listener was closed; a failure to accept one connection leaves it open.
                if (listener.isClosed()) {
                    return;
                }
            }
        }
    }

    private void connect(Socket client) {
        try {
            awaitThawed();
            Socket server = new Socket(target.getAddress(), target.getPort());
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
            Relay relay = new Relay(this, client, server);
            relays.add(relay);
            newest = relay;
            connections.incrementAndGet();
            relay.start();
            if (closed) {
                relay.reset();
            }
        } catch (IOException e) {
            // The target refuses: so do we, by a reset as its own kernel would send one.
            Relay.reset(client);
        }
    }

    Fault fault(Direction direction) {
        return direction == Direction.UP ? faultUp : faultDown;
    }

    void cut(Relay relay) {
        cuts.incrementAndGet();
        relay.reset();
    }

    void flipped() {
        flips.incrementAndGet();
    }

    void passed(Direction direction, int n) {
        (direction == Direction.UP ? bytesUp : bytesDown).addAndGet(n);
    }

    void ended(Relay relay) {
        relays.remove(relay);
    }

    /** Returns when nothing is frozen. */
    void awaitThawed() throws IOException {
        synchronized (gate) {
            while (frozen && !closed) {
                try {
                    gate.wait();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new IOException("interrupted while frozen", e);
                }
            }
        }
    }

    /**
     * Counters of a proxy.
     *
     * @param connections taken, ever
     * @param open of them now
     * @param cuts connections reset by command or count
     * @param flips bits inverted
     * @param bytesUp passed from clients to the server
     * @param bytesDown passed from the server to clients
     * @param setupUp the first bytes of the newest connection's client, at most 20, in hexadecimal digits
     * @param setupDown and those of its server: an MPA reply's key, flags, revision and length
     */
    public record Status(
            long connections,
            int open,
            long cuts,
            long flips,
            long bytesUp,
            long bytesDown,
            String setupUp,
            String setupDown) {

        /** One line of NAME=VALUE pairs. */
        @Override
        public String toString() {
            return "connections=" + connections + " open=" + open + " cuts=" + cuts + " flips=" + flips + " up="
                    + bytesUp + " down=" + bytesDown + " setup_up=" + setupUp + " setup_down=" + setupDown;
        }
    }
}
