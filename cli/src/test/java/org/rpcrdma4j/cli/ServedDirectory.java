// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import org.rpcrdma4j.nfs.export.Export;
import org.rpcrdma4j.nfs.export.ExportOptions;
import org.rpcrdma4j.nfs.export.Squash;
import org.rpcrdma4j.nfs.server.NfsServer;
import org.rpcrdma4j.nfs.server.NfsServerOptions;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.spi.RdmaDevices;

/** A server of a directory in this process, over RDMA and TCP. */
final class ServedDirectory implements AutoCloseable {
    /** Root is root: the directories of tests are shut to all others. */
    static final ExportOptions TRUSTING = ExportOptions.DEFAULT.withSquash(Squash.NONE);

    private final RdmaDevice device;
    private final Export export;
    private final NfsServer server;

    private ServedDirectory(RdmaDevice device, Export export, NfsServer server) {
        this.device = device;
        this.export = export;
        this.server = server;
    }

    static ServedDirectory start(Path directory, ExportOptions options, NfsServerOptions serverOptions)
            throws IOException {
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        RdmaDevice device = RdmaDevices.open("iwarp", Map.of());
        Export export = Export.open(directory, options);
        return new ServedDirectory(
                device,
                export,
                NfsServer.builder(export)
                        .device(device)
                        .listen(any)
                        .tcp(any)
                        .options(serverOptions)
                        .start());
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

    @Override
    public void close() throws IOException {
        try (device;
                export) {
            server.close();
        }
    }
}
