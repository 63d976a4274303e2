// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.bridge;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.tcp.client.TcpRpcClient;
import org.rpcrdma4j.tcp.server.TcpRpcServer;
import org.rpcrdma4j.transport.client.RpcClient;
import org.rpcrdma4j.transport.client.RpcRdmaClient;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.server.RpcRdmaServer;
import org.rpcrdma4j.transport.server.ServerOptions;
import org.rpcrdma4j.transport.time.SystemTime;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.ulb.ResultLimits;
import org.rpcrdma4j.verbs.RdmaDevice;

/**
 * Forwards the calls of any ONC RPC program from clients over TCP to a server over RDMA, or the other way: a client that knows only TCP uses
 * an RDMA server, and a server that knows only TCP gets RDMA.
 *
 * <pre>
 *   client ──(connection)──► server side ──► {@link CallPlan} ──► client side ──(connection of its own)──► server
 *      ◄─────────────────────────────────── {@link ReplyPlan} ◄───────────────────────────────────────────────
 * </pre>
 *
 * <p>Each connection of a client has one of its own to the server, and calls keep their XIDs: the server tells retransmissions from new calls
 * as it would without the bridge. Messages are not changed, credentials and what is unknown included. On the RDMA side, what the bindings
 * name as eligible travels by chunks into and out of the memory from which TCP sends and to which it receives; all else by Position-Zero and
 * Reply chunks, if it is too long for a message. Calls in the reverse direction are not forwarded.
 *
 * <p>When the server can't be reached, calls wait for it to come back; after too many attempts the client's connection is ended, so that the
 * client sends its calls again. Any thread may call any method.
 */
public final class Bridge implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Bridge.class.getName());
    private static final Duration DEFAULT_GRACE = Duration.ofSeconds(10);
    private static final int WORKERS = 4;

    private final BridgeOptions options;
    private final BridgeEnd from;
    private final BridgeEnd to;
    private final @Nullable RdmaDevice device;
    private final SystemTime time = new SystemTime();
    private final ExecutorService worker;
    private @Nullable TcpRpcServer tcpServer;
    private @Nullable RpcRdmaServer rdmaServer;

    private Bridge(Builder builder, BridgeEnd from, BridgeEnd to) {
        this.from = from;
        this.to = to;
        device = builder.device;
        options = builder.toOptions();
        worker = Executors.newFixedThreadPool(
                WORKERS,
                Thread.ofPlatform().daemon().name("rpcrdma-bridge-worker-", 0).factory());
    }

    private void listen() throws IOException {
        if (from.kind() == BridgeEnd.Kind.TCP) {
            tcpServer = TcpRpcServer.builder(new TcpSide(this::connect))
                    .address(from.address())
                    .maxRecordBytes(options.maxRecordBytes())
                    .maxInFlight(options.maxInFlight())
                    .maxConnections(options.maxConnections())
                    .start();
        } else {
            rdmaServer = RpcRdmaServer.builder(requireDevice(), new RdmaSide(this::connect))
                    .address(from.address())
                    .bindings(options.bindings())
                    .options(ServerOptions.builder()
                            .maxPayloadBytes(options.maxPayloadBytes())
                            .credits(options.maxInFlight())
                            .maxConnections(options.maxConnections())
                            .build())
                    .start();
        }
    }

    private RdmaDevice requireDevice() {
        return Objects.requireNonNull(device, "a device, which an end over RDMA needs");
    }

    /** A connection of a client is there: one to the server for it, which is made with its first call. */
    private Upstream connect() {
        options.count(BridgeCounter.CONNECTIONS);
        RpcClient client;
        Duration first = Duration.ofMillis(100);
        Duration longest = Duration.ofSeconds(5);
        if (to.kind() == BridgeEnd.Kind.TCP) {
            client = TcpRpcClient.builder(to.address())
                    .bindings(options.bindings())
                    .maxInFlight(options.maxInFlight())
                    .reconnectDelay(first, longest)
                    .connectAttempts(options.connectAttempts())
                    .time(time)
                    .build();
        } else {
            client = RpcRdmaClient.builder(requireDevice(), to.address())
                    .maxPayloadBytes(options.maxPayloadBytes())
                    .maxInFlight(options.maxInFlight())
                    .reconnectDelay(first, longest)
                    .connectAttempts(options.connectAttempts())
                    .time(time)
                    .worker(worker)
                    .build();
        }
        return new Upstream(client, options);
    }

    /** Begins a bridge. */
    public static Builder builder() {
        return new Builder();
    }

    /** Where it listens, with the port that was taken. */
    public InetSocketAddress localAddress() {
        TcpRpcServer tcp = tcpServer;
        return tcp != null
                ? tcp.localAddress()
                : Objects.requireNonNull(rdmaServer).localAddress();
    }

    /** What it has counted. */
    public Counters<BridgeCounter> counters() {
        return options.counters();
    }

    /** How many connections clients have. */
    public int connections() {
        TcpRpcServer tcp = tcpServer;
        return tcp != null
                ? tcp.connections()
                : Objects.requireNonNull(rdmaServer).connections();
    }

    /** One line for each connection of a client, for people. */
    public List<String> describe() {
        TcpRpcServer tcp = tcpServer;
        return tcp != null ? tcp.describe() : Objects.requireNonNull(rdmaServer).describe();
    }

    /**
     * Ends the bridge in order: no new connections, no new calls; calls that were taken are answered, and then the connections of clients
     * closed, and those to the server with them. What is left when the time is over is aborted.
     *
     * @return completes when the last connection of a client is gone
     */
    public CompletableFuture<Void> shutdown(Duration grace) {
        TcpRpcServer tcp = tcpServer;
        return tcp != null
                ? tcp.shutdown(grace)
                : Objects.requireNonNull(rdmaServer).shutdown(grace);
    }

    /** {@link #shutdown} with a grace of ten seconds, and waits for its end. The device stays the caller's. */
    @Override
    public void close() {
        try {
            shutdown(DEFAULT_GRACE).get(2 * DEFAULT_GRACE.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            LOG.log(Level.WARNING, "bridge not closed in time: " + describe(), e);
        } finally {
            // Clients that are ending yet need no new timers; their workers end with what they have begun.
            worker.shutdown();
            time.close();
        }
    }

    /** Collects what a bridge is made of. Not safe for use by two threads. */
    public static final class Builder {

        private @Nullable BridgeEnd from;
        private @Nullable BridgeEnd to;
        private @Nullable RdmaDevice device;
        private @Nullable Bindings bindings;
        private long maxPayloadBytes = 1 << 20;
        private int maxInFlight = 64;
        private int maxConnections = 256;
        private Duration callTimeout = Duration.ofMinutes(10);
        private int connectAttempts = 8;

        private Builder() {}

        /** Where clients come from. */
        public Builder from(BridgeEnd value) {
            from = value;
            return this;
        }

        /** Where the server is. */
        public Builder to(BridgeEnd value) {
            to = value;
            return this;
        }

        /** The device for ends over RDMA; it stays the caller's, and is closed after the bridge. */
        public Builder device(RdmaDevice value) {
            device = value;
            return this;
        }

        /**
         * What is eligible in which program, and how large replies can be; those of NFS unless set, with replies of up to the largest payload
         * where nothing is known.
         */
        public Builder bindings(Bindings value) {
            bindings = value;
            return this;
        }

        /** Longest argument, result, or other message over RDMA; 1 MiB unless set, up to 16 MiB. */
        public Builder maxPayloadBytes(long value) {
            maxPayloadBytes = value;
            return this;
        }

        /** Calls that each connection may have unanswered, and credits over RDMA; 64 unless set. */
        public Builder maxInFlight(int value) {
            maxInFlight = value;
            return this;
        }

        /** Most connections of clients at a time; 256 unless set. */
        public Builder maxConnections(int value) {
            maxConnections = value;
            return this;
        }

        /** After how long without a reply the client's connection is ended; ten minutes unless set. */
        public Builder callTimeout(Duration value) {
            callTimeout = value;
            return this;
        }

        /** After how many failed attempts in a row to connect to the server the client's connection is ended; 8 unless set. */
        public Builder connectAttempts(int value) {
            connectAttempts = value;
            return this;
        }

        private BridgeOptions toOptions() {
            Bindings known = bindings != null
                    ? bindings
                    : Bindings.nfs(new ResultLimits(
                            maxPayloadBytes, ResultLimits.DEFAULT.pathBytes(), ResultLimits.DEFAULT.ownerBytes()));
            return new BridgeOptions(
                    known,
                    maxPayloadBytes,
                    maxInFlight,
                    maxConnections,
                    callTimeout,
                    connectAttempts,
                    new Counters<>(BridgeCounter.class));
        }

        /**
         * Listens.
         *
         * @throws IOException if the address can't be bound
         * @throws IllegalArgumentException if an end, or the device for one, is missing, or a setting is out of its bounds
         */
        public Bridge start() throws IOException {
            BridgeEnd listenAt = from;
            BridgeEnd target = to;
            if (listenAt == null || target == null) {
                throw new IllegalArgumentException("a bridge has two ends: from " + from + " to " + to);
            }
            boolean needsDevice = listenAt.kind() == BridgeEnd.Kind.RDMA || target.kind() == BridgeEnd.Kind.RDMA;
            if (needsDevice && device == null) {
                throw new IllegalArgumentException("an end over RDMA needs a device");
            }
            Bridge bridge = new Bridge(this, listenAt, target);
            boolean listens = false;
            try {
                bridge.listen();
                listens = true;
                return bridge;
            } finally {
                if (!listens) {
                    bridge.worker.shutdown();
                    bridge.time.close();
                }
            }
        }
    }
}
