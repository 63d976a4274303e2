// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.filesystem;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rpcrdma4j.nfs.export.Export;
import org.rpcrdma4j.nfs.export.ExportOptions;
import org.rpcrdma4j.nfs.server.NfsServer;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.spi.RdmaDevices;

/** The README's example of {@code java.nio.file}: it compiles, and does what it says. */
class ReadmeFilesExampleTest {

    private static void example(URI server, Path report, Path copy) throws IOException {
        try (FileSystem files = FileSystems.newFileSystem(server, Map.of("timeout", 30))) {
            Path directory = Files.createDirectories(files.getPath("/reports/2026"));
            Files.copy(report, directory.resolve("report.txt"));
            try (Stream<Path> entries = Files.list(directory)) {
                entries.forEach(entry -> System.out.println(entry.toUri()));
            }
            Files.copy(directory.resolve("report.txt"), copy);
        }
    }

    @Test
    void theExampleCopiesAFileThereAndBack(@TempDir Path served, @TempDir Path here) throws IOException {
        Path report = Files.writeString(here.resolve("report.txt"), "all is well\n");
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (RdmaDevice device = RdmaDevices.open("iwarp", Map.of());
                Export export = Export.open(served, ExportOptions.DEFAULT);
                NfsServer server =
                        NfsServer.builder(export).device(device).listen(any).start()) {
            int port = Objects.requireNonNull(server.rdmaAddress()).getPort();
            // Root is nobody at the server.
            Files.setPosixFilePermissions(served, PosixFilePermissions.fromString("rwxrwxrwx"));
            example(URI.create("nfs://127.0.0.1:" + port + "/"), report, here.resolve("copy.txt"));
        }
        assertThat(served.resolve("reports/2026/report.txt")).hasContent("all is well\n");
        assertThat(here.resolve("copy.txt")).hasContent("all is well\n");
    }
}
