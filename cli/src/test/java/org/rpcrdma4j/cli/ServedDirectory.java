// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
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
import org.rpcrdma4j.nfs.server.NfsServerOptions;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.spi.RdmaDevices;

/** A server of a directory in this process, over RDMA and TCP on the loopback interface, which can be restarted. */
final class ServedDirectory implements AutoCloseable {
    /** Root is root: the directories of tests are shut to all others. */
    static final ExportOptions TRUSTING = ExportOptions.DEFAULT.withSquash(Squash.NONE);

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final RdmaDevice device = RdmaDevices.open("iwarp", Map.of());
    private final Path directory;
    private final ExportOptions options;
    private final NfsServerOptions serverOptions;
    private Export export;
    private NfsServer server;

    private ServedDirectory(Path directory, ExportOptions options, NfsServerOptions serverOptions) throws IOException {
        this.directory = directory;
        this.options = options;
        this.serverOptions = serverOptions;
        export = Export.open(directory, options);
        server = startServer(0);
    }

    static ServedDirectory start(Path directory) throws IOException {
        return start(directory, TRUSTING, NfsServerOptions.DEFAULT);
    }

    static ServedDirectory start(Path directory, ExportOptions options, NfsServerOptions serverOptions)
            throws IOException {
        return new ServedDirectory(directory, options, serverOptions);
    }

    private NfsServer startServer(int port) throws IOException {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        return NfsServer.builder(export)
                .device(device)
                .listen(new InetSocketAddress(loopback, port))
                .tcp(new InetSocketAddress(loopback, 0))
                .options(serverOptions)
                .start();
    }

    /** The URL of a path, which begins with a slash and is percent-encoded. */
    String url(String path) {
        return "nfs://127.0.0.1:" + port() + path;
    }

    int port() {
        return Objects.requireNonNull(server.rdmaAddress()).getPort();
    }

    int tcpPort() {
        return Objects.requireNonNull(server.tcpAddress()).getPort();
    }

    String rootHandle() {
        return export.root().toString();
    }

    Path file(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text);
    }

    /** Makes a file whose name is these bytes: a Java string could not carry them. */
    void fileNamed(String escapedForPrintf) throws IOException, InterruptedException {
        String command = "cd \"$0\" && : > \"$(printf '" + escapedForPrintf + "')\"";
        Process shell = new ProcessBuilder("sh", "-c", command, directory.toString()).start();
        assertThat(shell.waitFor()).isZero();
    }

    /** How often the server that runs now has run the procedure. */
    long calls(Procedure procedure) {
        return server.calls().get(procedure);
    }

    /**
     * Ends the server with no regard to what is under way, and starts a new one that knows nothing of it, at the same port for RDMA and
     * another one for TCP.
     */
    void restart() throws IOException {
        int port = port();
        server.close(Duration.ZERO);
        export.close();
        export = Export.open(directory, options);
        long begin = System.nanoTime();
        while (true) {
            try {
                server = startServer(port);
                return;
            } catch (BindException e) {
                if (System.nanoTime() - begin > PATIENCE.toNanos()) {
                    throw e;
                }
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    /** Waits until the condition holds; fails if it does not in time. */
    void await(String what, BooleanSupplier condition) {
        Waits.until(PATIENCE, condition, () -> what + "; " + server);
    }

    @Override
    public void close() throws IOException {
        Export last = export;
        try (device;
                last) {
            server.close();
        }
    }
}
