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
import org.rpcrdma4j.cli.loopback.PingPong;
import org.rpcrdma4j.cli.loopback.RdmaPingPong;
import org.rpcrdma4j.cli.loopback.TcpPingPong;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.spi.RdmaDevices;

/** A Send of 64 bytes there and back, and the same over a plain socket. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class PingPongBenchmark {
    private static final int TRIPS = 1000;

    @Param({"rdma", "tcp"})
    private String over = "rdma";

    @Param({"off", "on"})
    private String busyPoll = "off";

    private final long[] nanos = new long[TRIPS];
    private @Nullable RdmaDevice device;
    private @Nullable PingPong pingPong;

    @Setup
    public void setUp() throws IOException {
        RdmaDevice opened = RdmaDevices.open("iwarp", Map.of("busy-poll", busyPoll));
        device = opened;
        pingPong = over.equals("rdma") ? new RdmaPingPong(opened) : new TcpPingPong(busyPoll.equals("on"));
    }

    @TearDown
    public void tearDown() throws IOException {
        if (pingPong != null) {
            pingPong.close();
        }
        if (device != null) {
            device.close();
        }
    }

    @Benchmark
    @OperationsPerInvocation(TRIPS)
    public void roundTrip() throws IOException {
        if (pingPong != null) {
            pingPong.run(nanos);
        }
    }
}
