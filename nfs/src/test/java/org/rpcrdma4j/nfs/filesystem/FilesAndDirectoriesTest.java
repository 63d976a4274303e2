// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.filesystem;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;
import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardCopyOption.COPY_ATTRIBUTES;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static java.nio.file.StandardOpenOption.READ;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.NotLinkException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileOwnerAttributeView;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** What programs do with directories, links and attributes, in the local file system and in a mounted one: both are to answer alike. */
@ParameterizedClass
@EnumSource(TestedFileSystem.class)
class FilesAndDirectoriesTest {

    @Parameter
    TestedFileSystem tested = TestedFileSystem.LOCAL;

    @TempDir
    Path directory = Path.of("");

    private TestedFileSystem.Opened opened;
    private Path root = Path.of("");

    @BeforeEach
    void open() throws IOException {
        opened = tested.open(directory);
        root = opened.root();
    }

    @AfterEach
    void close() throws IOException {
        opened.close();
    }

    private Path file(String name, String text) throws IOException {
        return Files.writeString(root.resolve(name), text);
    }

    private static String text(Path file) throws IOException {
        return Files.readString(file);
    }

    private List<String> names(Path of) throws IOException {
        try (Stream<Path> entries = Files.list(of)) {
            return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void directoriesAreMadeListedAndDeleted() throws IOException {
        Path deep = Files.createDirectories(root.resolve("a/b/c"));
        assertThat(Files.createDirectories(deep)).isEqualTo(deep);
        assertThatThrownBy(() -> Files.createDirectory(root.resolve("a")))
                .isInstanceOf(FileAlreadyExistsException.class);
        assertThatThrownBy(() -> Files.createDirectory(root.resolve("x/y"))).isInstanceOf(NoSuchFileException.class);
        file("a/one.txt", "1");
        file("a/two.md", "2");
        assertThat(names(root.resolve("a"))).containsExactly("b", "one.txt", "two.md");
        try (DirectoryStream<Path> some = Files.newDirectoryStream(root.resolve("a"), "*.{txt,md}")) {
            assertThat(some).containsExactlyInAnyOrder(root.resolve("a/one.txt"), root.resolve("a/two.md"));
        }
        try (DirectoryStream<Path> some = Files.newDirectoryStream(root.resolve("a"), Files::isDirectory)) {
            assertThat(some).containsExactly(root.resolve("a/b"));
            assertThatThrownBy(some::iterator).isInstanceOf(IllegalStateException.class);
        }
        assertThatThrownBy(() -> Files.newDirectoryStream(root.resolve("a/one.txt")))
                .isInstanceOf(NotDirectoryException.class);
        assertThatThrownBy(() -> Files.newDirectoryStream(root.resolve("none")))
                .isInstanceOf(NoSuchFileException.class);
        assertThatThrownBy(() -> Files.delete(root.resolve("a"))).isInstanceOf(DirectoryNotEmptyException.class);
        assertThatThrownBy(() -> Files.delete(root.resolve("none"))).isInstanceOf(NoSuchFileException.class);
        assertThat(Files.deleteIfExists(root.resolve("none"))).isFalse();
        Files.delete(deep);
        assertThat(Files.deleteIfExists(root.resolve("a/one.txt"))).isTrue();
        try (Stream<Path> tree = Files.walk(root.resolve("a"))) {
            assertThat(tree)
                    .containsExactlyInAnyOrder(root.resolve("a"), root.resolve("a/two.md"), root.resolve("a/b"));
        }
    }

    @Test
    void filesAreMoved() throws IOException {
        Path one = file("one", "1");
        Path two = file("two", "2");
        assertThatThrownBy(() -> Files.move(one, two))
                .isInstanceOf(FileAlreadyExistsException.class)
                .hasMessageContaining("two");
        Files.move(one, two, REPLACE_EXISTING);
        assertThat(text(two)).isEqualTo("1");
        assertThat(Files.exists(one)).isFalse();
        Files.move(two, root.resolve("two"));
        file("one", "3");
        Files.move(one, two, ATOMIC_MOVE);
        assertThat(text(two)).isEqualTo("3");
        Path full = Files.createDirectories(root.resolve("full"));
        file("full/inner", "x");
        Path empty = Files.createDirectories(root.resolve("empty"));
        assertThatThrownBy(() -> Files.move(two, full, REPLACE_EXISTING))
                .isInstanceOf(DirectoryNotEmptyException.class);
        Files.move(full, empty, REPLACE_EXISTING);
        assertThat(text(empty.resolve("inner"))).isEqualTo("x");
        assertThatThrownBy(() -> Files.move(empty, empty.resolve("in-itself"))).isInstanceOf(FileSystemException.class);
        assertThatThrownBy(() -> Files.move(one, two, REPLACE_EXISTING)).isInstanceOf(NoSuchFileException.class);
        Path link = Files.createSymbolicLink(root.resolve("link"), two.getFileName());
        Files.move(link, root.resolve("moved"));
        assertThat(Files.isSymbolicLink(root.resolve("moved"))).isTrue();
    }

    @Test
    void filesAreCopied() throws IOException {
        Path one = file("one", "1".repeat(300_000));
        Path two = root.resolve("two");
        Files.setPosixFilePermissions(one, PosixFilePermissions.fromString("rwx------"));
        Files.setLastModifiedTime(one, FileTime.from(Instant.ofEpochSecond(1_000_000)));
        Files.copy(one, two);
        assertThat(text(two)).isEqualTo(text(one));
        assertThat(Files.getPosixFilePermissions(two)).isEqualTo(PosixFilePermissions.fromString("rwx------"));
        assertThat(Files.getLastModifiedTime(two)).isNotEqualTo(Files.getLastModifiedTime(one));
        assertThatThrownBy(() -> Files.copy(one, two)).isInstanceOf(FileAlreadyExistsException.class);
        Files.copy(one, two, REPLACE_EXISTING, COPY_ATTRIBUTES);
        assertThat(Files.getLastModifiedTime(two)).isEqualTo(Files.getLastModifiedTime(one));
        Files.copy(one, root.resolve("one"));
        Path link = Files.createSymbolicLink(root.resolve("link"), one.getFileName());
        Files.copy(link, root.resolve("followed"));
        assertThat(Files.isRegularFile(root.resolve("followed"), NOFOLLOW_LINKS))
                .isTrue();
        Files.copy(link, root.resolve("same"), NOFOLLOW_LINKS);
        assertThat(Files.readSymbolicLink(root.resolve("same"))).isEqualTo(one.getFileName());
        Path full = Files.createDirectories(root.resolve("full"));
        file("full/inner", "x");
        Files.copy(full, root.resolve("copied"));
        assertThat(names(root.resolve("copied"))).isEmpty();
        assertThatThrownBy(() -> Files.copy(one, full, REPLACE_EXISTING))
                .isInstanceOf(DirectoryNotEmptyException.class);
        assertThatThrownBy(() -> Files.copy(root.resolve("none"), two)).isInstanceOf(NoSuchFileException.class);
        assertThatThrownBy(() -> Files.copy(one, two, ATOMIC_MOVE)).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void linksAreMadeAndRead() throws IOException {
        Path file = file("file", "x");
        Path link = Files.createSymbolicLink(root.resolve("link"), Objects.requireNonNull(file.getFileName()));
        assertThat(Files.readSymbolicLink(link)).hasToString("file");
        assertThat(text(link)).isEqualTo("x");
        assertThat(Files.isSymbolicLink(link)).isTrue();
        assertThat(Files.isRegularFile(link)).isTrue();
        assertThat(Files.isSameFile(link, file)).isTrue();
        assertThatThrownBy(() -> Files.readSymbolicLink(file)).isInstanceOf(NotLinkException.class);
        assertThatThrownBy(() -> Files.readSymbolicLink(root.resolve("none"))).isInstanceOf(NoSuchFileException.class);
        assertThatThrownBy(() -> Files.createSymbolicLink(link, file)).isInstanceOf(FileAlreadyExistsException.class);
        Path hard = Files.createLink(root.resolve("hard"), file);
        assertThat(Files.isSameFile(hard, file)).isTrue();
        assertThat(Files.getAttribute(file, "unix:nlink")).isEqualTo(2);
        assertThat(Files.readAttributes(hard, BasicFileAttributes.class).fileKey())
                .isEqualTo(Files.readAttributes(file, BasicFileAttributes.class).fileKey());
        assertThatThrownBy(() -> Files.createLink(root.resolve("hard"), file))
                .isInstanceOf(FileAlreadyExistsException.class)
                .hasMessageContaining("hard");
        assertThatThrownBy(() -> Files.createLink(root.resolve("new"), root.resolve("none")))
                .isInstanceOf(NoSuchFileException.class);
        assertThatThrownBy(() -> Files.newByteChannel(link, Set.of(READ, NOFOLLOW_LINKS)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("link");
        Path dangling = Files.createSymbolicLink(
                root.resolve("dangling"), link.resolveSibling("born").getFileName());
        assertThat(Files.exists(dangling)).isFalse();
        assertThat(Files.exists(dangling, NOFOLLOW_LINKS)).isTrue();
        Files.writeString(dangling, "made");
        assertThat(text(root.resolve("born"))).isEqualTo("made");
        Path loop = Files.createSymbolicLink(
                root.resolve("loop"), root.getFileSystem().getPath("loop"));
        assertThatThrownBy(() -> Files.newByteChannel(loop))
                .isInstanceOf(FileSystemException.class)
                .hasMessageContaining("loop");
        assertThat(link.toRealPath()).isEqualTo(file.toRealPath());
        assertThat(link.toRealPath(NOFOLLOW_LINKS).getFileName()).hasToString("link");
        assertThatThrownBy(() -> root.resolve("none").toRealPath()).isInstanceOf(NoSuchFileException.class);
    }

    @Test
    void attributesAreReadAndSet() throws IOException {
        Path file = file("file", "12345");
        PosixFileAttributes attributes = Files.readAttributes(file, PosixFileAttributes.class);
        assertThat(attributes.size()).isEqualTo(5);
        assertThat(attributes.isRegularFile()).isTrue();
        assertThat(attributes.isOther()).isFalse();
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-r-----");
        FileTime time = FileTime.from(Instant.parse("2001-02-03T04:05:06.789012345Z"));
        Files.setLastModifiedTime(file, time);
        assertThat(Files.getLastModifiedTime(file)).isEqualTo(time);
        Files.getFileAttributeView(file, BasicFileAttributeView.class).setTimes(null, time, null);
        assertThat(Files.getAttribute(file, "lastAccessTime")).isEqualTo(time);
        Map<String, Object> some = Files.readAttributes(file, "posix:permissions,size");
        assertThat(some).containsOnlyKeys("permissions", "size").containsEntry("size", 5L);
        assertThat(Files.readAttributes(file, "*"))
                .containsEntry("isDirectory", false)
                .containsKey("fileKey");
        assertThat((int) Files.getAttribute(file, "unix:mode")).isEqualTo(0100640);
        assertThat(Files.getAttribute(file, "unix:uid"))
                .isEqualTo(Files.getAttribute(directory.resolve("file"), "unix:uid"));
        assertThat(Files.readAttributes(root, "unix:*")).containsKeys("mode", "ino", "gid", "ctime", "owner");
        assertThatThrownBy(() -> Files.readAttributes(file, "posix:colour"))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Files.readAttributes(file, "no-such-view:hidden"))
                .isInstanceOf(UnsupportedOperationException.class);
        Files.setAttribute(file, "posix:permissions", PosixFilePermissions.fromString("rw-------"));
        Files.setOwner(file, Files.getOwner(file));
        PosixFileAttributeView view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
        assertThat(view.name()).isEqualTo("posix");
        view.setGroup(view.readAttributes().group());
        assertThat(Files.getFileAttributeView(file, FileOwnerAttributeView.class)
                        .name())
                .isEqualTo("owner");
        assertThat(Files.isExecutable(root)).isTrue();
        assertThat(Files.isReadable(file)).isTrue();
        assertThat(Files.isWritable(file)).isTrue();
        assertThat(Files.isExecutable(file)).isFalse();
        assertThat(Files.isHidden(root.resolve(".rc"))).isTrue();
        assertThat(Files.isHidden(file)).isFalse();
    }

    @Test
    void newFilesHaveTheModeOfTheProcess() throws IOException {
        Path plain = Files.createFile(root.resolve("plain"));
        Path local = Files.createFile(directory.resolve("local"));
        assertThat(Files.getPosixFilePermissions(plain)).isEqualTo(Files.getPosixFilePermissions(local));
        Path asked = Files.createDirectory(
                root.resolve("asked"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(asked)))
                .isEqualTo("rwx------");
        Path directories = Files.createDirectory(root.resolve("directory"));
        assertThat(Files.getPosixFilePermissions(directories))
                .isEqualTo(Files.getPosixFilePermissions(Files.createDirectory(directory.resolve("d2"))));
    }

    @Test
    void aFileStoreTellsHowMuchThereIs() throws IOException {
        var store = Files.getFileStore(root);
        assertThat(store.getTotalSpace()).isGreaterThan(store.getUsableSpace()).isPositive();
        assertThat(store.getUnallocatedSpace()).isPositive();
        assertThat(store.supportsFileAttributeView("posix")).isTrue();
        assertThat(store.supportsFileAttributeView(BasicFileAttributeView.class))
                .isTrue();
        assertThat(store.getAttribute("totalSpace")).isEqualTo(store.getTotalSpace());
    }

    @Test
    void aDirectoryOfManyEntriesIsListedWhole() throws IOException {
        List<String> expected = new ArrayList<>();
        for (int i = 1000; i < 1500; i++) {
            Files.createFile(directory.resolve("file-" + i));
            expected.add("file-" + i);
        }
        assertThat(names(root)).isEqualTo(expected);
    }
}
