// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.server;

import java.io.Closeable;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.rpc.ProgramTable;

/**
 * A server of ONC RPC over TCP (RFC 5531, Section 11): listens on one address and serves each connection that comes.
 *
 * <pre>{@code
 * try (TcpRpcServer server = TcpRpcServer.builder(programs)
 *         .address(new InetSocketAddress(host, 2049))
 *         .start()) { ... }
 * }</pre>
 *
 * <p>States: LISTENING, then by {@link #shutdown} FINISHING (no new connection, no new call, what was taken is answered), then CLOSED. Any
 * thread may call any method.
 */
public final class TcpRpcServer implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(TcpRpcServer.class.getName());
    private static final Duration DEFAULT_GRACE = Duration.ofSeconds(10);
    private static final int LOOKS_PER_LIMIT = 4;
    private static final long LONGEST_LOOK_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long SHORTEST_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final Duration ACCEPTOR_END = Duration.ofSeconds(1);
    private static final long ACCEPT_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final ServerSocketChannel listening;
    private final InetSocketAddress localAddress;
    private final TcpServerContext context;
    private final TcpServerOptions options;
    private final @Nullable ExecutorService owned;
    private final Set<TcpServerConnection> connections = new HashSet<>();
    private final CompletableFuture<Void> finished = new CompletableFuture<>();
    private final Thread watch;
    private final Thread acceptor;
    private final AtomicLong lastId = new AtomicLong();
    private boolean finishing;

    private TcpRpcServer(
            TcpServerOptions options, RecordService service, @Nullable ExecutorService owned, InetSocketAddress address)
            throws IOException {
        this.options = options;
        this.owned = owned;
        long half = options.memoryBytes() / 2;
        context = new TcpServerContext(
                options,
                service,
                new RecordMemory(half),
                new RecordMemory(half),
                new Counters<>(TcpServerCounter.class),
                this::onClosed);
        listening = ServerSocketChannel.open();
        boolean bound = false;
        try {
            listening.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            listening.bind(address, options.backlog());
            if (!(listening.getLocalAddress() instanceof InetSocketAddress local)) {
                throw new IOException("bound to nothing");
            }
            localAddress = local;
            bound = true;
        } finally {
            if (!bound) {
                listening.close();
            }
        }
        watch = Thread.ofVirtual().name("rpcrdma-tcp-watch").unstarted(this::watch);
        acceptor = Thread.ofVirtual().name("rpcrdma-tcp-accept").unstarted(this::accept);
    }

    private void start() {
        watch.start();
        acceptor.start();
    }

    /** A builder for a server of these programs. Each call runs on a thread of its own; replies leave as they are ready. */
    public static Builder builder(ProgramTable programs) {
        return new Builder(executor -> new ProgramService(programs, executor));
    }

    /** A builder for a server of whole records, whatever is in them. */
    public static Builder builder(RecordService service) {
        return new Builder(executor -> service);
    }

    /** Where it listens, with the port that was taken. */
    public InetSocketAddress localAddress() {
        return localAddress;
    }

    /** What it has counted. Bytes are added when a connection ends. */
    public Counters<TcpServerCounter> counters() {
        return context.counters();
    }

    /** How many connections there are, ending ones included. */
    public int connections() {
        synchronized (connections) {
            return connections.size();
        }
    }

    /** One line for each connection, for people. */
    public List<String> describe() {
        return snapshot().stream().map(TcpServerConnection::toString).toList();
    }

    private List<TcpServerConnection> snapshot() {
        synchronized (connections) {
            return List.copyOf(connections);
        }
    }

    private void accept() {
        while (listening.isOpen()) {
            try {
                admit(listening.accept());
            } catch (IOException e) {
                LOG.log(Level.DEBUG, () -> localAddress + ": " + e);
                if (listening.isOpen()) {
                    // No file is left for one more connection; that passes.
                    LockSupport.parkNanos(ACCEPT_PAUSE_NANOS);
                }
            }
        }
    }

    private void admit(SocketChannel channel) throws IOException {
        TcpServerConnection connection = null;
        synchronized (connections) {
            if (!finishing && connections.size() < options.maxConnections()) {
                try {
                    connection = new TcpServerConnection(context, channel, lastId.incrementAndGet());
                    connections.add(connection);
                } catch (IOException e) {
                    LOG.log(Level.DEBUG, "gone before it was accepted", e);
                }
            }
        }
        if (connection == null) {
            context.counters().increment(TcpServerCounter.REFUSED_CONNECTS);
            channel.close();
        } else {
            context.counters().increment(TcpServerCounter.CONNECTS);
            connection.start();
        }
    }

    private void watch() {
        long shortest = options.stallTimeout().toNanos();
        if (!options.idleTimeout().isZero()) {
            shortest = Math.min(shortest, options.idleTimeout().toNanos());
        }
        long pause = Math.clamp(shortest / LOOKS_PER_LIMIT, SHORTEST_LOOK_NANOS, LONGEST_LOOK_NANOS);
        while (!finished.isDone()) {
            LockSupport.parkNanos(pause);
            long now = System.nanoTime();
            snapshot().forEach(connection -> connection.look(now));
            context.memory().trim();
            context.results().trim();
        }
    }

    private void onClosed(TcpServerConnection connection) {
        synchronized (connections) {
            connections.remove(connection);
        }
        finishIfEmpty();
    }

    private void finishIfEmpty() {
        boolean done;
        synchronized (connections) {
            done = finishing && connections.isEmpty();
        }
        if (done && finished.complete(null)) {
            LockSupport.unpark(watch);
            if (owned != null) {
                owned.shutdown();
            }
        }
    }

    /**
     * Ends the server in order: no new connections, no new calls; calls that were taken are answered, and then the connections closed. What
     * is left when the time is over is aborted.
     *
     * @return completes when the last connection is gone
     */
    public CompletableFuture<Void> shutdown(Duration grace) {
        stopListening();
        snapshot().forEach(TcpServerConnection::finish);
        finishIfEmpty();
        if (!finished.isDone()) {
            Thread.ofVirtual().name("rpcrdma-tcp-grace").start(() -> abortAfter(grace));
        }
        return finished;
    }

    private void abortAfter(Duration grace) {
        try {
            finished.get(grace.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException | InterruptedException | ExecutionException e) {
            abort();
        }
    }

    private void stopListening() {
        synchronized (connections) {
            finishing = true;
        }
        closeQuietly(listening);
        try {
            // ORDER: the port is free, for a server that starts in this one's place, once nobody waits to accept.
            boolean _ = acceptor.join(ACCEPTOR_END);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends the server at once: connections are broken off, calls that were taken get no reply. */
    public void abort() {
        stopListening();
        snapshot().forEach(connection -> connection.abort("the server is aborted"));
        finishIfEmpty();
    }

    private static void closeQuietly(Closeable closed) {
        try {
            closed.close();
        } catch (IOException e) {
            LOG.log(Level.DEBUG, "close", e);
        }
    }

    /** {@link #shutdown} with a grace of ten seconds, and waits for its end. */
    @Override
    public void close() {
        try {
            shutdown(DEFAULT_GRACE).get(2 * DEFAULT_GRACE.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            abort();
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            LOG.log(Level.WARNING, "server not closed in time: " + describe(), e);
        }
    }

    /** Collects what a server is made of. */
    public static final class Builder {

        private final Function<Executor, RecordService> service;
        private InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        private int maxRecordBytes = 2 << 20;
        private int maxInFlight = 64;
        private int maxConnections = 1024;
        private int backlog = 128;
        private long memoryBytes;
        private Duration idleTimeout = Duration.ZERO;
        private Duration stallTimeout = Duration.ofSeconds(60);
        private @Nullable Executor handlers;

        private Builder(Function<Executor, RecordService> service) {
            this.service = service;
        }

        /** Where to listen; without it, a port of the loopback address that is free. */
        public Builder address(InetSocketAddress value) {
            address = Objects.requireNonNull(value, "value");
            return this;
        }

        /** Longest record taken; 2 MiB unless set. A longer one ends its connection. */
        public Builder maxRecordBytes(int value) {
            maxRecordBytes = value;
            return this;
        }

        /** Calls that each connection may have unanswered before it is not read any more; 64 unless set. */
        public Builder maxInFlight(int value) {
            maxInFlight = value;
            return this;
        }

        /** Most connections at a time; further ones are closed at once; 1024 unless set. */
        public Builder maxConnections(int value) {
            maxConnections = value;
            return this;
        }

        /** Most connections that wait to be accepted; 128 unless set. */
        public Builder backlog(int value) {
            backlog = value;
            return this;
        }

        /** Memory of all connections together, half for calls and half for results; 128 MiB, or what 16 records take, unless set. */
        public Builder memoryBytes(long value) {
            memoryBytes = value;
            return this;
        }

        /** Connections without a call for so long are ended; zero, the default, for never. */
        public Builder idleTimeout(Duration value) {
            idleTimeout = value;
            return this;
        }

        /** How long a record that has begun, or a reply, may make no progress; 60 s unless set. */
        public Builder stallTimeout(Duration value) {
            stallTimeout = value;
            return this;
        }

        /** Where procedures run, in place of a virtual thread for each call. If it refuses a call, the connection ends. */
        public Builder handlerExecutor(Executor value) {
            handlers = Objects.requireNonNull(value, "value");
            return this;
        }

        /**
         * Listens.
         *
         * @throws IOException if the address cannot be bound
         * @throws IllegalArgumentException if a setting is out of its bounds
         */
        public TcpRpcServer start() throws IOException {
            long memory = memoryBytes > 0 ? memoryBytes : Math.max(128L << 20, 16L * maxRecordBytes);
            TcpServerOptions options = new TcpServerOptions(
                    maxRecordBytes, maxInFlight, maxConnections, backlog, memory, idleTimeout, stallTimeout);
            ExecutorService own = null;
            Executor executor = handlers;
            if (executor == null) {
                own = Executors.newVirtualThreadPerTaskExecutor();
                executor = own;
            }
            TcpRpcServer server = new TcpRpcServer(options, service.apply(executor), own, address);
            server.start();
            return server;
        }
    }
}
