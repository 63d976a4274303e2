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
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.rpcrdma4j.iwarp.ddp.DdpHeader;

/** The headers of DDP, written and read. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class HeaderBenchmark {
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(64);
    private int stag = 0x1234_5678;

    @Benchmark
    public long tagged() {
        stag++;
        DdpHeader.putTagged(buffer, 2, true, 0x40, stag, 1L << 40);
        return DdpHeader.taggedStag(buffer, 2) + DdpHeader.taggedOffset(buffer, 2);
    }

    @Benchmark
    public long untagged() {
        stag++;
        DdpHeader.putUntagged(buffer, 2, true, 0x43, 0, DdpHeader.SEND_QUEUE, stag, 0);
        return (long) DdpHeader.msn(buffer, 2) + DdpHeader.messageOffset(buffer, 2);
    }
}
