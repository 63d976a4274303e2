// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class CommandLineTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... args) {
        CommandLine line = Main.commandLine();
        line.setOut(new PrintWriter(out, true));
        line.setErr(new PrintWriter(err, true));
        return line.execute(args);
    }

    @Test
    void theDemonstrationOfVerbsMovesDataBothWaysAndLeavesNothingBehind() {
        int status = run("demo", "--verbs", "--size", "4MiB");

        assertThat(status).as("errors: %s", err).isZero();
        assertThat(err.toString()).isEmpty();
        assertThat(out.toString())
                .contains("4 MiB there and 4 MiB back, all bytes equal")
                .contains("8 registrations, 8 invalidations")
                .contains("refused, memory unchanged")
                .contains("the first connection is CONNECTED")
                .contains("0 bytes leased, 0 regions")
                .containsPattern("RDMA Write +[0-9.]+ GiB/s, [0-9.]+ of plain TCP")
                .containsPattern("RDMA Read +[0-9.]+ GiB/s, [0-9.]+ of plain TCP");
    }

    @Test
    void theDemonstrationOfVerbsTakesSizesThatAreNoWholePieces() {
        assertThat(run("demo", "--verbs", "--size", "1000001", "--crc", "off"))
                .as("errors: %s", err)
                .isZero();
        assertThat(out.toString()).contains("1000001 B there").contains("CRC off");
    }

    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void theBenchmarkNamesEveryGateAndWhetherItHolds() {
        int status = run("bench", "--layer", "verbs", "--seconds", "0.01", "--crc", "off");

        assertThat(status).as("errors: %s", err).isZero();
        assertThat(out.toString())
                .contains("RDMA Write 1 MiB, CRC off: throughput / plain TCP")
                .contains("RDMA Read 1 MiB, CRC off: CPU s/GiB / plain TCP")
                .contains("Send 64 B round trip, busy polling: p50 / plain TCP")
                .containsPattern("register \\+ invalidate pair .*<= 200 ns +(holds|does not hold)");
    }

    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void theBenchmarkOfCallsNamesEveryGateToo() {
        int status = run("bench", "--layer", "rpc", "--seconds", "0.01", "--crc", "off");

        assertThat(status).as("errors: %s", err).isZero();
        assertThat(out.toString())
                .contains("READ-like call 1 MiB, CRC off: throughput / plain TCP")
                .contains("WRITE-like call 1 MiB, CRC off: CPU s/GiB / plain TCP")
                .contains("NULL call, blocking: p50 / plain TCP")
                .containsPattern("NULL calls, 1024 in flight: bytes allocated per operation .*<= 200 B");
    }

    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void theBenchmarkOfFilesNamesEveryGateToo() {
        int status = run("bench", "--layer", "nfs", "--seconds", "0.01", "--crc", "off");

        assertThat(status).as("errors: %s", err).isZero();
        assertThat(out.toString())
                .contains("NFS READ 1 MiB, CRC off: throughput / oncrpc4j TCP")
                .contains("NFS WRITE 1 MiB, CRC off: CPU s/GiB / oncrpc4j TCP");
    }

    @Test
    void devicesListsTheSoftwareProviderWithItsAttributes() {
        assertThat(run("devices")).isZero();
        assertThat(out.toString())
                .contains("iwarp: ")
                .contains("max queue pairs")
                .contains("gaps allowed");
    }

    @Test
    void devicesAsJsonIsOneArray() {
        assertThat(run("devices", "--json")).isZero();
        assertThat(out.toString().strip())
                .startsWith("[{\"provider\":\"iwarp\"")
                .contains("\"available\":true", "\"gapsAllowed\":true")
                .endsWith("}]");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "fly",
                "demo --size many",
                "demo --size 0",
                "demo --crc maybe",
                "demo --speed 3",
                "demo --verbs --json",
                "demo --verbs --damage",
                "demo --size 4294967296GiB",
                "bench --seconds 0",
                "bench --seconds x",
                "devices extra"
            })
    void wrongUsageIsStatusTwoAndOneLineOnStandardError(String args) {
        int status = args.isEmpty() ? run() : run(args.split(" ", -1));

        assertThat(status).isEqualTo(2);
        assertThat(out.toString()).isEmpty();
        assertThat(err.toString().lines())
                .singleElement()
                .asString()
                .startsWith("rpcrdma")
                .contains("--help");
    }

    @Test
    void aProviderThatIsNotThereIsStatusOneAndOneLineThatNamesIt() {
        assertThat(run("demo", "--device", "nosuch")).isEqualTo(1);
        assertThat(err.toString().lines())
                .singleElement()
                .asString()
                .startsWith("rpcrdma demo: ")
                .contains("nosuch");
    }

    @Test
    void verboseAddsTheTrace() {
        assertThat(run("demo", "--device", "nosuch", "--verbose")).isEqualTo(1);
        assertThat(err.toString()).contains("\tat org.rpcrdma4j.cli.");
    }

    @Test
    void helpAndVersionAreStatusZero() {
        assertThat(run("--help")).isZero();
        assertThat(run("demo", "--help")).isZero();
        assertThat(run("help", "demo")).isZero();
        assertThat(run("--version")).isZero();
        assertThat(out.toString()).contains("Exit status:", "--size", "rpcrdma ", "Java 25");
    }
}
