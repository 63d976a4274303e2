// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.server;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
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

    private @Nullable Counters<TcpServerCounter> counters;

    private TcpRpcServer() {}

    /** A builder for a server of these programs. Each call runs on a thread of its own; replies leave as they are ready. */
    public static Builder builder(ProgramTable programs) {
        return new Builder();
    }

    /** Where it listens, with the port that was taken. */
    public InetSocketAddress localAddress() {
        return new InetSocketAddress(connections());
    }

    /** What it has counted. */
    public Counters<TcpServerCounter> counters() {
        return Objects.requireNonNull(counters);
    }

    /** How many connections there are, ending ones included. */
    public int connections() {
        return 0;
    }

    /**
     * Ends the server in order: no new connections, no new calls; calls that were taken are answered, and then the connections closed. What
     * is left when the time is over is aborted.
     *
     * @return completes when the last connection is gone
     */
    public CompletableFuture<Void> shutdown(Duration grace) {
        return new CompletableFuture<>();
    }

    /** Ends the server at once: connections are broken off, calls that were taken get no reply. */
    public void abort() {}

    /** {@link #shutdown} with a grace of ten seconds, and waits for its end. */
    @Override
    public void close() {}

    /** Collects what a server is made of. */
    public static final class Builder {

        private InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        private int maxRecordBytes = 2 << 20;
        private int maxInFlight = 64;
        private int maxConnections = 1024;
        private int backlog = 128;
        private long memoryBytes;
        private Duration idleTimeout = Duration.ZERO;
        private Duration stallTimeout = Duration.ofSeconds(60);
        private @Nullable Executor handlers;

        private Builder() {}

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

        /** Memory for calls and results of all connections together; 128 MiB, or what 16 records take, unless set. */
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
            if (maxRecordBytes > 0) {
                throw new IOException("not there yet: " + address + maxInFlight + maxConnections + backlog + memoryBytes
                        + idleTimeout + stallTimeout + handlers);
            }
            return new TcpRpcServer();
        }
    }
}
