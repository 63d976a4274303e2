// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.filesystem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.ClosedFileSystemException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystem;
import java.nio.file.FileSystemAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.FileSystemNotFoundException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.ProviderMismatchException;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipalNotFoundException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rpcrdma4j.nfs.export.ExportOptions;
import org.rpcrdma4j.nfs.export.Identity;
import org.rpcrdma4j.nfs.export.Squash;
import org.rpcrdma4j.nfs.protocol.NfsException;

/** How a file system comes and goes, what its settings do, and how refusals are told. */
class MountingTest {

    @TempDir
    Path served = Path.of("");

    private static Map<String, ?> deviceless() {
        return Map.of();
    }

    @Test
    void oneExportIsOpenOnceAtATime() throws IOException {
        try (MountedDirectory mounted = new MountedDirectory(served)) {
            assertThatThrownBy(() -> FileSystems.newFileSystem(mounted.uri("/"), deviceless()))
                    .isInstanceOf(FileSystemAlreadyExistsException.class)
                    .hasMessageContaining("open already");
            assertThatThrownBy(() -> FileSystems.newFileSystem(mounted.uri("/sub"), deviceless()))
                    .isInstanceOf(FileSystemAlreadyExistsException.class);
            assertThat(FileSystems.getFileSystem(mounted.uri("/"))).isSameAs(mounted.files);
            assertThat(Path.of(mounted.uri("/a/b"))).isEqualTo(mounted.path("a/b"));
            assertThat(mounted.files.supportedFileAttributeViews()).contains("basic", "posix", "owner");
            assertThat(mounted.files.getRootDirectories()).containsExactly(mounted.root());
            assertThat(mounted.files.isReadOnly()).isFalse();
            assertThat(mounted.files.getSeparator()).isEqualTo("/");
            assertThat(mounted.files.getPath("/a", "", "b/c", "d")).hasToString("/a/b/c/d");
        }
    }

    @Test
    void aFileSystemThatIsNotOpenIsToldHowToOpen() {
        URI uri = URI.create("nfs://no-such-host/export/file");
        assertThatThrownBy(() -> Path.of(uri))
                .isInstanceOf(FileSystemNotFoundException.class)
                .hasMessageContaining("FileSystems.newFileSystem(URI.create(\"nfs://no-such-host/export/file\")");
        assertThatThrownBy(() -> FileSystems.getFileSystem(uri)).isInstanceOf(FileSystemNotFoundException.class);
    }

    @Test
    void badUrlsAndSettingsAreRefused() {
        URI uri = URI.create("nfs://127.0.0.1:1/x");
        for (String bad : List.of("nfs:x", "nfs:///x", "nfs://user@host/x", "nfs://host/x#y", "nfs://host/x?y=z")) {
            assertThatThrownBy(() -> FileSystems.newFileSystem(URI.create(bad), Map.of()))
                    .as(bad)
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> FileSystems.newFileSystem(uri, Map.of("colour", "red")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("[colour]")
                .hasMessageContaining("timeout");
        for (Map<String, ?> bad : List.<Map<String, ?>>of(
                Map.of("uid", -1),
                Map.of("mountPort", "70000"),
                Map.of("timeout", "soon"),
                Map.of("readBytes", 1),
                Map.of("handle", "xyz"),
                Map.of("device", 7),
                Map.of("device", "no-such-provider"),
                Map.of("crc", "perhaps"),
                Map.of("groups", "1,x"))) {
            assertThatThrownBy(() -> FileSystems.newFileSystem(uri, bad))
                    .as("%s", bad)
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void aServerThatIsNotThereIsTold() throws IOException {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        URI uri = URI.create("nfs://127.0.0.1:" + port + "/x");
        assertThatThrownBy(() -> FileSystems.newFileSystem(uri, Map.of("timeout", 10)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cannot mount nfs://127.0.0.1:" + port + "/x");
    }

    @Test
    void relativePathsBeginWhereTheUrlPointed() throws IOException {
        Files.createDirectories(served.resolve("sub"));
        Files.writeString(served.resolve("sub/file"), "x");
        try (MountedDirectory mounted = new MountedDirectory(served);
                FileSystem files = FileSystems.newFileSystem(
                        mounted.tcpUri("/sub"), Map.of("uid", 0, "gid", "0", "groups", "1,2", "timeout", 30))) {
            assertThat(Files.readString(files.getPath("file"))).isEqualTo("x");
            assertThat(files.getPath("file").toAbsolutePath()).isEqualTo(files.getPath("/sub/file"));
            assertThat(files.getPath("").toRealPath()).isEqualTo(files.getPath("/sub"));
            URI uri = files.getPath("file").toUri();
            assertThat(uri).isEqualTo(mounted.tcpUri("/sub/file"));
            assertThat(Path.of(uri)).isEqualTo(files.getPath("/sub/file"));
            // From one file system into another.
            Files.copy(files.getPath("file"), mounted.path("copy"));
            assertThat(served.resolve("copy")).hasContent("x");
            Files.move(mounted.path("copy"), files.getPath("moved"));
            assertThat(served.resolve("sub/moved")).hasContent("x");
            assertThat(served.resolve("copy")).doesNotExist();
            assertThat(Files.isSameFile(files.getPath("/"), mounted.root())).isFalse();
            assertThatThrownBy(() -> Files.createLink(files.getPath("l"), mounted.path("sub/file")))
                    .isInstanceOf(ProviderMismatchException.class);
        }
    }

    @Test
    void itOpensAndClosesItsOwnDevice() throws IOException {
        Files.writeString(served.resolve("file"), "x");
        try (MountedDirectory first = new MountedDirectory(served)) {
            first.files.close();
            try (FileSystem files = FileSystems.newFileSystem(first.uri("/"), Map.of("crc", false))) {
                assertThat(Files.readString(files.getPath("/file"))).isEqualTo("x");
            }
            assertThatThrownBy(() -> Path.of(first.uri("/file"))).isInstanceOf(FileSystemNotFoundException.class);
        }
    }

    @Test
    void closingItClosesAllThatIsOpen() throws IOException {
        Files.writeString(served.resolve("file"), "x");
        try (MountedDirectory mounted = new MountedDirectory(served)) {
            SeekableByteChannel out =
                    Files.newByteChannel(mounted.path("out"), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            out.write(ByteBuffer.wrap(new byte[] {'a', 'b'}));
            SeekableByteChannel in = Files.newByteChannel(mounted.path("file"));
            in.read(ByteBuffer.allocate(1));
            SeekableByteChannel temporary = Files.newByteChannel(
                    mounted.path("gone"),
                    StandardOpenOption.CREATE_NEW,
                    StandardOpenOption.WRITE,
                    StandardOpenOption.DELETE_ON_CLOSE);
            try (DirectoryStream<Path> stream = Files.newDirectoryStream(mounted.root())) {
                mounted.files.close();
                assertThat(mounted.files.isOpen()).isFalse();
                assertThat(served.resolve("out")).hasContent("ab");
                assertThat(served.resolve("gone")).doesNotExist();
                assertThat(temporary.isOpen()).isFalse();
                assertThatThrownBy(() -> out.write(ByteBuffer.allocate(1))).isInstanceOf(ClosedChannelException.class);
                assertThatThrownBy(() -> in.read(ByteBuffer.allocate(1))).isInstanceOf(ClosedChannelException.class);
                assertThatThrownBy(stream::iterator).isInstanceOf(IllegalStateException.class);
                assertThatThrownBy(() -> Files.readString(mounted.path("file")))
                        .isInstanceOf(ClosedFileSystemException.class);
                assertThat(mounted.path("file")).hasToString("/file");
            }
            in.close();
            mounted.files.close();
        }
    }

    @Test
    void refusalsCarryThePathAndTheirCause() throws IOException {
        Files.writeString(served.resolve("file"), "x");
        try (MountedDirectory mounted = new MountedDirectory(served)) {
            Files.createSymbolicLink(mounted.path("loop"), mounted.files.getPath("loop"));
            assertThatThrownBy(() -> Files.readAllBytes(mounted.path("loop")))
                    .isInstanceOf(FileSystemLoopException.class)
                    .hasMessage("/loop")
                    .hasCauseInstanceOf(NfsException.class);
            assertThatThrownBy(() -> Files.readAllBytes(mounted.path("file/below")))
                    .isInstanceOf(NotDirectoryException.class)
                    .hasMessage("/file/below");
            assertThatThrownBy(() -> Files.readAllBytes(mounted.root()))
                    .isInstanceOf(FileSystemException.class)
                    .hasMessage("/: is a directory");
            assertThatThrownBy(() -> Files.writeString(mounted.path("n".repeat(256)), ""))
                    .isInstanceOf(FileSystemException.class)
                    .hasMessageEndingWith(": name too long");
            assertThatThrownBy(() -> Files.delete(mounted.root()))
                    .isInstanceOf(FileSystemException.class)
                    .hasMessage("/: it is the root of the export");
            assertThatThrownBy(
                            () -> mounted.files.getUserPrincipalLookupService().lookupPrincipalByName("root"))
                    .isInstanceOf(UserPrincipalNotFoundException.class);
            assertThat(mounted.files.getUserPrincipalLookupService().lookupPrincipalByName("4294967295"))
                    .hasToString("4294967295");
            assertThatThrownBy(() -> Files.setOwner(mounted.path("file"), Files.getOwner(served)))
                    .isInstanceOf(ProviderMismatchException.class);
        }
    }

    @Test
    void aServerThatAllowsNoChangeSaysSo() throws IOException {
        Files.writeString(served.resolve("file"), "x");
        ExportOptions options = ExportOptions.DEFAULT.withSquash(Squash.NONE).withReadOnly(true);
        try (MountedDirectory mounted = new MountedDirectory(served, options, Map.of())) {
            assertThat(Files.readString(mounted.path("file"))).isEqualTo("x");
            assertThat(Files.isWritable(mounted.path("file"))).isFalse();
            assertThatThrownBy(() -> Files.writeString(mounted.path("file"), "y"))
                    .isInstanceOf(FileSystemException.class);
            assertThatThrownBy(() -> Files.createDirectory(mounted.path("new")))
                    .isInstanceOf(FileSystemException.class)
                    .hasMessage("/new: read-only file system");
        }
    }

    @Test
    void whoMayNotReadIsToldWhenHeOpens() throws IOException {
        Path secret = Files.writeString(served.resolve("secret"), "x");
        Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("---------"));
        Files.setPosixFilePermissions(served, PosixFilePermissions.fromString("rwxr-xr-x"));
        Identity nobody = new Identity(65534, 65534, List.of());
        ExportOptions options = ExportOptions.DEFAULT.withSquash(Squash.ALL).withAnonymous(nobody);
        try (MountedDirectory mounted = new MountedDirectory(served, options, Map.of())) {
            assertThatThrownBy(() -> Files.newByteChannel(mounted.path("secret")))
                    .isInstanceOf(AccessDeniedException.class)
                    .hasMessageContaining("/secret");
            assertThat(Files.isReadable(mounted.path("secret"))).isFalse();
            assertThat(Files.exists(mounted.path("secret"))).isTrue();
        }
    }

    @Test
    void anInterruptedThreadIsToldAndTheChannelGoesOn() throws IOException {
        Files.writeString(served.resolve("file"), "x");
        try (MountedDirectory mounted = new MountedDirectory(served);
                SeekableByteChannel channel = Files.newByteChannel(mounted.path("file"))) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> channel.read(ByteBuffer.allocate(1))).isInstanceOf(InterruptedIOException.class);
            assertThat(Thread.interrupted()).isTrue();
            assertThat(channel.read(ByteBuffer.allocate(1))).isEqualTo(1);
            assertThat(channel.isOpen()).isTrue();
        }
    }
}
