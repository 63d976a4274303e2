// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.dcache.oncrpc4j.rpc.IoStrategy;
import org.dcache.oncrpc4j.rpc.OncRpcSvcBuilder;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.server.RpcRdmaServer;
import org.rpcrdma4j.transport.server.ServerOptions;
import org.rpcrdma4j.transport.server.ServerRequest;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.verbs.RdmaDevice;

/**
 * Serves oncrpc4j programs over RDMA: those of an {@code OncRpcSvcBuilder}, which may build a service over TCP too, beside this one.
 *
 * <pre>{@code
 * OncRpcSvcBuilder programs = new OncRpcSvcBuilder()
 *         .withTCP().withoutAutoPublish()
 *         .withRpcService(new OncRpcProgram(PROGRAM, 1), program);
 * OncRpcSvc overTcp = programs.build();
 * RdmaOncRpcSvc overRdma = RdmaOncRpcSvc.builder(device, programs).start();
 * }</pre>
 *
 * <p>Of the builder it takes programs, worker threads, bind address, call interceptor, GSS session manager and subject propagation. With the
 * strategy SAME_THREAD, oncrpc4j's default, programs run on threads of the RDMA server's own, since they may block. Nothing is published
 * at the port mapper.
 *
 * <p>Any thread may call any method.
 */
public final class RdmaOncRpcSvc implements AutoCloseable {

    /** Longest argument, result, call or reply unless set: 1 MiB of payload with what is around it. */
    static final long DEFAULT_PAYLOAD_BYTES = (1 << 20) + (64 << 10);

    private final RpcRdmaServer server;
    private final CompletableFuture<InetSocketAddress> listening = new CompletableFuture<>();
    private final CallDispatcher dispatcher;
    private final ExecutorService callbacks;
    private final @Nullable ExecutorService ownWorkers;

    private RdmaOncRpcSvc(Builder builder) throws IOException {
        callbacks = Executors.newThreadPerTaskExecutor(
                Thread.ofVirtual().name("rpcrdma-oncrpc-", 0).factory());
        dispatcher = new CallDispatcher(builder.programs, callbacks);
        Executor workers = null;
        ExecutorService own = null;
        if (builder.programs.getIoStrategy() != IoStrategy.SAME_THREAD) {
            ExecutorService given = builder.programs.getWorkerThreadExecutorService();
            workers = given;
            // A builder that was given no pool makes one each time it is asked; nobody else knows of this one then.
            own = given.equals(builder.programs.getWorkerThreadExecutorService()) ? null : given;
        }
        ownWorkers = own;
        RpcRdmaServer.Builder serving = RpcRdmaServer.builder(builder.device, this::onRequest)
                .address(builder.address())
                .options(builder.options)
                .bindings(builder.bindings);
        try {
            server = (workers == null ? serving : serving.handlerExecutor(workers)).start();
        } catch (IOException | RuntimeException e) {
            stopThreads();
            throw e;
        }
        listening.complete(server.localAddress());
    }

    /** A service of the builder's programs over a device that stays the caller's. */
    public static Builder builder(RdmaDevice device, OncRpcSvcBuilder programs) {
        return new Builder(device, programs);
    }

    private void onRequest(ServerRequest request) {
        List<MemorySegment> message = request.message();
        // The first calls can be faster than the end of the constructor.
        InetSocketAddress local = listening.join();
        dispatcher.dispatch(message, new ServerCallSink(request, message, local, callbacks));
    }

    /** Where it listens. */
    public InetSocketAddress localAddress() {
        return server.localAddress();
    }

    /** What it has counted of calls. */
    public Counters<ServiceCounter> counters() {
        return dispatcher.counters();
    }

    /** Calls that have no answer yet: their programs are at work, or have forgotten them. */
    public long unanswered() {
        Counters<ServiceCounter> counters = counters();
        // ORDER: answers first, so that a call in between does not count as less than none.
        long answered = counters.get(ServiceCounter.ANSWERED);
        return counters.get(ServiceCounter.CALLS) - answered;
    }

    /** The server under it, with its own counters and gauges. */
    public RpcRdmaServer server() {
        return server;
    }

    /** Ends it: no new calls, those that are there are answered within the grace, then connections end. */
    public void stop(Duration grace) {
        try {
            server.close(grace);
        } finally {
            stopThreads();
        }
    }

    private void stopThreads() {
        callbacks.shutdown();
        ExecutorService own = ownWorkers;
        if (own != null) {
            own.shutdown();
        }
    }

    /** {@link #stop} with ten seconds. */
    @Override
    public void close() {
        stop(Duration.ofSeconds(10));
    }

    @Override
    public String toString() {
        return "oncrpc4j programs, " + server + ", " + counters();
    }

    /** How a service is to behave. Not safe for use by two threads. */
    public static final class Builder {

        private final RdmaDevice device;
        private final OncRpcSvcBuilder programs;
        private @Nullable InetSocketAddress address;
        private Bindings bindings = Bindings.none(DEFAULT_PAYLOAD_BYTES);
        private ServerOptions options =
                ServerOptions.builder().maxPayloadBytes(DEFAULT_PAYLOAD_BYTES).build();

        private Builder(RdmaDevice device, OncRpcSvcBuilder programs) {
            this.device = Objects.requireNonNull(device, "device");
            this.programs = Objects.requireNonNull(programs, "programs");
        }

        private InetSocketAddress address() {
            InetSocketAddress set = address;
            return set == null ? new InetSocketAddress(programs.getBindAddress(), RpcRdmaServer.NFS_PORT) : set;
        }

        /** Where to listen; port 20049 of the builder's bind address unless set. Not where the same programs listen with TCP. */
        public Builder address(InetSocketAddress value) {
            address = value;
            return this;
        }

        /** Which arguments and results may be moved by chunks of their own; none unless set. */
        public Builder bindings(Bindings value) {
            bindings = Objects.requireNonNull(value, "value");
            return this;
        }

        /** How the server under it behaves. */
        public Builder options(ServerOptions value) {
            options = Objects.requireNonNull(value, "value");
            return this;
        }

        /**
         * Listens.
         *
         * @throws IOException if the address cannot be bound
         */
        public RdmaOncRpcSvc start() throws IOException {
            return new RdmaOncRpcSvc(this);
        }
    }
}
