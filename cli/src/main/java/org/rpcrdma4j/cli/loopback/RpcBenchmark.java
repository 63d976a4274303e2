// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.loopback;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.rpcrdma4j.cli.payload.CallLoop;
import org.rpcrdma4j.cli.payload.PayloadCall;
import org.rpcrdma4j.verbs.RdmaDevice;

/** Measures the RPC-over-RDMA transport over a provider, beside a plain socket, which carries no calls. */
public final class RpcBenchmark {
    private static final int[] DEPTHS = {1, 8, 64, 1024};
    private static final int WARM_UP_CALLS = 20_000;

    private final Function<Map<String, String>, RdmaDevice> opener;
    private final Rows rows;

    /**
     * @param opener opens a device with these settings; they are iWARP's, other providers get none
     * @param secondsPerRow time for the samples of one row, both sides together, without the warm-up
     * @param progress told what is measured next
     */
    public RpcBenchmark(
            Function<Map<String, String>, RdmaDevice> opener, double secondsPerRow, Consumer<String> progress) {
        this.opener = opener;
        rows = new Rows(secondsPerRow, progress);
    }

    /** Runs all rows. */
    public List<Gate> run(boolean withoutCrc, boolean withCrc) throws IOException {
        if (withoutCrc) {
            streams("off", 0.85, 1.3);
        }
        if (withCrc) {
            streams("on", 0.75, 1.6);
        }
        String crc = withCrc ? "on" : "off";
        try (RdmaDevice device = opener.apply(Map.of("crc", crc));
                PingPong calls = new RpcPingPong(device)) {
            rows.roundTrips("NULL call, blocking", calls, false, 1.5, 200);
        }
        try (RdmaDevice device = opener.apply(Map.of("crc", crc, "busy-poll", "on"));
                PingPong calls = new RpcPingPong(device)) {
            rows.roundTrips("NULL call, busy polling", calls, true, 2, 200);
        }
        try (RdmaDevice device = opener.apply(Map.of("crc", crc))) {
            rates(device);
        }
        return rows.gates();
    }

    private void streams(String crc, double throughput, double cpu) throws IOException {
        try (RdmaDevice device = opener.apply(Map.of("crc", crc))) {
            try (ByteStream reads = RpcStream.reads(device)) {
                rows.stream("READ-like call 1 MiB, CRC " + crc, reads, throughput, cpu, 200);
            }
            try (ByteStream writes = RpcStream.writes(device)) {
                rows.stream("WRITE-like call 1 MiB, CRC " + crc, writes, throughput, cpu, 200);
            }
        }
    }

    /** NULL calls at growing depths, in turns; the gates compare each depth with the best before it, and the processor time with depth 1. */
    private void rates(RdmaDevice device) throws IOException {
        rows.announce("NULL calls in flight");
        Sample[][] samples = new Sample[DEPTHS.length][Rows.ROUNDS];
        try (RpcLink link = new RpcLink(device, Runnable::run, DEPTHS[DEPTHS.length - 1], ByteStream.PIECE_BYTES)) {
            CallLoop[] loops = new CallLoop[DEPTHS.length];
            int[] counts = new int[DEPTHS.length];
            for (int d = 0; d < DEPTHS.length; d++) {
                loops[d] = new CallLoop(link.client(), link.calls(PayloadCall.Kind.NULL, DEPTHS[d], 0));
                Sample.Meter meter = new Sample.Meter();
                loops[d].run(WARM_UP_CALLS);
                counts[d] =
                        rows.repetitions((double) meter.sample(WARM_UP_CALLS).nanos() / WARM_UP_CALLS, 1000, 1 << 24);
            }
            for (int i = 0; i < Rows.ROUNDS; i++) {
                for (int d = 0; d < DEPTHS.length; d++) {
                    Sample.Meter meter = new Sample.Meter();
                    loops[d].run(counts[d]);
                    samples[d][i] = meter.sample(counts[d]);
                }
            }
        }
        for (int d = 0; d < DEPTHS.length; d++) {
            report(DEPTHS[d], samples[d], samples[0]);
        }
    }

    private void report(int depth, Sample[] samples, Sample[] single) {
        String name = "NULL calls, " + depth + " in flight";
        String rate = String.format(
                Locale.ROOT,
                "%.0f calls/s, %.1f µs of processor each",
                Rows.medianOf(samples, RpcBenchmark::callsPerSecond),
                Rows.medianOf(samples, RpcBenchmark::cpuMicros));
        double[] ratio = Rows.ratios(samples, single, (a, b) -> callsPerSecond(a) / callsPerSecond(b));
        double[] cpu = Rows.ratios(samples, single, (a, b) -> cpuMicros(a) / cpuMicros(b));
        if (depth == 1) {
            rows.add(Gate.figure("x", name + ": rate / 1 in flight", ratio, rate));
        } else {
            rows.add(Gate.atLeast(0.9, "x", name + ": rate / 1 in flight", ratio, rate));
            double most = depth >= 64 ? 0.5 : 1;
            rows.add(Gate.atMost(most, "x", name + ": CPU per call / 1 in flight", cpu, ""));
        }
        rows.allocation(name, samples, 1, 200);
    }

    private static double callsPerSecond(Sample sample) {
        return sample.bytes() / (sample.nanos() / 1e9);
    }

    private static double cpuMicros(Sample sample) {
        return sample.cpuNanos() / 1e3 / sample.bytes();
    }
}
