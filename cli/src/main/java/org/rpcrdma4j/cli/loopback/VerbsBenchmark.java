// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.loopback;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.rpcrdma4j.verbs.RdmaDevice;

/**
 * Measures a provider at its verbs, each row in turns with the same over a plain socket: ours, peer, ours, peer. A gate is a ratio of two
 * neighbours, so that what else the machine does falls on both.
 */
public final class VerbsBenchmark {
    /** What the meter and the waiting thread allocate falls on all operations of a sample together. */
    private static final double NOTHING = 0.99;

    private static final int WARM_UP_PAIRS = 3_000_000;

    private final Function<Map<String, String>, RdmaDevice> opener;
    private final Rows rows;

    /**
     * @param opener opens a device with these settings; they are iWARP's, other providers get none
     * @param secondsPerRow time for the samples of one row, both sides together, without the warm-up
     * @param progress told what is measured next
     */
    public VerbsBenchmark(
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
        try (RdmaDevice device = opener.apply(Map.of("crc", crc))) {
            roundTrips(device, false, 1.5);
            registrations(device);
        }
        try (RdmaDevice device = opener.apply(Map.of("crc", crc, "busy-poll", "on"))) {
            roundTrips(device, true, 2);
        }
        return rows.gates();
    }

    private void streams(String crc, double throughput, double cpu) throws IOException {
        try (RdmaDevice device = opener.apply(Map.of("crc", crc))) {
            try (ByteStream writes = RdmaStream.writes(device)) {
                rows.stream("RDMA Write 1 MiB, CRC " + crc, writes, throughput, cpu, NOTHING);
            }
            try (ByteStream reads = RdmaStream.reads(device)) {
                rows.stream("RDMA Read 1 MiB, CRC " + crc, reads, throughput, cpu, NOTHING);
            }
        }
    }

    private void roundTrips(RdmaDevice device, boolean busy, double bound) throws IOException {
        try (PingPong ours = new RdmaPingPong(device)) {
            rows.roundTrips(
                    "Send 64 B round trip, " + (busy ? "busy polling" : "blocking"), ours, busy, bound, NOTHING);
        }
    }

    private void registrations(RdmaDevice device) throws IOException {
        String name = "register + invalidate pair";
        rows.announce(name);
        Sample[] samples = new Sample[Rows.ROUNDS];
        double[] nanos = new double[Rows.ROUNDS];
        try (RegistrationPairs pairs = new RegistrationPairs(device)) {
            Sample warm = pairs.run(WARM_UP_PAIRS);
            double perPair = (double) warm.nanos() / WARM_UP_PAIRS;
            int count = rows.repetitions(perPair, 10_000, 1 << 24);
            for (int i = 0; i < Rows.ROUNDS; i++) {
                samples[i] = pairs.run(count);
                nanos[i] = (double) samples[i].nanos() / count;
            }
        }
        rows.add(Gate.atMost(200, "ns", name, nanos, "post of the chain to its completion"));
        rows.allocation(name, samples, 1, NOTHING);
    }
}
