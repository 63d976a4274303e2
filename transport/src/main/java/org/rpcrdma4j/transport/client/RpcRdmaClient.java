// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.event.Gauges;
import org.rpcrdma4j.transport.event.WireListener;
import org.rpcrdma4j.transport.time.TimeSource;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.verbs.RdmaDevice;

/**
 * A client of one server: sends RPC calls over RPC-over-RDMA version 1 (RFC 8166) and gives back their replies.
 *
 * <p>It connects when the first call is there, and again whenever a connection is lost; calls without reply are then sent anew, with the
 * same XID. Each call ends exactly once, with a reply or a {@link TransportException}, and never before its memory is shut to the server.
 *
 * <p>All methods may be called from any thread.
 */
public final class RpcRdmaClient implements RpcClient {

    private final Requester requester;
    private final Resources resources;
    private final ClientOptions options;
    private final @Nullable EligibilityCheck eligibility;
    private final AtomicInteger lastXid =
            new AtomicInteger(ThreadLocalRandom.current().nextInt());

    private RpcRdmaClient(Builder builder) {
        options = builder.toOptions();
        eligibility = builder.bindings == null ? null : new EligibilityCheck(builder.bindings);
        resources = new Resources(builder.time, builder.worker);
        try {
            requester = new Requester(ClientContext.of(
                    builder.device,
                    options,
                    resources.time(),
                    resources.worker(),
                    builder.callbacks,
                    WireListener.guarded(builder.wireListener),
                    builder.reverseHandler,
                    eligibility));
        } catch (RuntimeException e) {
            resources.close();
            throw e;
        }
    }

    /** Begins a client of the server at the address, over a device that stays the caller's. */
    public static Builder builder(RdmaDevice device, InetSocketAddress address) {
        return new Builder(device, address);
    }

    @Override
    public int nextXid() {
        return lastXid.incrementAndGet();
    }

    /**
     * Sends a call.
     *
     * @throws IllegalArgumentException if a call of the same XID has not ended, or, given up, has not been answered on this connection;
     *     or if bindings are set, and do not name as eligible what the message marks
     */
    @Override
    public PendingReply send(CallMessage message) {
        EligibilityCheck check = eligibility;
        if (check != null) {
            check.requireEligible(message);
        }
        return requester.send(message);
    }

    /** Sends a call that is a buffer's remaining bytes, for a reply of at most {@code maxReplyBytes}. */
    public PendingReply send(ByteBuffer message, long maxReplyBytes) {
        return send(CallMessage.builder(message).maxReplyBytes(maxReplyBytes).build());
    }

    @Override
    public Reply call(CallMessage message) throws TransportException {
        PendingReply pending = send(message);
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

    /** Connects now, without a call; the listener is told of this connection and of all later ones. Once, before the first call. */
    public void connect(ConnectionListener listener) {
        requester.connect(listener);
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return options.address();
    }

    /** What this client has counted. */
    public Counters<ClientCounter> counters() {
        return requester.counters();
    }

    /** Levels of this moment. */
    public Gauges gauges() {
        return requester.gauges();
    }

    /** For tests: bytes of bounce buffers that calls have. */
    long bounceBytesTaken() {
        return requester.bounceBytesTaken();
    }

    /** How it is set up. */
    public ClientOptions options() {
        return options;
    }

    /** Its state in words, for logs. */
    @Override
    public String toString() {
        return requester.toString();
    }

    /**
     * Ends the client: calls that wait fail, those that are sent may still be answered until the connection has ended, then fail. The
     * future completes when nothing of the client is left on the device.
     */
    public CompletableFuture<Void> closeAsync() {
        return requester.close().whenComplete((nothing, failure) -> resources.close());
    }

    /** {@link #closeAsync}, and waits for it, but not longer than twice the drain timeout. */
    @Override
    public void close() {
        CompletableFuture<Void> closed = closeAsync();
        long limit = 2 * ClientOptions.nanos(options.drainTimeout());
        try {
            closed.get(limit, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            System.getLogger(RpcRdmaClient.class.getName())
                    .log(System.Logger.Level.WARNING, "client not closed in time: " + requester, e);
        }
    }

    /** How a client is to behave. Not safe for use by two threads. */
    public static final class Builder {

        private final RdmaDevice device;
        private final InetSocketAddress address;
        private int maxInFlight = 128;
        private int inlineSendBytes = 4096;
        private int inlineReceiveBytes = 4096;
        private long maxPayloadBytes = 1 << 20;
        private int maxSegments = 16;
        private boolean remoteInvalidation = true;
        private boolean offerWritePad;
        private int regionPagesLimit;
        private int maxQueued = 16_384;
        private int maxTransmissions = 8;
        private Duration connectTimeout = Duration.ofSeconds(10);
        private Duration callTimeout = Duration.ofSeconds(60);
        private Duration drainTimeout = Duration.ofSeconds(5);
        private Duration reconnectDelay = Duration.ofMillis(100);
        private Duration maxReconnectDelay = Duration.ofSeconds(30);
        private int connectAttempts;
        private Duration fenceGrace = Duration.ofSeconds(1);
        private int badReplyLimit = 4;
        private Duration idleTimeout = Duration.ZERO;
        private int reverseCredits;
        private @Nullable ReverseHandler reverseHandler;
        private @Nullable Bindings bindings;
        private @Nullable WireListener wireListener;
        private @Nullable TimeSource time;
        private @Nullable Executor worker;
        private Executor callbacks = ForkJoinPool.commonPool();

        private Builder(RdmaDevice device, InetSocketAddress address) {
            this.device = Objects.requireNonNull(device, "device");
            this.address = Objects.requireNonNull(address, "address");
        }

        /** Most calls without reply, and the credits that are asked for; 128 unless set, up to 16384. */
        public Builder maxInFlight(int value) {
            maxInFlight = value;
            return this;
        }

        /** Longest message sent and longest taken, 4096 each unless set; the server's own limits count too (RFC 8797). */
        public Builder inlineBytes(int send, int receive) {
            inlineSendBytes = send;
            inlineReceiveBytes = receive;
            return this;
        }

        /** Longest item, target or reply; 1 MiB unless set, up to 16 MiB. */
        public Builder maxPayloadBytes(long value) {
            maxPayloadBytes = value;
            return this;
        }

        /** Most segments of a chunk; 16 unless set, which every NFS server takes. */
        public Builder maxSegments(int value) {
            maxSegments = value;
            return this;
        }

        /** Whether the server may invalidate regions by its replies; true unless set. */
        public Builder remoteInvalidation(boolean value) {
            remoteInvalidation = value;
            return this;
        }

        /** Room for the pad of odd Write chunks, against RFC 8166, Section 3.4.6.2, and no remote invalidation then; false unless set. */
        public Builder offerWritePad(boolean value) {
            offerWritePad = value;
            return this;
        }

        /** Most pages of one region; what the device allows unless set. */
        public Builder regionPagesLimit(int value) {
            regionPagesLimit = value;
            return this;
        }

        /** Most calls that wait to be sent; 16384 unless set. */
        public Builder maxQueued(int value) {
            maxQueued = value;
            return this;
        }

        /** On how many connections one call is sent before it fails; 8 unless set. Keeps one poisonous call from ending them for ever. */
        public Builder maxTransmissions(int value) {
            maxTransmissions = value;
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

        /** How long the end of a connection waits for completions that stay away; 5 s unless set. */
        public Builder drainTimeout(Duration value) {
            drainTimeout = value;
            return this;
        }

        /** The first delay before a lost connection is made again, doubled up to the longest; 100 ms and 30 s unless set. */
        public Builder reconnectDelay(Duration first, Duration longest) {
            reconnectDelay = first;
            maxReconnectDelay = longest;
            return this;
        }

        /** After how many failed attempts in a row the waiting calls fail; they wait for their deadlines unless set. */
        public Builder connectAttempts(int value) {
            connectAttempts = value;
            return this;
        }

        /** How long the memory of an ended call may stay open before the connection is ended for it; 1 s unless set. */
        public Builder fenceGrace(Duration value) {
            fenceGrace = value;
            return this;
        }

        /** After how many malformed replies a connection is given up; 4 unless set. */
        public Builder badReplyLimit(int value) {
            badReplyLimit = value;
            return this;
        }

        /** After how long without a call the connection is ended; never unless set, and never with a reverse handler. */
        public Builder idleTimeout(Duration value) {
            idleTimeout = value;
            return this;
        }

        /** Serves calls of the server over the same connection (RFC 8167), at most so many at a time. */
        public Builder reverseHandler(ReverseHandler handler, int credits) {
            reverseHandler = Objects.requireNonNull(handler, "handler");
            reverseCredits = credits;
            return this;
        }

        /**
         * Checks what calls mark as item and target against these bindings, and what servers place against what results say. Without
         * them the caller is trusted, and servers that return a result in the wrong place are found out by the caller.
         */
        public Builder bindings(Bindings value) {
            bindings = Objects.requireNonNull(value, "value");
            return this;
        }

        /** Shown each message; nobody unless set. */
        public Builder wireListener(WireListener listener) {
            wireListener = Objects.requireNonNull(listener, "listener");
            return this;
        }

        /** The clock; the system's unless set. */
        public Builder time(TimeSource source) {
            time = Objects.requireNonNull(source, "source");
            return this;
        }

        /** Does what may block, such as creating regions; threads of the client's own unless set. */
        public Builder worker(Executor executor) {
            worker = Objects.requireNonNull(executor, "executor");
            return this;
        }

        /** Runs the reverse handler; the common pool unless set. */
        public Builder callbacks(Executor executor) {
            callbacks = Objects.requireNonNull(executor, "executor");
            return this;
        }

        private ClientOptions toOptions() {
            return new ClientOptions(
                    address,
                    maxInFlight,
                    inlineSendBytes,
                    inlineReceiveBytes,
                    maxPayloadBytes,
                    maxSegments,
                    remoteInvalidation,
                    offerWritePad,
                    regionPagesLimit,
                    maxQueued,
                    maxTransmissions,
                    connectTimeout,
                    callTimeout,
                    drainTimeout,
                    reconnectDelay,
                    maxReconnectDelay,
                    connectAttempts,
                    fenceGrace,
                    badReplyLimit,
                    idleTimeout,
                    reverseCredits);
        }

        /**
         * The client; it connects with the first call, or at once if it serves reverse calls.
         *
         * @throws IllegalArgumentException if a setting is out of its bounds
         * @throws UnsupportedOperationException if the device cannot do what is needed; the message says what
         */
        public RpcRdmaClient build() {
            return new RpcRdmaClient(this);
        }
    }
}
