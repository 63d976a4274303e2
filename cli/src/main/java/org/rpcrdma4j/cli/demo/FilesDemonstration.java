// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.demo;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Consumer;
import org.rpcrdma4j.transport.event.Gauge;
import org.rpcrdma4j.transport.event.Gauges;
import org.rpcrdma4j.verbs.RdmaDevice;

/**
 * Files over NFS/RDMA on one device: written, read back, compared, in turns with the same over stock oncrpc4j's TCP; then once more through a
 * relay that cuts the connection while WRITEs and READs are in flight. Each of these has a connection of its own, so that what was counted
 * tells of it alone. Everything is removed at the end, whatever it is.
 */
public final class FilesDemonstration {
    private static final int ROUNDS = 3;
    private static final long LONGEST_MEASURING_NANOS = 15_000_000_000L;
    private static final long WARM_UP_BYTES = 64 << 20;
    private static final int WARM_UP_ROUNDS = 3;
    /** A slow machine has seen enough after this. */
    private static final long LONGEST_WARM_UP_NANOS = 8_000_000_000L;

    /** The files that are read while the others are written and the connection is cut. */
    private static final int HALF = DemoFiles.COUNT / 2;

    /** By then calls that nobody answers are all there are. */
    private static final long SETTLED_NANOS = 50_000_000;

    private final RdmaDevice device;
    private final DemoFiles files;
    private final Path exported;
    private final Path stock;
    private final InetSocketAddress server;
    private final boolean damage;
    private final Progress progress;
    private int round;

    private FilesDemonstration(
            RdmaDevice device,
            DemoFiles files,
            Path exported,
            Path stock,
            InetSocketAddress server,
            boolean damage,
            Progress progress) {
        this.device = device;
        this.files = files;
        this.exported = exported;
        this.stock = stock;
        this.server = server;
        this.damage = damage;
        this.progress = progress;
    }

    /**
     * Runs it; the device has nothing left open afterwards.
     *
     * @param bytes of all files together
     * @param damage whether a byte of a file is changed behind the server's back before it is read, which must be noticed
     * @param progress told what is done, and how far it is
     * @throws DataMismatchException if any byte differs
     */
    public static FilesReport run(RdmaDevice device, long bytes, boolean damage, Consumer<String> progress)
            throws IOException {
        try (TemporaryDirectory directory = TemporaryDirectory.create(2 * bytes);
                DemoFiles files = new DemoFiles(bytes)) {
            Path exported = Files.createDirectory(directory.path().resolve("export"));
            Path stock = Files.createDirectory(directory.path().resolve("stock"));
            try (ServedDirectory served = ServedDirectory.serve(device, exported)) {
                return new FilesDemonstration(
                                device, files, exported, stock, served.address(), damage, new Progress(progress))
                        .run();
            }
        }
    }

    private FilesReport run() throws IOException {
        List<FilesReport.Round> rounds;
        ClientCounts undisturbed;
        try (StockTransfer tcp = new StockTransfer(stock, files)) {
            try (NfsTransfer rdma = NfsTransfer.mount(device, server, files)) {
                warmUp(rdma, tcp);
            }
            try (NfsTransfer rdma = NfsTransfer.mount(device, server, files)) {
                rounds = measure(rdma, tcp);
                undisturbed = rdma.counts();
            }
            verifyOnDisk(exported, 0, DemoFiles.COUNT);
            verifyOnDisk(stock, 0, DemoFiles.COUNT);
        }
        FilesReport.Cut cut = cut();
        return new FilesReport(files.bytes(0, DemoFiles.COUNT), DemoFiles.COUNT, exported, rounds, undisturbed, cut);
    }

    /** Lets the compiler do its work on all four ways, so that the figures tell of the transfer. */
    private void warmUp(NfsTransfer rdma, StockTransfer tcp) throws IOException {
        int some = 1;
        while (some < DemoFiles.COUNT && files.bytes(0, some) < WARM_UP_BYTES) {
            some++;
        }
        progress.begin("warming up", WARM_UP_ROUNDS * 4 * files.bytes(0, some));
        long begin = System.nanoTime();
        for (int i = 0; i < WARM_UP_ROUNDS && System.nanoTime() - begin < LONGEST_WARM_UP_NANOS; i++) {
            round++;
            for (FileTransfer way : List.of(rdma, tcp)) {
                way.write(round, 0, some, progress::advance);
                way.read(round, 0, some, progress::advance);
            }
        }
    }

    private List<FilesReport.Round> measure(NfsTransfer rdma, StockTransfer tcp) throws IOException {
        long bytes = files.bytes(0, DemoFiles.COUNT);
        progress.begin("writing and reading", ROUNDS * 4 * bytes);
        List<FilesReport.Round> rounds = new ArrayList<>(ROUNDS);
        long begin = System.nanoTime();
        while (rounds.size() < ROUNDS && System.nanoTime() - begin < LONGEST_MEASURING_NANOS) {
            round++;
            double rdmaWrite = speed(bytes, () -> rdma.write(round, 0, DemoFiles.COUNT, progress::advance));
            double tcpWrite = speed(bytes, () -> tcp.write(round, 0, DemoFiles.COUNT, progress::advance));
            if (damage) {
                DemoFiles.damage(exported.resolve(files.name(DemoFiles.COUNT - 1)));
            }
            double rdmaRead = speed(bytes, () -> rdma.read(round, 0, DemoFiles.COUNT, progress::advance));
            double tcpRead = speed(bytes, () -> tcp.read(round, 0, DemoFiles.COUNT, progress::advance));
            rounds.add(new FilesReport.Round(rdmaWrite, tcpWrite, rdmaRead, tcpRead));
        }
        return rounds;
    }

    @FunctionalInterface
    private interface Work {
        void run() throws IOException;
    }

    /** In bytes for each second. */
    private static double speed(long bytes, Work work) throws IOException {
        long begin = System.nanoTime();
        work.run();
        return bytes / (Math.max(1, System.nanoTime() - begin) / 1e9);
    }

    private void verifyOnDisk(Path directory, int from, int to) throws IOException {
        for (int file = from; file < to; file++) {
            files.verifyOnDisk(round, file, directory.resolve(files.name(file)));
        }
    }

    /** Writes one half of the files while it reads the other, with a cut in the middle; then the other way round, without. */
    private FilesReport.Cut cut() throws IOException {
        progress.begin("cutting the connection", 2 * files.bytes(0, DemoFiles.COUNT));
        try (CuttingRelay relay = new CuttingRelay(server);
                NfsTransfer rdma = NfsTransfer.mount(device, relay.address(), files)) {
            long[] inFlight = {0};
            // In the middle of a file that is read; and only calls whose memory is open to the server are worth a cut.
            relay.cutAfter(files.bytes(HALF, DemoFiles.COUNT) * 3 / 8, heldNanos -> {
                Gauges now = rdma.gauges();
                inFlight[0] = now.get(Gauge.CALLS_IN_FLIGHT);
                long open = now.get(Gauge.REGIONS_REGISTERED);
                return open > 1 || (open == 1 && heldNanos > SETTLED_NANOS);
            });
            int before = round;
            int after = ++round;
            FutureTask<Void> reading = new FutureTask<>(() -> {
                rdma.read(before, HALF, DemoFiles.COUNT, progress::advance);
                return null;
            });
            Thread.ofVirtual().name("demo-read").start(reading);
            try {
                rdma.write(after, 0, HALF, progress::advance);
                await(reading);
            } finally {
                reading.cancel(true);
            }
            rdma.write(after, HALF, DemoFiles.COUNT, progress::advance);
            rdma.read(after, 0, HALF, progress::advance);
            ClientCounts counts = rdma.counts();
            verifyOnDisk(exported, 0, DemoFiles.COUNT);
            if (!relay.hasCut()) {
                throw new IOException("the connection was not cut: " + counts.mountstats());
            }
            return new FilesReport.Cut(inFlight[0], counts);
        }
    }

    private static void await(FutureTask<Void> task) throws IOException {
        try {
            task.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException failure) {
                throw failure;
            }
            throw new IOException("reading failed: " + e.getCause(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    /** How far it is. Any thread may call. */
    private static final class Progress {
        private final Consumer<String> listener;
        private String stage = "";
        private long total;
        private long done;

        Progress(Consumer<String> listener) {
            this.listener = listener;
        }

        synchronized void begin(String newStage, long bytes) {
            stage = newStage;
            total = bytes;
            done = 0;
        }

        synchronized void advance(long bytes) {
            done += bytes;
            listener.accept("%s: %d %%".formatted(stage, Math.round(100.0 * done / Math.max(1, total))));
        }
    }
}
