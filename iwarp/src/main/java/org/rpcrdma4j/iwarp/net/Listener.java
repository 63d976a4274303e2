// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A listening socket. Takes sockets, spreads them over the loops, and asks the program about each valid Request.
 *
 * <p>Two bounds hold: of Requests that wait for an answer (beyond it R=1 is answered), and of sockets from accept to the end
 * of their set-up, which silent peers fill too (beyond it sockets are closed at once).
 *
 * <p>Threads: accepting runs on one loop, the set-ups on their own ones; {@link #close} may be called from any thread.
 */
public final class Listener implements AutoCloseable {

    /**
     * The bounds.
     *
     * @param asking Requests that wait for an answer of the program
     * @param open sockets whose set-up is not over
     */
    public record Limits(int asking, int open) {
        private static final int LEAST_OPEN = 1024;

        public Limits {
            if (asking < 1 || open < asking) {
                throw new IllegalArgumentException(
                        "asking " + asking + ", open " + open + ": need 1 <= asking <= open");
            }
        }

        /** Room for a number of Requests, and for more sockets that have not sent theirs. */
        public static Limits ofBacklog(int backlog) {
            return new Limits(backlog, Math.clamp(4L * backlog, LEAST_OPEN, Integer.MAX_VALUE));
        }
    }

    /** Takes the next socket, or null if there is none. */
    @FunctionalInterface
    interface Source {
        @Nullable
        SocketChannel next() throws IOException;
    }

    private static final int SYSTEM_BACKLOG = 128;
    private static final int ACCEPTS_PER_TURN = 16;
    private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long CLOSE_WAIT_SECONDS = 2;

    private final ServerSocketChannel server;
    private final InetSocketAddress localAddress;
    private final EventLoopGroup group;
    private final EventLoop loop;
    private final Limits limits;
    private final SetUpConfig config;
    private final Counters counters;
    private final WireLog log;
    private final Consumer<InboundRequest> program;
    private final Source source;
    private final Gate gate = new Gate();
    private final AtomicInteger asking = new AtomicInteger();
    private final Set<ResponderSetUp> open = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean closed = new AtomicBoolean();
    private final Registration registration;
    private long pauseNanos = FIRST_PAUSE_NANOS;

    private Listener(
            ServerSocketChannel server,
            Source source,
            Limits limits,
            EventLoopGroup group,
            SetUpConfig config,
            Counters counters,
            WireLog log,
            Consumer<InboundRequest> program)
            throws IOException {
        this.server = server;
        this.source = source;
        this.limits = limits;
        this.group = group;
        this.config = config;
        this.counters = counters;
        this.log = log;
        this.program = program;
        loop = group.nextForSetUp();
        localAddress = (InetSocketAddress) server.getLocalAddress();
        registration = loop.register(server, 0, this::acceptSome);
    }

    /**
     * Listens.
     *
     * @param local port 0 takes a free one
     * @param program told of each Request on a loop's thread; may answer later
     * @throws IOException if the address cannot be bound
     */
    public static Listener open(
            InetSocketAddress local,
            Limits limits,
            EventLoopGroup group,
            SetUpConfig config,
            Counters counters,
            WireLog log,
            Consumer<InboundRequest> program)
            throws IOException {
        ServerSocketChannel server = ServerSocketChannel.open();
        try {
            server.configureBlocking(false);
            server.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            server.bind(local, Math.max(limits.asking(), SYSTEM_BACKLOG));
            return open(server, server::accept, limits, group, config, counters, log, program);
        } catch (IOException | RuntimeException e) {
            server.close();
            throw e;
        }
    }

    static Listener open(
            ServerSocketChannel server,
            Source source,
            Limits limits,
            EventLoopGroup group,
            SetUpConfig config,
            Counters counters,
            WireLog log,
            Consumer<InboundRequest> program)
            throws IOException {
        Listener listener = new Listener(server, source, limits, group, config, counters, log, program);
        listener.registration.interest(SelectionKey.OP_ACCEPT);
        return listener;
    }

    /** The address with the port that was taken. */
    public InetSocketAddress localAddress() {
        return localAddress;
    }

    /** Sockets whose set-up is not over. */
    public int openSetUps() {
        return open.size();
    }

    /** Requests that wait for an answer. */
    public int waitingRequests() {
        return asking.get();
    }

    /**
     * Stops listening. Requests that wait for an answer are rejected, other set-ups cut off, connections live on. When this
     * returns no new connection is taken and, unless called on a loop, the port is free.
     */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        CountDownLatch done = new CountDownLatch(1);
        boolean running = loop.task(() -> {
                    closeServer();
                    // The turn after this one takes the socket from the selector, which closes it for good; then timers
                    // run.
                    if (!loop.schedule(0, done::countDown).isPending()) {
                        done.countDown();
                    }
                })
                .schedule();
        if (!running) {
            closeServer();
        }
        open.forEach(ResponderSetUp::abandon);
        if (running && group.loops().stream().noneMatch(EventLoop::inEventLoop)) {
            await(done);
        }
    }

    private static void await(CountDownLatch done) {
        try {
            if (!done.await(CLOSE_WAIT_SECONDS, TimeUnit.SECONDS)) {
                System.getLogger("org.rpcrdma4j.iwarp")
                        .log(System.Logger.Level.WARNING, "a listener was not closed in {0} s", CLOSE_WAIT_SECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void closeServer() {
        try {
            server.close();
        } catch (IOException e) {
            counters.increment(Counter.ACCEPT_ERRORS);
        }
    }

    private void acceptSome(int readyOps) {
        try {
            for (int i = 0; i < ACCEPTS_PER_TURN && !closed.get(); i++) {
                SocketChannel channel = source.next();
                if (channel == null) {
                    return;
                }
                pauseNanos = FIRST_PAUSE_NANOS;
                counters.increment(Counter.ACCEPTED);
                admit(channel);
            }
        } catch (IOException e) {
            // For want of descriptors the socket stays ready; without a pause this would spin.
            counters.increment(Counter.ACCEPT_ERRORS);
            pause();
        }
    }

    private void pause() {
        if (!closed.get()) {
            registration.interest(0);
            loop.schedule(pauseNanos, () -> registration.interest(SelectionKey.OP_ACCEPT));
            pauseNanos = Math.min(2 * pauseNanos, LONGEST_PAUSE_NANOS);
        }
    }

    private void admit(SocketChannel channel) {
        if (open.size() >= limits.open()) {
            counters.increment(Counter.ACCEPT_TURNED_AWAY);
            TcpOptions.closeQuietly(channel);
            return;
        }
        try {
            TcpOptions.apply(channel);
        } catch (IOException e) {
            // The peer is gone already.
            counters.increment(Counter.ACCEPT_FAILED);
            TcpOptions.closeQuietly(channel);
            return;
        }
        ResponderSetUp setUp = new ResponderSetUp(group.nextForSetUp(), channel, config, gate, counters, log);
        open.add(setUp);
        try {
            setUp.loop().execute(setUp::begin);
        } catch (RejectedExecutionException e) {
            open.remove(setUp);
            TcpOptions.closeQuietly(channel);
        }
        // ORDER: the look at the flag after the entry in the set, as close sets the flag before it goes through the
        // set.
        if (closed.get()) {
            setUp.abandon();
        }
    }

    private final class Gate implements ResponderSetUp.Gate {
        @Override
        public boolean tryAsk() {
            int now = asking.get();
            while (now < limits.asking()) {
                if (asking.compareAndSet(now, now + 1)) {
                    return true;
                }
                now = asking.get();
            }
            return false;
        }

        @Override
        public void ask(InboundRequest request) {
            program.accept(request);
        }

        @Override
        public void answered() {
            asking.decrementAndGet();
        }

        @Override
        public void gone(ResponderSetUp setUp) {
            open.remove(setUp);
        }
    }
}
