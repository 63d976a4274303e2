// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.together;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import org.rpcrdma4j.transport.client.RpcRdmaClient;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.spi.RdmaDevices;

/** The client of {@link ClientProcessesTest}: calls, says so after the first calls, and goes on for as many as it is told. */
final class ClientProcess {

    static final String WORKS = "works";
    static final String ENDS = "ends";
    private static final int BLOCK = 20_000;

    private ClientProcess() {}

    /** Arguments: the server's port, how many calls. */
    public static void main(String[] arguments) throws IOException {
        int port = Integer.parseInt(arguments[0]);
        long calls = Long.parseLong(arguments[1]);
        try (RdmaDevice device = RdmaDevices.open("iwarp", Map.of());
                Arena arena = Arena.ofShared();
                RpcRdmaClient client = RpcRdmaClient.builder(
                                device, new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                        .maxInFlight(8)
                        .build()) {
            MemorySegment target = arena.allocate(BLOCK);
            for (long i = 0; i < calls; i++) {
                client.call(OneServer.nothing(client));
                if (!OneServer.isWhole(client.call(OneServer.fetch(client, target)), target)) {
                    throw new IOException("call " + i + " brought something else");
                }
                if (i == 0) {
                    System.out.println(WORKS);
                }
            }
        }
        System.out.println(ENDS);
    }
}
