// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
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
        assertThat(err.toString().lines()).singleElement().asString().contains("rpcrdma ping");
    }

    @Test
    void anAddressThatIsNoneIsWrongUsage() {
        assertThat(run("ping", "host:99999")).isEqualTo(2);
        assertThat(run("ping", "a:b:c")).isEqualTo(2);
        assertThat(run("ping", "127.0.0.1", "-c", "0")).isEqualTo(2);
        assertThat(err.toString()).contains("expected HOST or HOST:PORT", "--count 0");
    }
}
