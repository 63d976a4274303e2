// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.client;

import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.client.RpcClient;
import org.rpcrdma4j.transport.client.TransportException;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.time.SystemTime;
import org.rpcrdma4j.transport.time.TimeSource;
import org.rpcrdma4j.transport.ulb.Bindings;

/**
 * A client of one server: sends RPC calls over TCP with record marking (RFC 5531, Section 11) and gives back their replies, as the client
 * over RDMA does: the eligible result that the bindings name is read from the socket into the call's target, and items are written from
 * where they lie.
 *
 * <p>It connects when the first call is there, and again whenever a connection is lost; calls without reply are then sent anew, with the
 * same XID. Each call ends exactly once, with a reply or a {@link TransportException}, and never before nothing reads or writes its memory
 * any more.
 *
 * <p>All methods may be called from any thread.
 */
public final class TcpRpcClient implements RpcClient {

    private static final System.Logger LOG = System.getLogger(TcpRpcClient.class.getName());

    private final TcpClientOptions options;
    private final Counters<TcpClientCounter> counters = new Counters<>(TcpClientCounter.class);
    private final AtomicInteger lastXid =
            new AtomicInteger(ThreadLocalRandom.current().nextInt());

    private final TcpRequester requester;
    private final @Nullable SystemTime ownTime;

    private TcpRpcClient(Builder builder) {
        options = builder.toOptions();
        TimeSource given = builder.time;
        ownTime = given == null ? new SystemTime() : null;
        requester = new TcpRequester(options, given == null ? Objects.requireNonNull(ownTime) : given, counters);
        Thread.ofVirtual().name("rpcrdma-tcp-client").start(new ConnectionKeeper(requester, options, builder.bindings));
    }

    /** Begins a client of the server at the address. */
    public static Builder builder(InetSocketAddress address) {
        return new Builder(address);
    }

    @Override
    public int nextXid() {
        return lastXid.incrementAndGet();
    }

    @Override
    public CompletableFuture<Reply> send(CallMessage message) {
        return requester.send(message);
    }

    @Override
    public Reply call(CallMessage message) throws TransportException {
        CompletableFuture<Reply> pending = send(message);
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return pending.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                    pending.cancel(false);
                }
            }
        } catch (ExecutionException e) {
            throw asThrown(e);
        } catch (CancellationException e) {
            throw new TransportException(TransportException.Kind.CANCELLED, true, "interrupted while waiting", e);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static TransportException asThrown(ExecutionException e) {
        if (e.getCause() instanceof TransportException cause) {
            // A new one, so that the trace shows the thread that waited.
            return new TransportException(cause.kind(), cause.undecided(), String.valueOf(cause.getMessage()), cause);
        }
        throw new IllegalStateException("call ended in an unforeseen way", e.getCause());
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return options.address();
    }

    /** What this client has counted. */
    public Counters<TcpClientCounter> counters() {
        return counters;
    }

    /** Ends the client: calls without reply fail with {@link TransportException.Kind#CLOSED}. Waits until nothing of them is left. */
    @Override
    public void close() {
        boolean interrupted = false;
        boolean isGone = false;
        try {
            isGone = requester.close(options.closeTimeout());
        } catch (InterruptedException e) {
            interrupted = true;
        }
        if (!isGone) {
            LOG.log(Level.WARNING, "client not closed in time: " + requester);
        }
        if (ownTime != null) {
            ownTime.close();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Its state in words, for logs. */
    @Override
    public String toString() {
        return requester.toString();
    }

    /** How a client is to behave. Not safe for use by two threads. */
    public static final class Builder {

        private final InetSocketAddress address;
        private int maxInFlight = 128;
        private int maxQueued = 16_384;
        private int maxTransmissions = 8;
        private int maxRecordBytes = 17 << 20;
        private Duration connectTimeout = Duration.ofSeconds(10);
        private Duration callTimeout = Duration.ofSeconds(60);
        private Duration closeTimeout = Duration.ofSeconds(5);
        private Duration reconnectDelay = Duration.ofMillis(100);
        private Duration maxReconnectDelay = Duration.ofSeconds(30);
        private int connectAttempts;
        private Duration fenceGrace = Duration.ofSeconds(1);
        private Duration idleTimeout = Duration.ZERO;
        private @Nullable Bindings bindings;
        private @Nullable TimeSource time;

        private Builder(InetSocketAddress address) {
            this.address = Objects.requireNonNull(address, "address");
        }

        /** Most calls that were sent and have no reply; 128 unless set. */
        public Builder maxInFlight(int value) {
            maxInFlight = value;
            return this;
        }

        /** Most calls that wait to be sent; 16384 unless set. */
        public Builder maxQueued(int value) {
            maxQueued = value;
            return this;
        }

        /** On how many connections one call is sent before it fails; 8 unless set. */
        public Builder maxTransmissions(int value) {
            maxTransmissions = value;
            return this;
        }

        /** Longest record sent and taken; 17 MiB unless set. */
        public Builder maxRecordBytes(int value) {
            maxRecordBytes = value;
            return this;
        }

        /** Limit for one attempt to connect; 10 s unless set. */
        public Builder connectTimeout(Duration value) {
            connectTimeout = value;
            return this;
        }

        /** Limit for a call that sets none; 60 s unless set. */
        public Builder callTimeout(Duration value) {
            callTimeout = value;
            return this;
        }

        /** How long {@link TcpRpcClient#close} waits; 5 s unless set. */
        public Builder closeTimeout(Duration value) {
            closeTimeout = value;
            return this;
        }

        /** The first delay before a lost connection is made again, doubled up to the longest; 100 ms and 30 s unless set. */
        public Builder reconnectDelay(Duration first, Duration longest) {
            reconnectDelay = first;
            maxReconnectDelay = longest;
            return this;
        }

        /** After how many failed attempts in a row the waiting calls fail; 0, the default, lets them wait for their deadlines. */
        public Builder connectAttempts(int value) {
            connectAttempts = value;
            return this;
        }

        /** How long the memory of a call that was given up may be in use yet before the connection is ended for it; 1 s unless set. */
        public Builder fenceGrace(Duration value) {
            fenceGrace = value;
            return this;
        }

        /** After how long without a call the connection is ended; zero, the default, for never. */
        public Builder idleTimeout(Duration value) {
            idleTimeout = value;
            return this;
        }

        /** Which result of which procedure goes to a call's target; without bindings results stay in their replies. */
        public Builder bindings(Bindings value) {
            bindings = Objects.requireNonNull(value, "value");
            return this;
        }

        /** The clock; the system's unless set. */
        public Builder time(TimeSource source) {
            time = Objects.requireNonNull(source, "source");
            return this;
        }

        private TcpClientOptions toOptions() {
            return new TcpClientOptions(
                    address,
                    maxInFlight,
                    maxQueued,
                    maxTransmissions,
                    maxRecordBytes,
                    connectTimeout,
                    callTimeout,
                    closeTimeout,
                    reconnectDelay,
                    maxReconnectDelay,
                    connectAttempts,
                    fenceGrace,
                    idleTimeout);
        }

        /**
         * The client; it connects with the first call.
         *
         * @throws IllegalArgumentException if a setting is out of its bounds
         */
        public TcpRpcClient build() {
            return new TcpRpcClient(this);
        }
    }
}
