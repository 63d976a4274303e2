// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.server;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.export.Export;
import org.rpcrdma4j.nfs.protocol.Mount;
import org.rpcrdma4j.nfs.protocol.Nfs3;
import org.rpcrdma4j.nfs.protocol.Procedure;
import org.rpcrdma4j.tcp.rpcbind.NetworkId;
import org.rpcrdma4j.tcp.rpcbind.RpcbindClient;
import org.rpcrdma4j.tcp.server.TcpRpcServer;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.event.WireListener;
import org.rpcrdma4j.transport.rpc.ProgramTable;
import org.rpcrdma4j.transport.rpc.ReplyCache;
import org.rpcrdma4j.transport.server.ProgramHandler;
import org.rpcrdma4j.transport.server.RpcRdmaServer;
import org.rpcrdma4j.transport.server.ServerOptions;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.ulb.ResultLimits;
import org.rpcrdma4j.verbs.RdmaDevice;

/**
 * Serves one directory by NFS version 3 (RFC 1813), over RDMA (RFC 8267), over TCP, or both. MOUNT version 3 is answered on the same ports,
 * so that a client needs no other.
 *
 * <pre>{@code
 * try (Export export = Export.open(directory, ExportOptions.DEFAULT);
 *         NfsServer server = NfsServer.builder(export)
 *                 .device(device)
 *                 .listen(new InetSocketAddress(host, 20049))
 *                 .start()) { ... }
 * }</pre>
 *
 * <p>Whoever reaches the server may say to be anybody: AUTH_SYS proves nothing. See {@link org.rpcrdma4j.nfs.export.Squash} for what is believed. A caller with AUTH_NONE acts as the anonymous user.
 *
 * <p>States: LISTENING, then by {@link #shutdown} FINISHING (no new connection, no new call, what was accepted is answered), then CLOSED.
 * Any thread may call any method. Export and device are the caller's, and are closed after the server.
 */
public final class NfsServer implements AutoCloseable {

    private static final Duration DEFAULT_GRACE = Duration.ofSeconds(10);
    /** What the transports may take beyond the grace before their end counts as a fault. */
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    /** Of a message, beside its payload: headers, attributes. */
    private static final int MESSAGE_OVERHEAD = 64 << 10;

    private final NfsServices services;
    private final @Nullable RpcRdmaServer rdma;
    private final @Nullable TcpRpcServer tcp;
    private final @Nullable RpcbindEntries registrations;
    private final AtomicBoolean finishing = new AtomicBoolean();
    private final CompletableFuture<Void> finished = new CompletableFuture<>();

    private NfsServer(
            NfsServices services,
            @Nullable RpcRdmaServer rdma,
            @Nullable TcpRpcServer tcp,
            @Nullable RpcbindEntries registrations) {
        this.services = services;
        this.rdma = rdma;
        this.tcp = tcp;
        this.registrations = registrations;
    }

    /** A builder for a server of the export, which stays the caller's. */
    public static Builder builder(Export export) {
        return new Builder(export);
    }

    /** Where it listens over RDMA, with the port that was taken; null if it does not. */
    public @Nullable InetSocketAddress rdmaAddress() {
        return rdma == null ? null : rdma.localAddress();
    }

    /** Where it listens over TCP, with the port that was taken; null if it does not. */
    public @Nullable InetSocketAddress tcpAddress() {
        return tcp == null ? null : tcp.localAddress();
    }

    /** What it has counted, over all transports. */
    public Counters<NfsServerCounter> counters() {
        return services.counters();
    }

    /** How often each procedure of NFS was run; calls that came again and were answered from the memory of replies not included. */
    public Counters<Procedure> calls() {
        return services.calls();
    }

    /** The transport's part for RDMA, for its own counters; null if there is none. */
    public @Nullable RpcRdmaServer rdmaServer() {
        return rdma;
    }

    /** The transport's part for TCP, for its own counters; null if there is none. */
    public @Nullable TcpRpcServer tcpServer() {
        return tcp;
    }

    /** The memory of replies. */
    public ReplyCache.Statistics replyCache() {
        return services.replies().statistics();
    }

    /** Connections over all transports. */
    public int connections() {
        return (rdma == null ? 0 : rdma.connections()) + (tcp == null ? 0 : tcp.connections());
    }

    /** Its state in one line, for people. */
    public String describe() {
        List<String> where = new ArrayList<>();
        if (rdma != null) {
            where.add("RDMA " + rdma.localAddress());
        }
        if (tcp != null) {
            where.add("TCP " + tcp.localAddress());
        }
        Counters<NfsServerCounter> counters = services.counters();
        long calls = services.calls().snapshot().values().stream()
                .mapToLong(Long::longValue)
                .sum();
        return "NFS server of " + services.options().exportName() + " on " + String.join(" and ", where) + ": "
                + connections() + " connections, " + calls + " calls, "
                + counters.get(NfsServerCounter.READ_BYTES) + " bytes read, "
                + counters.get(NfsServerCounter.WRITTEN_BYTES) + " written, "
                + counters.get(NfsServerCounter.FAILURES) + " failures";
    }

    /**
     * Ends the server in order: registrations are taken back, no new connections, no new calls; calls that were accepted are answered, and
     * then the connections closed. What is left when the time is over is aborted. Blocks for as long as rpcbind takes, if that is used.
     *
     * @return completes when the last connection is gone
     */
    public CompletableFuture<Void> shutdown(Duration grace) {
        if (finishing.compareAndSet(false, true)) {
            // ORDER: who asks rpcbind from here on is not sent to a port that is shut.
            if (registrations != null) {
                registrations.removeAll();
            }
            CompletableFuture<Void> rdmaEnd =
                    rdma == null ? CompletableFuture.completedFuture(null) : rdma.shutdown(grace);
            CompletableFuture<Void> tcpEnd =
                    tcp == null ? CompletableFuture.completedFuture(null) : tcp.shutdown(grace);
            var _ = CompletableFuture.allOf(rdmaEnd, tcpEnd).whenComplete((nothing, failure) -> {
                if (failure == null) {
                    finished.complete(null);
                } else {
                    finished.completeExceptionally(failure);
                }
            });
        }
        return finished;
    }

    /** {@link #shutdown}, and waits for its end. */
    public void close(Duration grace) {
        CompletableFuture<Void> end = shutdown(grace);
        try {
            end.get(grace.plus(PATIENCE).toNanos(), TimeUnit.NANOSECONDS);
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

    private void abort() {
        if (rdma != null) {
            rdma.abort();
        }
        if (tcp != null) {
            tcp.abort();
        }
    }

    @Override
    public String toString() {
        return describe();
    }

    /** Collects what a server is made of. */
    public static final class Builder {

        private final Export export;
        private NfsServerOptions options = NfsServerOptions.DEFAULT;
        private @Nullable RdmaDevice device;
        private @Nullable InetSocketAddress rdmaAddress;
        private @Nullable InetSocketAddress tcpAddress;
        private @Nullable WireListener wireListener;
        private @Nullable RpcbindClient rpcbind;
        private SocketOwners socketOwners = ProcNetTcp.ofThisMachine();

        private Builder(Export export) {
            this.export = export;
        }

        /** The device to listen on, which stays the caller's. */
        public Builder device(RdmaDevice value) {
            device = value;
            return this;
        }

        /** Where to listen over RDMA, on the device. */
        public Builder listen(InetSocketAddress value) {
            rdmaAddress = value;
            return this;
        }

        /** Where to listen over TCP. */
        public Builder tcp(InetSocketAddress value) {
            tcpAddress = value;
            return this;
        }

        /** Whether the addresses are registered with this host's rpcbind, if one runs; not unless set here or in the options. */
        public Builder rpcbind(boolean value) {
            options = options.withRpcbind(value);
            return this;
        }

        /** How to behave. */
        public Builder options(NfsServerOptions value) {
            options = value;
            return this;
        }

        /** Is shown every message that comes or goes over RDMA. */
        public Builder wireListener(@Nullable WireListener value) {
            wireListener = value;
            return this;
        }

        /** Who has the sockets of this machine, if not {@code /proc} is to tell. */
        Builder socketOwners(SocketOwners value) {
            socketOwners = value;
            return this;
        }

        /** Another rpcbind than this host's. */
        Builder rpcbind(RpcbindClient value) {
            rpcbind = value;
            return this;
        }

        /**
         * Listens.
         *
         * @throws IOException if an address cannot be bound; nothing is left then
         * @throws IllegalStateException if there is nowhere to listen, or an RDMA address without a device
         */
        public NfsServer start() throws IOException {
            if (rdmaAddress == null && tcpAddress == null) {
                throw new IllegalStateException("no address to listen on");
            }
            NfsServices services = new NfsServices(export, options, socketOwners);
            RpcRdmaServer rdma = null;
            TcpRpcServer tcp = null;
            try {
                rdma = startRdma(services);
                tcp = startTcp(services.table());
            } finally {
                if (rdma != null && tcpAddress != null && tcp == null) {
                    rdma.close();
                }
            }
            return new NfsServer(services, rdma, tcp, options.rpcbind() ? register(rdma, tcp) : null);
        }

        private @Nullable RpcRdmaServer startRdma(NfsServices services) throws IOException {
            InetSocketAddress address = rdmaAddress;
            if (address == null) {
                return null;
            }
            RdmaDevice on = device;
            if (on == null) {
                throw new IllegalStateException("no device to listen on " + address);
            }
            long payload = payload();
            ServerOptions transport = ServerOptions.builder()
                    .credits(options.credits())
                    .handlerThreads(options.handlerThreads())
                    .maxConnections(options.maxConnections())
                    .maxPayloadBytes(payload)
                    .build();
            try {
                return RpcRdmaServer.builder(on, new ProgramHandler(services.table()))
                        .address(address)
                        .options(transport)
                        .bindings(Bindings.nfs(ResultLimits.DEFAULT))
                        .wireListener(wireListener)
                        .start();
            } catch (IOException e) {
                throw cannotListen(address, "RDMA", e);
            }
        }

        private @Nullable TcpRpcServer startTcp(ProgramTable table) throws IOException {
            InetSocketAddress address = tcpAddress;
            if (address == null) {
                return null;
            }
            try {
                return TcpRpcServer.builder(table)
                        .address(address)
                        .maxRecordBytes(Math.toIntExact(payload() + MESSAGE_OVERHEAD))
                        .maxInFlight(options.credits())
                        .maxConnections(options.maxConnections())
                        .start();
            } catch (IOException e) {
                throw cannotListen(address, "TCP", e);
            }
        }

        private long payload() {
            return Math.max(
                    export.options().maxDirectoryBytes(),
                    Math.max(export.options().maxReadBytes(), export.options().maxWriteBytes()));
        }

        private static IOException cannotListen(InetSocketAddress address, String transport, IOException cause) {
            String reason = Objects.requireNonNullElse(cause.getMessage(), cause.toString());
            return new IOException("cannot listen on " + address + " over " + transport + ": " + reason, cause);
        }

        private RpcbindEntries register(@Nullable RpcRdmaServer rdma, @Nullable TcpRpcServer tcp) {
            RpcbindClient at = rpcbind;
            RpcbindEntries entries = new RpcbindEntries(at == null ? RpcbindClient.local() : at);
            if (rdma != null) {
                InetSocketAddress address = rdma.localAddress();
                NetworkId network = NetworkId.rdmaFor(address.getAddress());
                entries.add(Nfs3.PROGRAM, Nfs3.VERSION, network, address);
            }
            if (tcp != null) {
                InetSocketAddress address = tcp.localAddress();
                NetworkId network = NetworkId.tcpFor(address.getAddress());
                entries.add(Nfs3.PROGRAM, Nfs3.VERSION, network, address);
                entries.add(Mount.PROGRAM, Mount.VERSION, network, address);
            }
            return entries;
        }
    }
}
