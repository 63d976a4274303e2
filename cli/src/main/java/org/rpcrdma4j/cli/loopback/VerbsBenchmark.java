// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.loopback;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.ToDoubleBiFunction;
import java.util.function.ToDoubleFunction;
import org.rpcrdma4j.verbs.RdmaDevice;

/**
 * Measures a provider at its verbs, each row in turns with the same over a plain socket: ours, peer, ours, peer. A gate is a ratio of two
 * neighbours, so that what else the machine does falls on both.
 */
public final class VerbsBenchmark {
    private static final int ROUNDS = 5;
    private static final int WARM_UP_PIECES = 512;
    private static final int WARM_UP_PAIRS = 3_000_000;
    private static final int WARM_UP_TRIPS = 10_000;

    private final Function<Map<String, String>, RdmaDevice> opener;
    private final double secondsPerRow;
    private final Consumer<String> progress;
    private final List<Gate> gates = new ArrayList<>();

    /**
     * @param opener opens a device with these settings; they are iWARP's, other providers get none
     * @param secondsPerRow time for the samples of one row, both sides together, without the warm-up
     * @param progress told what is measured next
     */
    public VerbsBenchmark(
            Function<Map<String, String>, RdmaDevice> opener, double secondsPerRow, Consumer<String> progress) {
        this.opener = opener;
        this.secondsPerRow = secondsPerRow;
        this.progress = progress;
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
        try (RdmaDevice device = opener.apply(Map.of("crc", crc))) {
            roundTrips(device, false, 1.5);
            registrations(device);
        }
        try (RdmaDevice device = opener.apply(Map.of("crc", crc, "busy-poll", "on"))) {
            roundTrips(device, true, 2);
        }
        return List.copyOf(gates);
    }

    private void streams(String crc, double throughput, double cpu) throws IOException {
        try (RdmaDevice device = opener.apply(Map.of("crc", crc))) {
            try (ByteStream writes = RdmaStream.writes(device)) {
                stream("RDMA Write 1 MiB, CRC " + crc, writes, throughput, cpu);
            }
            try (ByteStream reads = RdmaStream.reads(device)) {
                stream("RDMA Read 1 MiB, CRC " + crc, reads, throughput, cpu);
            }
        }
    }

    private void stream(String name, ByteStream ours, double throughput, double cpu) throws IOException {
        progress.accept(name);
        Sample[] mine = new Sample[ROUNDS];
        Sample[] plain = new Sample[ROUNDS];
        try (ByteStream peer = TcpStream.open()) {
            ours.move(WARM_UP_PIECES);
            peer.move(WARM_UP_PIECES);
            int myPieces = pieces(ours.move(WARM_UP_PIECES));
            int peerPieces = pieces(peer.move(WARM_UP_PIECES));
            for (int i = 0; i < ROUNDS; i++) {
                mine[i] = ours.move(myPieces);
                plain[i] = peer.move(peerPieces);
            }
        }
        gates.add(Gate.atLeast(
                throughput,
                "x",
                name + ": throughput / plain TCP",
                ratios(mine, plain, (a, b) -> a.gibPerSecond() / b.gibPerSecond()),
                both(
                        "%.2f / %.2f GiB/s",
                        medianOf(mine, Sample::gibPerSecond), medianOf(plain, Sample::gibPerSecond))));
        gates.add(Gate.atMost(
                cpu,
                "x",
                name + ": CPU s/GiB / plain TCP",
                ratios(mine, plain, (a, b) -> a.cpuSecondsPerGib() / b.cpuSecondsPerGib()),
                both(
                        "%.2f / %.2f s/GiB",
                        medianOf(mine, Sample::cpuSecondsPerGib), medianOf(plain, Sample::cpuSecondsPerGib))));
        allocation(name, mine, ByteStream.PIECE_BYTES);
    }

    private int pieces(Sample warm) {
        double seconds = secondsPerRow / (2 * ROUNDS);
        return (int) Math.clamp(warm.gibPerSecond() * seconds * 1024, 32, 1 << 20);
    }

    private void allocation(String name, Sample[] samples, double bytesPerOperation) {
        double[] values = new double[samples.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = samples[i].allocatedBytes() / (samples[i].bytes() / bytesPerOperation);
        }
        // What the meter and the waiting thread allocate falls on all operations of a sample together.
        gates.add(Gate.atMost(0.99, "B", name + ": bytes allocated per operation", values, ""));
    }

    private void roundTrips(RdmaDevice device, boolean busy, double bound) throws IOException {
        String name = "Send 64 B round trip, " + (busy ? "busy polling" : "blocking");
        progress.accept(name);
        double[] median = new double[ROUNDS];
        double[] tail = new double[ROUNDS];
        Sample[] samples = new Sample[ROUNDS];
        double[][] micros = new double[4][ROUNDS];
        try (PingPong ours = new RdmaPingPong(device);
                PingPong peer = new TcpPingPong(busy)) {
            long[] nanos = new long[WARM_UP_TRIPS];
            ours.run(nanos);
            peer.run(nanos);
            double perTrip = Statistics.quantile(0.5, nanos);
            nanos = new long[(int) Math.clamp(secondsPerRow / (2 * ROUNDS) * 1e9 / perTrip, 1000, 1 << 20)];
            for (int i = 0; i < ROUNDS; i++) {
                Sample.Meter meter = new Sample.Meter();
                ours.run(nanos);
                samples[i] = meter.sample(nanos.length);
                micros[0][i] = Statistics.quantile(0.5, nanos) / 1e3;
                micros[1][i] = Statistics.quantile(0.99, nanos) / 1e3;
                peer.run(nanos);
                micros[2][i] = Statistics.quantile(0.5, nanos) / 1e3;
                micros[3][i] = Statistics.quantile(0.99, nanos) / 1e3;
                median[i] = micros[0][i] / micros[2][i];
                tail[i] = micros[1][i] / micros[3][i];
            }
        }
        gates.add(Gate.atMost(
                bound,
                "x",
                name + ": p50 / plain TCP",
                median,
                both("%.1f / %.1f µs", Statistics.median(micros[0]), Statistics.median(micros[2]))));
        gates.add(Gate.figure(
                "x",
                name + ": p99 / plain TCP",
                tail,
                both("%.1f / %.1f µs", Statistics.median(micros[1]), Statistics.median(micros[3]))));
        allocation(name, samples, 1);
    }

    private void registrations(RdmaDevice device) throws IOException {
        String name = "register + invalidate pair";
        progress.accept(name);
        Sample[] samples = new Sample[ROUNDS];
        double[] nanos = new double[ROUNDS];
        try (RegistrationPairs pairs = new RegistrationPairs(device)) {
            Sample warm = pairs.run(WARM_UP_PAIRS);
            double perPair = (double) warm.nanos() / WARM_UP_PAIRS;
            int count = (int) Math.clamp(secondsPerRow / (2 * ROUNDS) * 1e9 / perPair, 10_000, 1 << 24);
            for (int i = 0; i < ROUNDS; i++) {
                samples[i] = pairs.run(count);
                nanos[i] = (double) samples[i].nanos() / count;
            }
        }
        gates.add(Gate.atMost(200, "ns", name, nanos, "post of the chain to its completion"));
        allocation(name, samples, 1);
    }

    private static double[] ratios(Sample[] mine, Sample[] plain, ToDoubleBiFunction<Sample, Sample> ratio) {
        double[] values = new double[mine.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = ratio.applyAsDouble(mine[i], plain[i]);
        }
        return values;
    }

    private static double medianOf(Sample[] samples, ToDoubleFunction<Sample> value) {
        double[] values = new double[samples.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = value.applyAsDouble(samples[i]);
        }
        return Statistics.median(values);
    }

    private static String both(String format, double ours, double plain) {
        return String.format(Locale.ROOT, format, ours, plain);
    }
}
