// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.payload;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import org.rpcrdma4j.transport.server.ProgramHandler;
import org.rpcrdma4j.transport.server.RpcRdmaServer;
import org.rpcrdma4j.transport.server.ServerOptions;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.spi.RdmaDevices;

/** The server of {@link TwoProcessesTest}: says its port, serves until its input ends, then says what its device still holds. */
final class PayloadServerProcess {
    private PayloadServerProcess() {}

    /** Arguments: longest payload in bytes, credits. */
    public static void main(String[] arguments) throws IOException {
        long payloadBytes = Long.parseLong(arguments[0]);
        int credits = Integer.parseInt(arguments[1]);
        RdmaDevice device = RdmaDevices.open("iwarp", Map.of());
        try (device;
                Arena arena = Arena.ofShared();
                RpcRdmaServer server = RpcRdmaServer.builder(
                                device, new ProgramHandler(PayloadProgram.table(new Pattern(payloadBytes, arena))))
                        .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                        .options(ServerOptions.builder()
                                .credits(credits)
                                .maxPayloadBytes(payloadBytes)
                                .build())
                        .bindings(PayloadProgram.bindings())
                        .start()) {
            System.out.println(server.localAddress().getPort());
            while (System.in.read() >= 0) {}
        }
        System.out.println(device.ledger());
    }
}
