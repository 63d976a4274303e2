// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.loopback;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import org.rpcrdma4j.cli.payload.Pattern;
import org.rpcrdma4j.cli.payload.PayloadCall;
import org.rpcrdma4j.cli.payload.PayloadCall.Verification;
import org.rpcrdma4j.cli.payload.PayloadProgram;
import org.rpcrdma4j.transport.client.RpcRdmaClient;
import org.rpcrdma4j.transport.server.ProgramHandler;
import org.rpcrdma4j.transport.server.RpcRdmaServer;
import org.rpcrdma4j.transport.server.ServerOptions;
import org.rpcrdma4j.verbs.RdmaDevice;

/** A client and a server of the payload program on one device, connected over loopback. */
final class RpcLink implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final Pattern pattern;
    private final RpcRdmaServer server;
    private final RpcRdmaClient client;

    /**
     * @param handlers runs the server's procedures; they do not block, so the device's own threads may
     * @param inFlight most calls in flight
     * @param payloadBytes longest payload
     */
    RpcLink(RdmaDevice device, Executor handlers, int inFlight, long payloadBytes) throws IOException {
        pattern = new Pattern(payloadBytes, arena);
        server = RpcRdmaServer.builder(device, new ProgramHandler(PayloadProgram.table(pattern)))
                .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .options(ServerOptions.builder()
                        .credits(inFlight)
                        .maxPayloadBytes(payloadBytes)
                        .build())
                .bindings(PayloadProgram.bindings())
                .handlerExecutor(handlers)
                .start();
        client = RpcRdmaClient.builder(device, server.localAddress())
                .maxInFlight(inFlight)
                .maxPayloadBytes(payloadBytes)
                .build();
    }

    RpcRdmaClient client() {
        return client;
    }

    /** Calls for a loop, each with memory of its own for what comes. */
    List<PayloadCall> calls(PayloadCall.Kind kind, int count, long payloadBytes) {
        List<PayloadCall> calls = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            calls.add(
                    switch (kind) {
                        case NULL -> PayloadCall.nothing(pattern, arena);
                        case TAKE -> PayloadCall.take(pattern, i * 8, payloadBytes, Verification.LENGTH, arena);
                        case GIVE ->
                            PayloadCall.give(
                                    pattern, i * 8, arena.allocate(payloadBytes, 4096), Verification.LENGTH, arena);
                    });
        }
        return calls;
    }

    @Override
    public void close() {
        client.close();
        server.close();
        arena.close();
    }
}
