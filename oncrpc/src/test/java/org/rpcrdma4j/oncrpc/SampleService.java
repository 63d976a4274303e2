// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.dcache.oncrpc4j.rpc.IoStrategy;
import org.dcache.oncrpc4j.rpc.OncRpcClient;
import org.dcache.oncrpc4j.rpc.OncRpcSvc;
import org.dcache.oncrpc4j.rpc.OncRpcSvcBuilder;
import org.dcache.oncrpc4j.rpc.RpcAuth;
import org.dcache.oncrpc4j.rpc.RpcAuthTypeNone;
import org.dcache.oncrpc4j.rpc.RpcCall;
import org.dcache.oncrpc4j.rpc.RpcTransport;
import org.dcache.oncrpc4j.rpc.net.IpProtocolType;
import org.dcache.oncrpc4j.xdr.XdrVoid;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.spi.RdmaDevices;

/** The sample program served over one wire, and clients of it. Closing it looks that nothing is left of an RDMA device. */
final class SampleService implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(40);

    final Wire wire;
    final SampleProgram program = new SampleProgram();
    private final ExecutorService workers = Executors.newVirtualThreadPerTaskExecutor();
    private final ArrayDeque<Closeable> clients = new ArrayDeque<>();
    final @Nullable OncRpcSvc tcp;
    final @Nullable RdmaOncRpcSvc rdma;
    final @Nullable RdmaDevice serverDevice;
    final @Nullable RdmaDevice clientDevice;

    SampleService(Wire wire) {
        this(wire, builder -> builder);
    }

    SampleService(Wire wire, UnaryOperator<OncRpcSvcBuilder> settings) {
        this.wire = wire;
        OncRpcSvcBuilder builder = settings.apply(new OncRpcSvcBuilder()
                .withTCP()
                .withPort(0)
                .withBindAddress("127.0.0.1")
                .withoutAutoPublish()
                .withServiceName("sample")
                .withWorkerThreadIoStrategy()
                .withWorkerThreadExecutionService(workers)
                .withRpcService(SampleProgram.PROGRAM, program));
        try {
            if (wire == Wire.TCP) {
                OncRpcSvc service = builder.build();
                service.start();
                tcp = service;
                rdma = null;
                serverDevice = null;
                clientDevice = null;
            } else {
                RdmaDevice device = RdmaDevices.open("iwarp", Map.of());
                RdmaOncRpcSvc.Builder serving = RdmaOncRpcSvc.builder(device, builder)
                        .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                if (wire == Wire.RDMA_BOUND) {
                    serving.bindings(SampleProgram.BINDINGS);
                }
                tcp = null;
                rdma = serving.start();
                serverDevice = device;
                clientDevice = RdmaDevices.open("iwarp", Map.of());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    InetSocketAddress address() {
        OncRpcSvc service = tcp;
        return service != null
                ? new InetSocketAddress(
                        InetAddress.getLoopbackAddress(),
                        service.getInetSocketAddress(IpProtocolType.TCP).getPort())
                : rdma().localAddress();
    }

    RdmaOncRpcSvc rdma() {
        RdmaOncRpcSvc service = rdma;
        if (service == null) {
            throw new IllegalStateException("served over TCP");
        }
        return service;
    }

    /** A client over RDMA, as yet without connection; closed with the service. */
    RdmaOncRpcClient client(UnaryOperator<RdmaOncRpcClient.Builder> settings) {
        RdmaDevice device = clientDevice;
        if (device == null) {
            throw new IllegalStateException("served over TCP");
        }
        RdmaOncRpcClient.Builder builder = RdmaOncRpcClient.builder(device, address());
        if (wire == Wire.RDMA_BOUND) {
            builder.bindings(SampleProgram.BINDINGS);
        }
        RdmaOncRpcClient client = settings.apply(builder).build();
        clients.push(client::close);
        return client;
    }

    /** A new connection. Over RDMA one call is behind it: RFC 8166, Section 3.3.3: until the first reply there is one credit. */
    RpcTransport connect() {
        try {
            if (wire != Wire.TCP) {
                return connect(client(builder -> builder));
            }
            OncRpcClient client =
                    new OncRpcClient(address(), IpProtocolType.TCP, 0, IoStrategy.WORKER_THREAD, "client");
            clients.push(client::close);
            return client.connect();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static RdmaRpcTransport connect(RdmaOncRpcClient client) throws IOException {
        RpcTransport transport = client.connect();
        call(transport).call(SampleProgram.NULL, XdrVoid.XDR_VOID, XdrVoid.XDR_VOID);
        return (RdmaRpcTransport) transport;
    }

    RdmaRpcTransport connectRdma() {
        return (RdmaRpcTransport) connect();
    }

    static RpcCall call(RpcTransport transport) {
        return call(transport, new RpcAuthTypeNone());
    }

    static RpcCall call(RpcTransport transport, RpcAuth credential) {
        return new RpcCall(
                SampleProgram.PROGRAM.getNumber(), SampleProgram.PROGRAM.getVersion(), credential, transport);
    }

    void await(String what, BooleanSupplier condition) {
        Waits.until(PATIENCE, condition, () -> what + System.lineSeparator() + this);
    }

    @Override
    public String toString() {
        return wire + ": " + rdma + ", server's device " + (serverDevice == null ? "" : serverDevice.ledger())
                + ", clients' device " + (clientDevice == null ? "" : clientDevice.ledger());
    }

    /** Over RDMA: every call has its answer, which is counted after it was sent. */
    void awaitAllAnswered() {
        await("every call is answered", () -> rdma().unanswered() == 0);
    }

    @Override
    public void close() throws IOException {
        program.gate.release(1 << 20);
        for (Closeable client : clients) {
            client.close();
        }
        OncRpcSvc service = tcp;
        if (service != null) {
            service.stop();
        }
        RdmaDevice server = serverDevice;
        RdmaDevice client = clientDevice;
        if (server != null && client != null) {
            rdma().close();
            await(
                    "all is given back",
                    () -> server.ledger().isBalanced() && client.ledger().isBalanced());
            assertThat(rdma().server().connections()).isZero();
            server.close();
            client.close();
        }
        workers.shutdownNow();
    }
}
