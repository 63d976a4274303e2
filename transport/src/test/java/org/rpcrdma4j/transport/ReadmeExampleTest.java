// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.client.RpcRdmaClient;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.Credential;
import org.rpcrdma4j.transport.rpc.ProgramTable;
import org.rpcrdma4j.transport.rpc.ReplyReader;
import org.rpcrdma4j.transport.rpc.RpcProcedure;
import org.rpcrdma4j.transport.rpc.RpcProgram;
import org.rpcrdma4j.transport.server.ProgramHandler;
import org.rpcrdma4j.transport.server.RpcRdmaServer;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.spi.RdmaDevices;

/** The README's example is this code, but for the port, and does what it says. */
class ReadmeExampleTest {

    @Test
    void theExampleOfTheReadmeGetsItsBytesBack() throws Exception {
        // begin
        RpcProgram program = RpcProgram.program(0x20000001, "echo")
                .procedure(
                        1,
                        1,
                        RpcProcedure.of(
                                arguments -> arguments.readOpaque(1 << 20),
                                (data, request, results) -> results.writeOpaque(data)))
                .build();
        try (RdmaDevice device = RdmaDevices.open("iwarp", Map.of());
                RpcRdmaServer server = RpcRdmaServer.builder(
                                device, new ProgramHandler(new ProgramTable(List.of(program))))
                        .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                        .start();
                RpcRdmaClient client =
                        RpcRdmaClient.builder(device, server.localAddress()).build()) {

            XdrWriter call = new XdrWriter();
            new CallHeader(client.nextXid(), 0x20000001, 1, 1, Credential.None.INSTANCE).encode(call);
            call.writeOpaque("over RDMA".getBytes(UTF_8));

            Reply reply = client.call(CallMessage.builder(MemorySegment.ofArray(call.toByteArray()))
                    .maxReplyBytes(1024)
                    .build());
            // end
            XdrReader in = new XdrReader(reply.message());
            ReplyReader.readHeader(in, reply.xid());
            assertThat(in.readString(100)).isEqualTo("over RDMA");
        }
    }

    @Test
    void theReadmeShowsThisCode() throws Exception {
        String source = withoutSpace(read("transport/src/test/java/org/rpcrdma4j/transport/ReadmeExampleTest.java"));
        String example = source.substring(source.indexOf("//begin") + 7, source.indexOf("//end"));
        assertThat(withoutSpace(read("README.md")).replace("getLoopbackAddress(),20049", "getLoopbackAddress(),0"))
                .contains(example);
    }

    private static String withoutSpace(List<String> lines) {
        return lines.stream().map(line -> line.replaceAll("\\s", "")).collect(Collectors.joining());
    }

    private static List<String> read(String file) throws Exception {
        return Files.readAllLines(Path.of("..").resolve(file));
    }
}
