// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.benchmarks;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.rpcrdma4j.cli.loopback.ByteStream;
import org.rpcrdma4j.cli.loopback.RdmaStream;
import org.rpcrdma4j.cli.loopback.TcpStream;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.spi.RdmaDevices;

/** 1 MiB by RDMA Write, by RDMA Read and over a plain socket, eight in flight. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class StreamBenchmark {
    private static final int PIECES = 64;

    @Param({"write", "read", "tcp"})
    private String by = "write";

    @Param({"off", "on"})
    private String crc = "off";

    private @Nullable RdmaDevice device;
    private @Nullable ByteStream stream;

    @Setup
    public void setUp() throws IOException {
        RdmaDevice opened = RdmaDevices.open("iwarp", Map.of("crc", crc));
        device = opened;
        stream = switch (by) {
            case "write" -> RdmaStream.writes(opened);
            case "read" -> RdmaStream.reads(opened);
            default -> TcpStream.open();
        };
    }

    @TearDown
    public void tearDown() throws IOException {
        if (stream != null) {
            stream.close();
        }
        if (device != null) {
            device.close();
        }
    }

    @Benchmark
    @OperationsPerInvocation(PIECES)
    public long mebibyte() throws IOException {
        return stream == null ? 0 : stream.move(PIECES).bytes();
    }
}
