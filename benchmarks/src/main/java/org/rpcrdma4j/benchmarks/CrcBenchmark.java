// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.benchmarks;

import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.rpcrdma4j.iwarp.mpa.Crc32c;

/** The CRC of one FPDU. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class CrcBenchmark {
    @Param({"64", "1460", "65536"})
    private int bytes;

    private final Crc32c crc = new Crc32c();
    private ByteBuffer buffer = ByteBuffer.allocateDirect(0);

    @Setup
    public void setUp() {
        buffer = ByteBuffer.allocateDirect(bytes);
    }

    @Benchmark
    public int crc() {
        crc.reset();
        crc.update(buffer, 0, bytes);
        return crc.value();
    }
}
