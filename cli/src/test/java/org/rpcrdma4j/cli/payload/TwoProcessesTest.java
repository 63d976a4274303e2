// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.payload;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rpcrdma4j.cli.payload.PayloadCall.Verification;
import org.rpcrdma4j.transport.client.RpcRdmaClient;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.spi.RdmaDevices;

/** A client here and a server in a process of its own, over software iWARP. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class TwoProcessesTest {
    private static final long LARGEST = 16L << 20;
    private static final int DEEPEST = 1024;
    /** Memory for what comes: calls beyond share it, and get the same bytes. */
    private static final long TARGET_BYTES = 256L << 20;

    private static Process server;
    private static BufferedReader said;
    private static InetSocketAddress address;

    @BeforeAll
    static void startServer() throws IOException {
        server = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx512m",
                        "-ea",
                        "-cp",
                        System.getProperty("java.class.path"),
                        PayloadServerProcess.class.getName(),
                        String.valueOf(LARGEST),
                        String.valueOf(DEEPEST))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        said = new BufferedReader(new InputStreamReader(server.getInputStream(), StandardCharsets.UTF_8));
        String port = said.readLine();
        assertThat(port).as("the server's port").matches("\\d+");
        address = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(port));
    }

    @AfterAll
    static void theServersLedgerIsZeroAfterClose() throws IOException, InterruptedException {
        server.getOutputStream().close();
        String ledger = said.readLine();
        boolean ended = server.waitFor(30, TimeUnit.SECONDS);
        server.destroyForcibly();
        assertThat(ended).as("server ended").isTrue();
        assertThat(server.exitValue()).isZero();
        assertThat(ledger).contains("mappedBytes=0", "regions=0");
    }

    @ParameterizedTest
    @CsvSource({
        "NULL, 0, 1, 2000", "NULL, 0, 8, 5000", "NULL, 0, 64, 20000", "NULL, 0, 1024, 50000",
        "TAKE, 65536, 1, 500", "TAKE, 65536, 8, 1000", "TAKE, 65536, 64, 2000", "TAKE, 65536, 1024, 4096",
        "GIVE, 65536, 1, 500", "GIVE, 65536, 8, 1000", "GIVE, 65536, 64, 2000", "GIVE, 65536, 1024, 4096",
        "TAKE, 1048576, 1, 50", "TAKE, 1048576, 8, 100", "TAKE, 1048576, 64, 256", "TAKE, 1048576, 1024, 1024",
        "GIVE, 1048576, 1, 50", "GIVE, 1048576, 8, 100", "GIVE, 1048576, 64, 256", "GIVE, 1048576, 1024, 1024",
        "TAKE, 16777216, 1, 10", "TAKE, 16777216, 8, 24", "TAKE, 16777216, 64, 64", "TAKE, 16777216, 1024, 1024",
        "GIVE, 16777216, 1, 10", "GIVE, 16777216, 8, 24", "GIVE, 16777216, 64, 64", "GIVE, 16777216, 1024, 1024",
    })
    void payloadsArriveByteForByteAndNothingIsLeft(PayloadCall.Kind kind, long bytes, int inFlight, int count) {
        RdmaDevice device = RdmaDevices.open("iwarp", Map.of());
        try (device;
                Arena arena = Arena.ofShared();
                RpcRdmaClient client = RpcRdmaClient.builder(device, address)
                        .maxInFlight(inFlight)
                        .maxPayloadBytes(LARGEST)
                        .build()) {
            new CallLoop(client, calls(kind, bytes, inFlight, arena)).run(count);
            assertThat(client.counters().get(ClientCounter.RECEIVES)).isEqualTo(count);
            assertThat(client.counters().get(ClientCounter.CONNECTS)).isEqualTo(1);
        }
        assertThat(device.ledger().mappedBytes()).isZero();
        assertThat(device.ledger().regions()).isZero();
        assertThat(device.ledger().maps()).isEqualTo(device.ledger().unmaps());
    }

    private static List<PayloadCall> calls(PayloadCall.Kind kind, long bytes, int count, Arena arena) {
        Pattern pattern = new Pattern(Math.max(bytes, 8), arena);
        int targets = Math.clamp(TARGET_BYTES / Math.max(bytes, 1), 1, count);
        Verification verification = targets == count ? Verification.CLEARED : Verification.BYTES;
        List<MemorySegment> memory = new ArrayList<>();
        List<PayloadCall> calls = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int seed = i % targets;
            switch (kind) {
                case NULL -> calls.add(PayloadCall.nothing(pattern, arena));
                case TAKE -> calls.add(PayloadCall.take(pattern, i, bytes, verification, arena));
                case GIVE -> {
                    if (memory.size() < targets) {
                        memory.add(arena.allocate(bytes, 4096));
                    }
                    calls.add(PayloadCall.give(pattern, seed, memory.get(seed), verification, arena));
                }
            }
        }
        return calls;
    }
}
