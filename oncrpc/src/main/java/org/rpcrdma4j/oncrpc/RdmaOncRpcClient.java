// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import org.dcache.oncrpc4j.rpc.OncRpcProgram;
import org.dcache.oncrpc4j.rpc.OncRpcSvcBuilder;
import org.dcache.oncrpc4j.rpc.RpcDispatchable;
import org.dcache.oncrpc4j.rpc.RpcTransport;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.client.ConnectionListener;
import org.rpcrdma4j.transport.client.RpcRdmaClient;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.verbs.RdmaDevice;

/**
 * Connects oncrpc4j's callers to a server over RDMA: stands where {@code OncRpcClient} stands, with the same {@code connect} and {@code
 * close}.
 *
 * <pre>{@code
 * try (RdmaOncRpcClient client = RdmaOncRpcClient.builder(device, address).build()) {
 *     RpcTransport transport = client.connect();
 *     RpcCall call = new RpcCall(PROGRAM, 1, new RpcAuthTypeNone(), transport);
 *     call.call(1, arguments, result);
 * }
 * }</pre>
 *
 * <p>Any thread may call any method.
 */
public final class RdmaOncRpcClient implements AutoCloseable {

    private final Builder settings;
    private final Executor callbacks;
    private final @Nullable ExecutorService ownCallbacks;
    private final ReplyMemory memory = new ReplyMemory(KEPT_BYTES);
    private @Nullable Connection current;
    private boolean closed;

    private static final long KEPT_BYTES = 64L << 20;

    private RdmaOncRpcClient(Builder settings) {
        this.settings = settings;
        Executor given = settings.callbacks;
        ExecutorService own = given != null
                ? null
                : Executors.newThreadPerTaskExecutor(
                        Thread.ofVirtual().name("rpcrdma-oncrpc-", 0).factory());
        ownCallbacks = own;
        callbacks = given != null ? given : Objects.requireNonNull(own);
    }

    /** A client of the server at the address, over a device that stays the caller's. */
    public static Builder builder(RdmaDevice device, InetSocketAddress address) {
        return new Builder(device, address);
    }

    /** One connection, and its transport as soon as it is there. Told by threads of the client under it. */
    private final class Connection implements ConnectionListener {

        private final RpcRdmaClient client;
        private final RdmaReplyQueue queue;
        private final CompletableFuture<RdmaRpcTransport> transport = new CompletableFuture<>();

        Connection() {
            RpcRdmaClient.Builder builder = settings.clientBuilder(callbacks);
            CallDispatcher reverse = settings.reverseDispatcher(callbacks);
            if (reverse != null) {
                builder.reverseHandler(
                        call -> reverse.dispatch(
                                List.of(call.message()),
                                new ReverseCallSink(call, transport.join(), new AtomicBoolean())),
                        settings.reverseCredits);
            }
            client = builder.build();
            long fence = client.options()
                    .fenceGrace()
                    .plus(client.options().drainTimeout())
                    .plusSeconds(1)
                    .toNanos();
            queue = new RdmaReplyQueue(callbacks, fence);
        }

        @Override
        public void onConnected(InetSocketAddress localAddress) {
            transport.complete(new RdmaRpcTransport(client, settings.bindings, memory, queue, callbacks, localAddress));
        }

        @Override
        public void onEnded(boolean wasConnected, String detail) {
            transport.completeExceptionally(new ConnectException(detail));
            if (!settings.reconnects || !wasConnected) {
                var _ = end(detail);
            }
        }

        /** ORDER: first no call's memory is open any more, then callers are told (RFC 8166, Section 4.4.1). */
        CompletableFuture<Void> end(String detail) {
            return client.closeAsync().whenComplete((nothing, failure) -> {
                RdmaRpcTransport made = transport.getNow(null);
                if (made != null) {
                    made.end(detail);
                }
            });
        }
    }

    /**
     * Connects, and waits for that as long as the builder's connect timeout. A connection that was made before and has not ended is ended.
     *
     * @throws IOException if the server is not reached, refuses, or does not answer in time
     */
    public RpcTransport connect() throws IOException {
        return connect(settings.connectTimeout.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** {@link #connect()} with a limit of its own. */
    public RpcTransport connect(long timeout, TimeUnit unit) throws IOException {
        Connection connection = replace();
        connection.client.connect(connection);
        try {
            return connection.transport.get(timeout, unit);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            throw new ConnectException(
                    "no connection to " + settings.address + ": " + (cause == null ? e : cause).getMessage());
        } catch (TimeoutException e) {
            var _ = connection.end("not connected in time");
            throw new SocketTimeoutException(
                    "no connection to " + settings.address + " within " + timeout + " " + unit);
        } catch (InterruptedException e) {
            var _ = connection.end("interrupted");
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while connecting to " + settings.address);
        }
    }

    private synchronized Connection replace() throws IOException {
        if (closed) {
            throw new IOException("the client is closed");
        }
        Connection before = current;
        if (before != null) {
            var _ = before.end("connected anew");
        }
        Connection next = new Connection();
        current = next;
        return next;
    }

    /** Buffers for results that are with calls and leases. */
    public long leasedBuffers() {
        return memory.taken();
    }

    /** Ends the connection; calls without reply fail. Waits until nothing of it is left, for a bounded time. */
    @Override
    public void close() {
        Connection last;
        synchronized (this) {
            closed = true;
            last = current;
            current = null;
        }
        if (last != null) {
            CompletableFuture<Void> end = last.end("the client is closed");
            try {
                end.get(2 * last.client.options().drainTimeout().toNanos(), TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (ExecutionException | TimeoutException e) {
                System.getLogger(RdmaOncRpcClient.class.getName())
                        .log(System.Logger.Level.WARNING, "not closed in time: " + last.client, e);
            }
        }
        ExecutorService own = ownCallbacks;
        if (own != null) {
            own.shutdown();
        }
    }

    /** How a client is to behave. Not safe for use by two threads. */
    public static final class Builder {

        /** Longer than any connection lasts between its end and that of its client. */
        private static final Duration NEVER = Duration.ofDays(1);

        private final RdmaDevice device;
        private final InetSocketAddress address;
        private @Nullable Bindings named;
        private Bindings bindings = Bindings.none(0);
        private long maxPayloadBytes = RdmaOncRpcSvc.DEFAULT_PAYLOAD_BYTES;
        private long defaultReplyBytes = RdmaOncRpcSvc.DEFAULT_PAYLOAD_BYTES;
        private Duration connectTimeout = Duration.ofSeconds(10);
        private Duration callTimeout = Duration.ofSeconds(60);
        private boolean reconnects;
        private int maxTransmissions = 1;
        private @Nullable Executor callbacks;
        private final OncRpcSvcBuilder programs = new OncRpcSvcBuilder();
        private int reverseCredits = 4;
        private UnaryOperator<RpcRdmaClient.Builder> settings = UnaryOperator.identity();

        private Builder(RdmaDevice device, InetSocketAddress address) {
            this.device = Objects.requireNonNull(device, "device");
            this.address = Objects.requireNonNull(address, "address");
        }

        /** Which arguments and results may be moved by chunks of their own; none unless set. */
        public Builder bindings(Bindings value) {
            named = Objects.requireNonNull(value, "value");
            return this;
        }

        /** Longest argument, result, call or reply, up to 16 MiB; 1 MiB and 64 KiB unless set. */
        public Builder maxPayloadBytes(long value) {
            maxPayloadBytes = value;
            return this;
        }

        /**
         * Longest results of calls of which no binding, and no {@link PlacedArguments}, says how long they can be; unless set, as long as a
         * reply can be. Each such call offers so much memory to the server.
         */
        public Builder defaultReplyBytes(long value) {
            defaultReplyBytes = value;
            return this;
        }

        /** Limit for connecting; 10 s unless set. */
        public Builder connectTimeout(Duration value) {
            connectTimeout = Objects.requireNonNull(value, "value");
            return this;
        }

        /** Limit for calls that set none of their own; 60 s unless set. */
        public Builder callTimeout(Duration value) {
            callTimeout = Objects.requireNonNull(value, "value");
            return this;
        }

        /**
         * Makes a lost connection anew, and sends calls without reply again, each on at most so many connections. Not so unless set, as over
         * TCP: a server without a reply cache may then execute a call more than once.
         */
        public Builder reconnect(int transmissions) {
            reconnects = true;
            maxTransmissions = transmissions;
            return this;
        }

        /** Where callbacks run and results are decoded; virtual threads unless set. Never runs a task on the thread that gives it. */
        public Builder callbacks(Executor value) {
            callbacks = Objects.requireNonNull(value, "value");
            return this;
        }

        /** A program that answers calls of the server over this connection (RFC 8167). */
        public Builder rpcService(OncRpcProgram program, RpcDispatchable service) {
            programs.withRpcService(program, service);
            return this;
        }

        /** How many calls of the server may be unanswered; 4 unless set. */
        public Builder reverseCredits(int value) {
            reverseCredits = value;
            return this;
        }

        /** Further settings of the client under it, applied last. */
        public Builder settings(UnaryOperator<RpcRdmaClient.Builder> value) {
            settings = Objects.requireNonNull(value, "value");
            return this;
        }

        private RpcRdmaClient.Builder clientBuilder(Executor executor) {
            RpcRdmaClient.Builder builder = RpcRdmaClient.builder(device, address)
                    .maxPayloadBytes(maxPayloadBytes)
                    .callTimeout(callTimeout)
                    .connectTimeout(connectTimeout)
                    .maxTransmissions(maxTransmissions)
                    .callbacks(executor)
                    // A late reply to a call that its caller gave up must not end the connection, as it does when it
                    // comes with the order to invalidate what is invalid already.
                    .remoteInvalidation(false);
            if (!reconnects) {
                builder.connectAttempts(1).reconnectDelay(NEVER, NEVER);
            }
            return settings.apply(builder);
        }

        private @Nullable CallDispatcher reverseDispatcher(Executor executor) {
            return programs.getRpcServices().isEmpty() ? null : new CallDispatcher(programs, executor);
        }

        /** The client; it connects by {@link #connect}. */
        public RdmaOncRpcClient build() {
            Bindings given = named;
            bindings = given == null ? Bindings.none(defaultReplyBytes) : given;
            return new RdmaOncRpcClient(this);
        }
    }
}
