// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.filesystem;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.rpcrdma4j.nfs.export.Export;
import org.rpcrdma4j.nfs.export.ExportOptions;
import org.rpcrdma4j.nfs.export.Squash;
import org.rpcrdma4j.nfs.server.NfsServer;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.spi.RdmaDevices;

/** A directory of the local file system, served over software iWARP and mounted as a file system. */
final class MountedDirectory implements AutoCloseable {

    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private final RdmaDevice serverDevice = RdmaDevices.open("iwarp", Map.of());
    private final RdmaDevice clientDevice = RdmaDevices.open("iwarp", Map.of());
    private final Export export;
    private final NfsServer server;
    /** What is served. */
    final Path local;

    final FileSystem files;

    MountedDirectory(Path local) throws IOException {
        this(local, ExportOptions.DEFAULT.withSquash(Squash.NONE), Map.of());
    }

    MountedDirectory(Path local, ExportOptions exportOptions, Map<String, ?> settings) throws IOException {
        this.local = local;
        export = Export.open(local, exportOptions);
        server = NfsServer.builder(export)
                .device(serverDevice)
                .listen(ANY_PORT)
                .tcp(ANY_PORT)
                .start();
        Map<String, Object> all = new HashMap<>(Map.of("device", clientDevice, "timeout", 30));
        all.putAll(settings);
        files = FileSystems.newFileSystem(uri("/"), all);
    }

    /** The URL of a path of the server's. */
    URI uri(String path) {
        return URI.create("nfs://127.0.0.1:"
                + Objects.requireNonNull(server.rdmaAddress()).getPort() + path);
    }

    /** The same over TCP. */
    URI tcpUri(String path) {
        return URI.create(
                "nfs://127.0.0.1:" + Objects.requireNonNull(server.tcpAddress()).getPort() + path + "?proto=tcp");
    }

    Path root() {
        return files.getPath("/");
    }

    Path path(String text) {
        return root().resolve(text);
    }

    @Override
    public void close() throws IOException {
        files.close();
        assertThat(clientDevice.ledger().isBalanced())
                .as("the client's device gave back all: %s", clientDevice.ledger())
                .isTrue();
        server.close();
        export.close();
        clientDevice.close();
        serverDevice.close();
    }
}
