// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.bridge;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.rpcrdma4j.bridge.BridgeEnd.Kind;
import org.rpcrdma4j.tcp.TestPrograms;
import org.rpcrdma4j.tcp.client.TcpRpcClient;
import org.rpcrdma4j.tcp.server.TcpRpcServer;
import org.rpcrdma4j.transport.client.RpcClient;
import org.rpcrdma4j.transport.client.RpcRdmaClient;
import org.rpcrdma4j.transport.server.ProgramHandler;
import org.rpcrdma4j.transport.server.RpcRdmaServer;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.ulb.ResultLimits;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.spi.RdmaDevices;

/** A client, bridges and a server in a row: the kinds are those of the connections between them, from the client's to the server's. */
final class Chain implements AutoCloseable {

    static final Bindings BINDINGS = Bindings.nfs(ResultLimits.DEFAULT);

    final TestPrograms programs = new TestPrograms();
    final List<Bridge> bridges = new ArrayList<>();
    private final RdmaDevice device = RdmaDevices.open("iwarp", Map.of());
    private final List<Kind> kinds;
    private final int connectAttempts;
    private Runnable server = () -> {};
    RpcRdmaServer rdmaServer;
    TcpRpcServer tcpServer;

    Chain(int connectAttempts, Kind... kinds) throws IOException {
        this.connectAttempts = connectAttempts;
        this.kinds = List.of(kinds);
        InetSocketAddress next = startServer(0);
        for (int i = kinds.length - 2; i >= 0; i--) {
            Bridge bridge = Bridge.builder()
                    .device(device)
                    .from(new BridgeEnd(kinds[i], loopback(0)))
                    .to(new BridgeEnd(kinds[i + 1], next))
                    .connectAttempts(connectAttempts)
                    .start();
            bridges.addFirst(bridge);
            next = bridge.localAddress();
        }
    }

    static InetSocketAddress loopback(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    InetSocketAddress startServer(int port) throws IOException {
        if (kinds.getLast() == Kind.TCP) {
            tcpServer = TcpRpcServer.builder(programs.table())
                    .address(loopback(port))
                    .start();
            server = tcpServer::close;
            return tcpServer.localAddress();
        }
        rdmaServer = RpcRdmaServer.builder(device, new ProgramHandler(programs.table()))
                .address(loopback(port))
                .bindings(BINDINGS)
                .start();
        server = rdmaServer::close;
        return rdmaServer.localAddress();
    }

    /** Ends the server as a killed process does; returns its port. */
    int killServer() {
        if (kinds.getLast() == Kind.TCP) {
            tcpServer.abort();
            return tcpServer.localAddress().getPort();
        }
        rdmaServer.abort();
        return rdmaServer.localAddress().getPort();
    }

    RpcClient client() {
        InetSocketAddress address = bridges.getFirst().localAddress();
        return kinds.getFirst() == Kind.TCP
                ? TcpRpcClient.builder(address)
                        .bindings(BINDINGS)
                        .reconnectDelay(Duration.ofMillis(10), Duration.ofMillis(100))
                        .maxTransmissions(1000)
                        .build()
                : RpcRdmaClient.builder(device, address)
                        .bindings(BINDINGS)
                        .reconnectDelay(Duration.ofMillis(10), Duration.ofMillis(100))
                        .maxTransmissions(1000)
                        .build();
    }

    String describe() {
        StringBuilder text = new StringBuilder();
        for (Bridge bridge : bridges) {
            text.append(bridge.describe()).append(bridge.counters()).append("; ");
        }
        return text.append(programs.executed)
                .append(" executed, attempts ")
                .append(connectAttempts)
                .toString();
    }

    @Override
    public void close() {
        programs.gate.countDown();
        for (Bridge bridge : bridges) {
            bridge.close();
        }
        server.run();
        device.close();
    }
}
