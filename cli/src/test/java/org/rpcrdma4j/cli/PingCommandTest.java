// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.cli.payload.Pattern;
import org.rpcrdma4j.cli.payload.PayloadProgram;
import org.rpcrdma4j.transport.server.ProgramHandler;
import org.rpcrdma4j.transport.server.RpcRdmaServer;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.spi.RdmaDevices;
import picocli.CommandLine;

class PingCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... args) {
        CommandLine line = Main.commandLine();
        line.setOut(new PrintWriter(out, true));
        line.setErr(new PrintWriter(err, true));
        return line.execute(args);
    }

    private int runAgainstServer(String... more) throws IOException {
        try (RdmaDevice device = RdmaDevices.open("iwarp", Map.of());
                Arena arena = Arena.ofShared();
                RpcRdmaServer server = RpcRdmaServer.builder(
                                device, new ProgramHandler(PayloadProgram.table(new Pattern(8, arena))))
                        .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                        .start()) {
            String[] args = new String[more.length + 4];
            args[0] = "ping";
            args[1] = "127.0.0.1:" + server.localAddress().getPort();
            args[2] = "--interval";
            args[3] = "0";
            System.arraycopy(more, 0, args, 4, more.length);
            return run(args);
        }
    }

    @Test
    void eachAnswerIsALineAndTheLastOneSumsUp() throws IOException {
        int status = runAgainstServer(
                "-c", "3", "--program", String.valueOf(PayloadProgram.NUMBER), "--program-version", "1", "--headers");

        assertThat(status).as("errors: %s", err).isZero();
        assertThat(out.toString())
                .containsPattern("SENT .*RDMA_MSG")
                .containsPattern("RECEIVED .*RDMA_MSG")
                .containsPattern("call 3, [0-9.]+ ms")
                .containsPattern("3 calls, 3 answers; least [0-9.]+, median [0-9.]+, p99 [0-9.]+ ms");
    }

    @Test
    void aProgramThatIsNotThereIsOneLineAndStatusOne() throws IOException {
        assertThat(runAgainstServer("-c", "1")).isEqualTo(1);
        assertThat(err.toString().lines())
                .singleElement()
                .asString()
                .contains("program 100003 version 3", "PROG_UNAVAIL");
    }

    @Test
    void aServerThatIsNotThereIsOneLineAndStatusOne() {
        assertThat(run("ping", "127.0.0.1:1", "-c", "1")).isEqualTo(1);
        assertThat(err.toString().lines())
                .singleElement()
                .isEqualTo("rpcrdma ping: cannot reach 127.0.0.1:1: connection refused");
    }

    @Test
    void theDetailIsThereForWhoAsks() {
        assertThat(run("--verbose", "ping", "127.0.0.1:1", "-c", "1")).isEqualTo(1);
        assertThat(err.toString()).contains("UNREACHABLE", "attempts to connect failed");
    }

    @Test
    void aHostWithoutAnAddressIsOneLine() {
        assertThat(run("ping", "no-such-host.invalid", "-c", "1")).isEqualTo(1);
        assertThat(err.toString().lines()).singleElement().isEqualTo("rpcrdma ping: unknown host no-such-host.invalid");
    }

    @Test
    void aServerThatDoesNotSpeakRdmaIsOneLine() throws IOException {
        try (ServerSocket other = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            Thread.ofVirtual().start(() -> answerAsOther(other));
            String server = "127.0.0.1:" + other.getLocalPort();
            assertThat(run("ping", server, "-c", "1")).isEqualTo(1);
            assertThat(err.toString().lines())
                    .singleElement()
                    .asString()
                    .startsWith("rpcrdma ping: cannot reach " + server + ": ")
                    .contains("speak RDMA");
        }
    }

    /** What a web server says to a request that it does not understand. */
    private static void answerAsOther(ServerSocket listener) {
        byte[] answer = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
        try {
            while (true) {
                try (Socket client = listener.accept()) {
                    client.getOutputStream().write(answer);
                    client.shutdownOutput();
                    client.getInputStream().readAllBytes();
                }
            }
        } catch (IOException e) {
            // The test is over.
        }
    }

    @Test
    void aServerThatNeverAnswersIsOneLine() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            String server = "127.0.0.1:" + silent.getLocalPort();
            assertThat(run("ping", server, "-c", "1", "-W", "0.5")).isEqualTo(1);
            assertThat(err.toString().lines())
                    .singleElement()
                    .isEqualTo("rpcrdma ping: no answer from " + server + " within 0.5 s");
        }
    }

    @Test
    void anAddressThatIsNoneIsWrongUsage() {
        assertThat(run("ping", "host:99999")).isEqualTo(2);
        assertThat(run("ping", "a:b:c")).isEqualTo(2);
        assertThat(run("ping", "127.0.0.1", "-c", "0")).isEqualTo(2);
        assertThat(err.toString()).contains("expected HOST or HOST:PORT", "--count 0");
    }
}
