// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.cli.payload.PayloadProgram;
import org.rpcrdma4j.tcp.client.TcpRpcClient;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.Credential;
import org.rpcrdma4j.transport.rpc.ReplyReader;
import org.rpcrdma4j.transport.server.ProgramHandler;
import org.rpcrdma4j.transport.server.RpcRdmaServer;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.spi.RdmaDevices;
import picocli.CommandLine;

class BridgeCommandTest {
    private static final Pattern READY = Pattern.compile("bridge from TCP \\S*:(\\d+) to rdma:\\S+ is ready");

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... args) {
        CommandLine line = Main.commandLine();
        line.setOut(new PrintWriter(out, true));
        line.setErr(new PrintWriter(err, true));
        return line.execute(args);
    }

    private int awaitPort() {
        Waits.until(() -> READY.matcher(out.toString()).find(), () -> out + " " + err);
        Matcher ready = READY.matcher(out.toString());
        assertThat(ready.find()).isTrue();
        return Integer.parseInt(ready.group(1));
    }

    @Test
    void aTcpClientReachesAnRdmaServerUntilTheBridgeIsStopped() throws Exception {
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (RdmaDevice device = RdmaDevices.open("iwarp", Map.of());
                Arena arena = Arena.ofShared();
                RpcRdmaServer server = RpcRdmaServer.builder(
                                device,
                                new ProgramHandler(
                                        PayloadProgram.table(new org.rpcrdma4j.cli.payload.Pattern(8, arena))))
                        .address(any)
                        .start()) {
            AtomicInteger status = new AtomicInteger(-1);
            String to = "rdma:127.0.0.1:" + server.localAddress().getPort();
            Thread command =
                    Thread.ofPlatform().start(() -> status.set(run("bridge", "--from", "tcp:127.0.0.1:0", "--to", to)));
            InetSocketAddress bridge = new InetSocketAddress(any.getAddress(), awaitPort());
            try (TcpRpcClient client = TcpRpcClient.builder(bridge).build()) {
                XdrWriter head = new XdrWriter();
                new CallHeader(5, PayloadProgram.NUMBER, 1, 0, Credential.None.INSTANCE).encode(head);
                ReplyReader.readHeader(
                        new XdrReader(client.call(CallMessage.builder(MemorySegment.ofArray(head.toByteArray()))
                                        .build())
                                .message()),
                        5);
            }
            command.interrupt();
            assertThat(command.join(Duration.ofSeconds(40))).as("%s", out).isTrue();
            assertThat(status).as("%s", err).hasValue(0);
            assertThat(out.toString()).contains("1 connections, 1 calls, 1 replies");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"TERM", "INT", "HUP"})
    void aSignalEndsItInOrder(String signal, @TempDir Path aside) throws IOException, InterruptedException {
        assumeThat(CommandProcess.isIgnored(signal))
                .as("a shell that started this in the background has SIG%s ignored, and so has the bridge", signal)
                .isFalse();
        Path errors = aside.resolve("errors");
        List<String> args = List.of("bridge", "--from", "tcp:127.0.0.1:0", "--to", "rdma:127.0.0.1:1");
        try (CommandProcess bridge = CommandProcess.start(errors, READY, args)) {
            bridge.signal(signal);

            assertThat(bridge.exitStatus()).isZero();
            assertThat(bridge.out().readLine()).isEqualTo("0 connections, 0 calls, 0 replies");
            assertThat(Files.readString(errors)).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--from tcp:127.0.0.1:0 --to tcp:127.0.0.1:2049",
                "--from rdma:127.0.0.1:0 --to rdma:127.0.0.1:2049",
                "--from tcp:127.0.0.1:0 --to rdma:127.0.0.1:0",
                "--from udp:127.0.0.1:0 --to rdma:127.0.0.1:1",
                "--from 127.0.0.1:0 --to rdma:127.0.0.1:1",
                "--from tcp:127.0.0.1:70000 --to rdma:127.0.0.1:1",
                "--from tcp:127.0.0.1:0"
            })
    void endsThatMakeNoBridgeAreWrongUsageInOneLine(String args) {
        assertThat(run(("bridge " + args).split(" ", -1))).isEqualTo(2);
        assertThat(err.toString().lines())
                .singleElement()
                .asString()
                .startsWith("rpcrdma bridge: ")
                .contains("--help");
    }

    @Test
    void theHelpHasExamplesOfBothDirections() {
        assertThat(run("bridge", "--help")).isZero();
        assertThat(out.toString()).contains("--from tcp:", "--from rdma:", "Examples:");
    }
}
