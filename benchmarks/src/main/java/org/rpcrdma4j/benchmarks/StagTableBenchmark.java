// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.benchmarks;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
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
import org.rpcrdma4j.iwarp.mem.AccessFault;
import org.rpcrdma4j.iwarp.mem.AccessKind;
import org.rpcrdma4j.iwarp.mem.Leases;
import org.rpcrdma4j.iwarp.mem.PlainRegion;
import org.rpcrdma4j.iwarp.mem.Region;
import org.rpcrdma4j.iwarp.mem.StagTable;
import org.rpcrdma4j.verbs.Access;

/**
 * The check of an access: find the region by its STag, enter, leave; in an order that no cache foresees. Beside it the least it can cost,
 * with a plain array in place of the table.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = "-Xmx2g")
public class StagTableBenchmark {
    private static final int BYTES = 4096;

    @Param({"1000", "1000000"})
    private int regions;

    private final MemorySegment memory = Arena.global().allocate(BYTES, 64);
    private final NoDomain domain = new NoDomain();
    private final SplittableRandom random = new SplittableRandom(1);
    private final StagTable table = new StagTable(random::nextInt, 1 << 21);
    private int[] stags = {};
    private int[] places = {};
    private Region[] array = {};
    private int next;

    @Setup
    public void setUp() {
        Leases leases = new Leases();
        stags = new int[regions];
        places = new int[regions];
        array = new Region[regions];
        for (int i = 0; i < regions; i++) {
            array[i] = PlainRegion.register(domain, table, leases, memory, Access.REMOTE_READ_WRITE);
            int other = random.nextInt(i + 1);
            places[i] = places[other];
            places[other] = i;
        }
        for (int i = 0; i < regions; i++) {
            stags[i] = array[places[i]].remoteKey();
        }
    }

    @Benchmark
    public AccessFault enterAndLeave() {
        advance();
        int stag = stags[next];
        Region region = table.find(stag);
        if (region == null) {
            throw new IllegalStateException("no region of STag " + stag);
        }
        return use(region, stag);
    }

    @Benchmark
    public AccessFault plainArray() {
        advance();
        return use(array[places[next]], stags[next]);
    }

    private void advance() {
        next = next + 1 == regions ? 0 : next + 1;
    }

    private AccessFault use(Region region, int stag) {
        AccessFault fault = region.enter(stag, AccessKind.REMOTE_WRITE, domain, 1, memory.address(), BYTES);
        region.leave();
        return fault;
    }
}
