// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.rpcrdma4j.cli.loopback.Link;
import org.rpcrdma4j.cli.loopback.RegistrationPairs;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.spi.RdmaDevices;

/** What a connected queue pair does without the network. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class QueuePairBenchmark {
    private final WorkCompletion[] completions = {new WorkCompletion()};
    private final RdmaDevice device = RdmaDevices.open("iwarp", Map.of());
    private final RegistrationPairs pairs;
    private final Link link;

    public QueuePairBenchmark() {
        try {
            pairs = new RegistrationPairs(device);
            link = Link.open(device, end -> {});
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @TearDown
    public void tearDown() {
        pairs.close();
        link.close();
        device.close();
    }

    @Benchmark
    public void registerAndInvalidate() {
        pairs.once();
    }

    @Benchmark
    public int pollOfAnEmptyQueue() {
        return link.client().completions().poll(completions);
    }
}
