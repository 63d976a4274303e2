// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.loopback;

import java.io.IOException;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.function.ToDoubleBiFunction;
import java.util.function.ToDoubleFunction;

/**
 * Measures rows of a table, each in turns with the same done by a peer, mostly a plain socket: ours, peer, ours, peer. A gate is a ratio
 * of two neighbours, so that what else the machine does falls on both.
 */
public final class Rows {
    static final int ROUNDS = 5;

    private static final int WARM_UP_PIECES = 512;
    private static final int WARM_UP_TRIPS = 10_000;

    /** Of the time, what the compiler's threads may be at work; and how much longer than the row it may take until that is so. */
    private static final double COMPILING = 0.05;

    private static final double WARM_UP_ROWS = 10;
    private static final CompilationMXBean COMPILER = ManagementFactory.getCompilationMXBean();

    private final double secondsPerRow;
    private final Consumer<String> progress;
    private final List<Gate> gates = new ArrayList<>();

    /**
     * @param secondsPerRow time for the samples of one row, both sides together, without the warm-up
     * @param progress told what is measured next
     */
    public Rows(double secondsPerRow, Consumer<String> progress) {
        this.secondsPerRow = secondsPerRow;
        this.progress = progress;
    }

    /** What was measured so far. */
    public List<Gate> gates() {
        return List.copyOf(gates);
    }

    void add(Gate gate) {
        gates.add(gate);
    }

    /** Says what is measured next. */
    void announce(String name) {
        progress.accept(name);
    }

    /** How often something that takes so long is done for one sample. */
    int repetitions(double nanosEach, int least, int most) {
        return (int) Math.clamp(secondsPerRow / (2 * ROUNDS) * 1e9 / nanosEach, least, most);
    }

    /** One way of a connection, beside a plain socket; gates for throughput, processor time and allocation. */
    void stream(String name, ByteStream ours, double throughput, double cpu, double allocated) throws IOException {
        Sample[] mine;
        try (ByteStream plain = TcpStream.open()) {
            mine = stream(name, ours, "plain TCP", plain, throughput, cpu);
        }
        allocation(name, mine, ByteStream.PIECE_BYTES, allocated);
    }

    /**
     * One stream beside another; gates for throughput and processor time. Both stay the caller's.
     *
     * @return samples of ours
     */
    public Sample[] stream(
            String name, ByteStream ours, String peerName, ByteStream peer, double throughput, double cpu)
            throws IOException {
        announce(name);
        Sample[] mine = new Sample[ROUNDS];
        Sample[] theirs = new Sample[ROUNDS];
        warmUp(ours, peer);
        int myPieces = pieces(ours.move(WARM_UP_PIECES));
        int peerPieces = pieces(peer.move(WARM_UP_PIECES));
        for (int i = 0; i < ROUNDS; i++) {
            mine[i] = ours.move(myPieces);
            theirs[i] = peer.move(peerPieces);
        }
        gates.add(Gate.atLeast(
                throughput,
                "x",
                name + ": throughput / " + peerName,
                ratios(mine, theirs, (a, b) -> a.gibPerSecond() / b.gibPerSecond()),
                both(
                        "%.2f / %.2f GiB/s",
                        medianOf(mine, Sample::gibPerSecond), medianOf(theirs, Sample::gibPerSecond))));
        gates.add(Gate.atMost(
                cpu,
                "x",
                name + ": CPU s/GiB / " + peerName,
                ratios(mine, theirs, (a, b) -> a.cpuSecondsPerGib() / b.cpuSecondsPerGib()),
                both(
                        "%.2f / %.2f s/GiB",
                        medianOf(mine, Sample::cpuSecondsPerGib), medianOf(theirs, Sample::cpuSecondsPerGib))));
        return mine;
    }

    /** Moves pieces both ways until the compiler has little left to do, so that the samples tell of the transfer; but not for ever. */
    private void warmUp(ByteStream ours, ByteStream peer) throws IOException {
        long begin = System.nanoTime();
        double share = 1;
        while (share > COMPILING && System.nanoTime() - begin <= WARM_UP_ROWS * secondsPerRow * 1e9) {
            long roundBegin = System.nanoTime();
            long compiling = COMPILER.getTotalCompilationTime();
            ours.move(WARM_UP_PIECES);
            peer.move(WARM_UP_PIECES);
            share = (COMPILER.getTotalCompilationTime() - compiling) * 1e6 / (System.nanoTime() - roundBegin);
        }
    }

    private int pieces(Sample warm) {
        double seconds = secondsPerRow / (2 * ROUNDS);
        return (int) Math.clamp(warm.gibPerSecond() * seconds * 1024, 32, 1 << 20);
    }

    /** What is allocated for each operation of so many bytes. */
    void allocation(String name, Sample[] samples, double bytesPerOperation, double most) {
        double[] values = new double[samples.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = samples[i].allocatedBytes() / (samples[i].bytes() / bytesPerOperation);
        }
        gates.add(Gate.atMost(most, "B", name + ": bytes allocated per operation", values, ""));
    }

    /** Round trips beside those over a plain socket. */
    void roundTrips(String name, PingPong ours, boolean busy, double bound, double allocated) throws IOException {
        announce(name);
        double[] median = new double[ROUNDS];
        double[] tail = new double[ROUNDS];
        Sample[] samples = new Sample[ROUNDS];
        double[][] micros = new double[4][ROUNDS];
        try (PingPong peer = new TcpPingPong(busy)) {
            long[] nanos = new long[WARM_UP_TRIPS];
            ours.run(nanos);
            peer.run(nanos);
            double perTrip = Statistics.quantile(0.5, nanos);
            nanos = new long[repetitions(perTrip, 1000, 1 << 20)];
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
        allocation(name, samples, 1, allocated);
    }

    static double[] ratios(Sample[] mine, Sample[] plain, ToDoubleBiFunction<Sample, Sample> ratio) {
        double[] values = new double[mine.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = ratio.applyAsDouble(mine[i], plain[i]);
        }
        return values;
    }

    static double medianOf(Sample[] samples, ToDoubleFunction<Sample> value) {
        double[] values = new double[samples.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = value.applyAsDouble(samples[i]);
        }
        return Statistics.median(values);
    }

    static String both(String format, double ours, double plain) {
        return String.format(Locale.ROOT, format, ours, plain);
    }
}
