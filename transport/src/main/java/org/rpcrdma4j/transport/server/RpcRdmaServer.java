// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.connection.DisconnectCause;
import org.rpcrdma4j.transport.event.ConnectionLabel;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.event.Gauge;
import org.rpcrdma4j.transport.event.Gauges;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.transport.event.ServerEvents;
import org.rpcrdma4j.transport.event.WireListener;
import org.rpcrdma4j.transport.time.TimeSource;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.cm.ConnectRequest;
import org.rpcrdma4j.verbs.cm.ListenEndpoint;
import org.rpcrdma4j.verbs.cm.Octets;

/**
 * A server of RPC-over-RDMA version 1: listens on one address of a device and serves each connection that comes.
 *
 * <pre>{@code
 * try (RpcRdmaServer server = RpcRdmaServer.builder(device, new ProgramHandler(programs))
 *         .address(new InetSocketAddress(host, 20049))
 *         .bindings(bindings)
 *         .start()) { ... }
 * }</pre>
 *
 * <p>States: LISTENING, then by {@link #shutdown} FINISHING (no new connection, no new call, what was accepted is answered), then CLOSED.
 * Any thread may call any method. The device is the caller's and is closed after the server.
 */
public final class RpcRdmaServer implements AutoCloseable {

    /** RFC 8267, Section 6.3: where NFS is served over RDMA. */
    public static final int NFS_PORT = 20049;

    private static final System.Logger LOG = System.getLogger(RpcRdmaServer.class.getName());
    private static final Duration DEFAULT_GRACE = Duration.ofSeconds(10);

    private final ServerContext context;
    private final List<AutoCloseable> owned;
    private final Set<ServerConnection> connections = ConcurrentHashMap.newKeySet();
    private final CompletableFuture<Void> finished = new CompletableFuture<>();
    private final ListenEndpoint listening;
    private int accepting;
    private boolean finishing;

    private RpcRdmaServer(ServerContext context, List<AutoCloseable> owned, InetSocketAddress address)
            throws IOException {
        this.context = context;
        this.owned = owned;
        listening = context.device()
                .connectionManager()
                .listen(address, context.options().backlog(), this::onConnectRequest);
    }

    /** A builder for a server on the device. */
    public static Builder builder(RdmaDevice device, RequestHandler handler) {
        return new Builder(device, handler);
    }

    /** Where it listens, with the port that was taken. */
    public InetSocketAddress localAddress() {
        return listening.localAddress();
    }

    /** How it behaves. */
    public ServerOptions options() {
        return context.options();
    }

    /** What it has counted. */
    public Counters<ServerCounter> counters() {
        return context.counters();
    }

    /** How many connections there are, ending ones included. */
    public int connections() {
        return connections.size();
    }

    /** One line for each connection, for people. */
    public List<String> describe() {
        List<String> lines = new ArrayList<>();
        connections.forEach(connection -> lines.add(connection.toString()));
        return lines;
    }

    /** Levels of this moment: the connections, and the device's account of memory. */
    public Gauges gauges() {
        return new Gauges()
                .set(Gauge.CONNECTIONS, connections())
                .set(context.device().ledger());
    }

    private void onConnectRequest(ConnectRequest request) {
        boolean full;
        synchronized (connections) {
            full = finishing
                    || connections.size() + accepting >= context.options().maxConnections();
            accepting += full ? 0 : 1;
        }
        if (full) {
            context.counters().increment(ServerCounter.ACCEPT_FAILURES);
            request.reject(Octets.EMPTY);
            return;
        }
        try {
            context.worker().execute(() -> accept(request));
        } catch (RejectedExecutionException e) {
            accept(request);
        }
    }

    /** On the worker: buffers are made and registered here. */
    private void accept(ConnectRequest request) {
        ServerConnection connection = null;
        String refusal = "the server is closing";
        try {
            connection = ServerConnection.create(context, request, this::onClosed);
        } catch (IllegalStateException | IllegalArgumentException | OutOfMemoryError e) {
            refusal = String.valueOf(e.getMessage());
        }
        boolean ends;
        synchronized (connections) {
            accepting--;
            ends = finishing;
            if (connection != null) {
                connections.add(connection);
            }
        }
        if (connection != null && !ends) {
            connection.accept(request);
            return;
        }
        if (connection != null) {
            connection.abort(DisconnectCause.LOCAL_CLOSE, refusal);
        }
        refused(request, refusal);
        finishIfEmpty();
    }

    private void refused(ConnectRequest request, String refusal) {
        context.counters().increment(ServerCounter.ACCEPT_FAILURES);
        ServerEvents.acceptFailed(
                new ConnectionLabel(
                        0,
                        context.nextConnection(),
                        ConnectionLabel.Side.SERVER,
                        request.remoteAddress().toString()),
                "ENDPOINT",
                refusal);
        context.log().warn("connection from " + request.remoteAddress() + " refused: " + refusal);
        reject(request);
    }

    /** Answers a request that is not accepted, unless it is answered or gone already. */
    static void reject(ConnectRequest request) {
        try {
            request.reject(Octets.EMPTY);
        } catch (IllegalStateException e) {
            LOG.log(Level.DEBUG, "the request was gone already", e);
        }
    }

    private void onClosed(ServerConnection connection) {
        synchronized (connections) {
            connections.remove(connection);
        }
        finishIfEmpty();
    }

    private void finishIfEmpty() {
        boolean done;
        synchronized (connections) {
            done = finishing && accepting == 0 && connections.isEmpty();
        }
        if (done && finished.complete(null)) {
            owned.forEach(RpcRdmaServer::closeQuietly);
        }
    }

    /**
     * Ends the server in order: no new connections, no new calls; calls that were accepted are answered, their replies sent, and then the
     * connections closed. What is left when the time is over is aborted.
     *
     * @return completes when the last connection is gone
     */
    public CompletableFuture<Void> shutdown(Duration grace) {
        boolean first;
        synchronized (connections) {
            first = !finishing;
            finishing = true;
        }
        if (first) {
            listening.close();
        }
        if (!finished.isDone()) {
            connections.forEach(ServerConnection::finish);
            TimeSource.Timer timer = context.time().schedule(grace.toNanos(), this::abort);
            var _ = finished.whenComplete((nothing, failure) -> timer.cancel());
            finishIfEmpty();
        }
        return finished;
    }

    /** Ends the server at once: connections are broken off, accepted calls get no reply. */
    public void abort() {
        synchronized (connections) {
            finishing = true;
        }
        listening.close();
        connections.forEach(connection -> connection.abort(DisconnectCause.LOCAL_CLOSE, "the server is aborted"));
        finishIfEmpty();
    }

    /** {@link #shutdown}, and waits for its end. */
    public void close(Duration grace) {
        CompletableFuture<Void> end = shutdown(grace);
        try {
            // The grace, and the time that the ends of connections may take after it.
            end.get(
                    grace.plus(context.options().drainTimeout())
                            .plus(DEFAULT_GRACE)
                            .toNanos(),
                    TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            abort();
        } catch (ExecutionException | TimeoutException e) {
            throw new IllegalStateException("the server's connections did not end: " + describe(), e);
        }
    }

    /** {@link #close(Duration)} with ten seconds. */
    @Override
    public void close() {
        close(DEFAULT_GRACE);
    }

    private static void closeQuietly(AutoCloseable resource) {
        try {
            resource.close();
        } catch (Exception e) {
            LOG.log(Level.WARNING, "at the end of the server", e);
        }
    }

    @Override
    public String toString() {
        return "RPC-over-RDMA server on " + localAddress() + ", " + connections.size() + " connections";
    }

    /** Collects what a server is made of. */
    public static final class Builder {

        private final RdmaDevice device;
        private final RequestHandler handler;
        private InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), NFS_PORT);
        private ServerOptions options = ServerOptions.DEFAULT;
        private Bindings bindings = Bindings.none(ServerOptions.DEFAULT.maxPayloadBytes());
        private @Nullable Executor handlers;
        private @Nullable Executor worker;
        private @Nullable TimeSource time;
        private @Nullable WireListener wireListener;

        private Builder(RdmaDevice device, RequestHandler handler) {
            this.device = device;
            this.handler = handler;
        }

        /** Where to listen; without it, port 20049 of the loopback address. */
        public Builder address(InetSocketAddress value) {
            address = value;
            return this;
        }

        /** How to behave. */
        public Builder options(ServerOptions value) {
            options = value;
            return this;
        }

        /** Which items of which program's messages may be reduced; without it, none of any. */
        public Builder bindings(Bindings value) {
            bindings = value;
            return this;
        }

        /**
         * Where handlers run, in place of the server's own threads. It may refuse, then the call waits. It may run them at once, on the
         * device's thread: then they must not block.
         */
        public Builder handlerExecutor(Executor value) {
            handlers = value;
            return this;
        }

        /** What runs work that may wait for the device, in place of a thread of the server's own. */
        public Builder worker(Executor value) {
            worker = value;
            return this;
        }

        /** The clock, in place of the system's. */
        public Builder time(TimeSource value) {
            time = value;
            return this;
        }

        /** Is shown every message. */
        public Builder wireListener(@Nullable WireListener value) {
            wireListener = value;
            return this;
        }

        /**
         * Listens.
         *
         * @throws IOException if the address cannot be bound
         */
        public RpcRdmaServer start() throws IOException {
            ServerThreads threads = new ServerThreads();
            try {
                ServerContext context = new ServerContext(
                        device,
                        options,
                        handler,
                        bindings,
                        handlers != null ? handlers : threads.handlers(options.handlerThreads()),
                        worker != null ? worker : threads.worker(),
                        time != null ? time : threads.time(),
                        new Counters<>(ServerCounter.class),
                        WireListener.guarded(wireListener),
                        new MemoryBudget(options.serverMemoryBytes()),
                        new FatalXids(FATAL_XIDS, FATAL_XID_NANOS),
                        new AtomicInteger(),
                        new BoundedLog());
                return new RpcRdmaServer(context, threads.owned(), address);
            } catch (IOException | RuntimeException e) {
                threads.owned().forEach(RpcRdmaServer::closeQuietly);
                throw e;
            }
        }
    }

    private static final int FATAL_XIDS = 1024;
    private static final long FATAL_XID_NANOS = TimeUnit.MINUTES.toNanos(10);
}
