// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.rpcrdma4j.cli.loopback.ByteStream;
import org.rpcrdma4j.cli.loopback.Gate;
import org.rpcrdma4j.cli.loopback.Rows;
import org.rpcrdma4j.cli.loopback.Sample;
import org.rpcrdma4j.verbs.RdmaDevice;

/**
 * Measures NFS over RDMA beside stock oncrpc4j's TCP, which moves the same bytes of the same files and does less for them: each byte is
 * filled in by the writer and compared by the reader, on both sides.
 */
public final class NfsBenchmark {
    /** Of all files together; each is written, and read, from its beginning to its end. */
    private static final long BYTES = 256L << 20;

    private static final int ROUND = 1;
    private static final String PEER = "oncrpc4j TCP";
    private static final double MOST_CPU_WITHOUT_CRC = 0.7;
    private static final double MOST_CPU_WITH_CRC = 0.85;

    private final Function<Map<String, String>, RdmaDevice> opener;
    private final Rows rows;

    /**
     * @param opener opens a device with these settings; they are iWARP's, other providers get none
     * @param secondsPerRow time for the samples of one row, both sides together, without the warm-up
     * @param progress told what is measured next
     */
    public NfsBenchmark(
            Function<Map<String, String>, RdmaDevice> opener, double secondsPerRow, Consumer<String> progress) {
        this.opener = opener;
        rows = new Rows(secondsPerRow, progress);
    }

    /** Runs all rows. */
    public List<Gate> run(boolean withoutCrc, boolean withCrc) throws IOException {
        if (withoutCrc) {
            files("off", MOST_CPU_WITHOUT_CRC);
        }
        if (withCrc) {
            files("on", MOST_CPU_WITH_CRC);
        }
        return rows.gates();
    }

    private void files(String crc, double cpu) throws IOException {
        try (RdmaDevice device = opener.apply(Map.of("crc", crc));
                TemporaryDirectory directory = TemporaryDirectory.create(2 * BYTES);
                DemoFiles files = new DemoFiles(BYTES);
                ServedDirectory served = ServedDirectory.serve(
                        device, Files.createDirectory(directory.path().resolve("export")));
                StockTransfer stock = stock(directory.path().resolve("stock"), files);
                NfsTransfer rdma = NfsTransfer.mount(device, served.address(), files)) {
            rows.stream(
                    "NFS WRITE 1 MiB, CRC " + crc,
                    new FileStream(rdma::write),
                    PEER,
                    new FileStream(stock::write),
                    1.4,
                    cpu);
            rows.stream(
                    "NFS READ 1 MiB, CRC " + crc,
                    new FileStream(rdma::read),
                    PEER,
                    new FileStream(stock::read),
                    1.2,
                    cpu);
        }
    }

    private static StockTransfer stock(Path path, DemoFiles files) throws IOException {
        return new StockTransfer(Files.createDirectory(path), files);
    }

    @FunctionalInterface
    private interface Way {
        void move(int round, int from, int to, LongConsumer progress) throws IOException;
    }

    /** All files again and again, until at least so many pieces were moved. */
    private record FileStream(Way way) implements ByteStream {
        @Override
        public Sample move(int pieces) throws IOException {
            Sample.Meter meter = new Sample.Meter();
            long moved = 0;
            while (moved < (long) pieces * PIECE_BYTES) {
                way.move(ROUND, 0, DemoFiles.COUNT, bytes -> {});
                moved += BYTES;
            }
            return meter.sample(moved);
        }

        @Override
        public void close() {}
    }
}
