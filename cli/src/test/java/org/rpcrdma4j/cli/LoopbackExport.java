// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.rpcrdma4j.nfs.export.Export;
import org.rpcrdma4j.nfs.export.ExportOptions;
import org.rpcrdma4j.nfs.export.Squash;
import org.rpcrdma4j.nfs.protocol.Procedure;
import org.rpcrdma4j.nfs.server.NfsServer;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.spi.RdmaDevices;

/** A server of a directory in this process, over software iWARP on the loopback interface, which can be restarted. */
final class LoopbackExport implements AutoCloseable {
    private static final long PATIENCE_NANOS = 60_000_000_000L;

    private final RdmaDevice device = RdmaDevices.open("iwarp", Map.of());
    private final Path directory;
    private Export export;
    private NfsServer server;

    LoopbackExport(Path directory) throws IOException {
        this.directory = directory;
        export = open();
        server = start(0);
    }

    private Export open() throws IOException {
        return Export.open(directory, ExportOptions.DEFAULT.withSquash(Squash.NONE));
    }

    private NfsServer start(int port) throws IOException {
        return NfsServer.builder(export)
                .device(device)
                .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                .start();
    }

    int port() {
        return Objects.requireNonNull(server.rdmaAddress()).getPort();
    }

    /** The URL of a path below the export. */
    String url(String path) {
        return "nfs://127.0.0.1:" + port() + "/" + path;
    }

    /** How often the server that runs now has run the procedure. */
    long calls(Procedure procedure) {
        return server.calls().get(procedure);
    }

    /** Ends the server with no regard to what is under way, and starts a new one that knows nothing of it, at the same port. */
    void restart() throws IOException {
        int port = port();
        server.close(Duration.ZERO);
        export.close();
        export = open();
        long begin = System.nanoTime();
        while (true) {
            try {
                server = start(port);
                return;
            } catch (BindException e) {
                if (System.nanoTime() - begin > PATIENCE_NANOS) {
                    throw e;
                }
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    /** Waits until the condition holds; fails if it does not in time. */
    void await(String what, BooleanSupplier condition) {
        long begin = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - begin > PATIENCE_NANOS) {
                throw new AssertionError("waited in vain until " + what + "; " + server);
            }
            LockSupport.parkNanos(100_000);
        }
    }

    @Override
    public void close() throws IOException {
        Export last = export;
        try (device;
                last) {
            server.close(Duration.ZERO);
        }
    }
}
