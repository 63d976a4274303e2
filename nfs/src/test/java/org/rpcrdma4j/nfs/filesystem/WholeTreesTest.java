// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.filesystem;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Trees and large files go to the server and come back as they were. */
class WholeTreesTest {

    private static final int LARGE_BYTES = 20 << 20;

    /** Copies a tree as programs do: by the way from the top, as text. */
    private static final class Copier extends SimpleFileVisitor<Path> {
        private final Path from;
        private final Path to;

        Copier(Path from, Path to) {
            this.from = from;
            this.to = to;
        }

        private Path target(Path file) {
            return to.resolve(from.relativize(file).toString());
        }

        @Override
        public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) throws IOException {
            Files.createDirectories(target(directory));
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
            if (attributes.isSymbolicLink()) {
                Path text =
                        to.getFileSystem().getPath(Files.readSymbolicLink(file).toString());
                Files.createSymbolicLink(target(file), text);
            } else {
                Files.copy(file, target(file), StandardCopyOption.COPY_ATTRIBUTES);
            }
            return FileVisitResult.CONTINUE;
        }
    }

    private static final class Remover extends SimpleFileVisitor<Path> {
        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
            Files.delete(file);
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException failure) throws IOException {
            Files.delete(directory);
            return FileVisitResult.CONTINUE;
        }
    }

    private static void plant(Path top) throws IOException {
        Random random = new Random(7);
        for (int i = 0; i < 100; i++) {
            Path directory = Files.createDirectories(top.resolve("d" + i % 7 + "/e" + i % 3));
            byte[] data = new byte[random.nextInt(i % 10 == 0 ? 200_000 : 3000)];
            random.nextBytes(data);
            Files.write(directory.resolve("file " + i), data);
        }
        Files.createDirectories(top.resolve("empty"));
        Files.createSymbolicLink(top.resolve("link"), Path.of("d0/e0"));
        Files.writeString(top.resolve("new\nline \u00e9"), "odd");
    }

    private static Map<String, String> contents(Path top) throws IOException {
        Map<String, String> all = new TreeMap<>();
        try (Stream<Path> tree = Files.walk(top)) {
            for (Path path : (Iterable<Path>) tree::iterator) {
                BasicFileAttributes attributes =
                        Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
                String what = attributes.isSymbolicLink()
                        ? "-> " + Files.readSymbolicLink(path)
                        : attributes.isDirectory()
                                ? "directory"
                                : attributes.lastModifiedTime() + " "
                                        + HexFormat.of().formatHex(Files.readAllBytes(path));
                all.put(top.relativize(path).toString(), what);
            }
        }
        return all;
    }

    @Test
    void aTreeGoesUpAndComesDownAndIsRemoved(@TempDir Path served, @TempDir Path here) throws IOException {
        Path original = here.resolve("original");
        plant(original);
        try (MountedDirectory mounted = new MountedDirectory(served)) {
            Path there = mounted.path("tree");
            Files.walkFileTree(original, new Copier(original, there));
            assertThat(contents(served.resolve("tree"))).isEqualTo(contents(original));
            assertThat(contents(there)).isEqualTo(contents(original));
            Path back = here.resolve("back");
            Files.walkFileTree(there, new Copier(there, back));
            assertThat(contents(back)).isEqualTo(contents(original));
            Files.walkFileTree(there, new Remover());
            assertThat(served).isEmptyDirectory();
        }
    }

    @Test
    void namesThatAreNoTextAreFoundOpenedAndRenamed(@TempDir Path served) throws IOException {
        Path odd = Path.of(URI.create(served.toUri() + "%FFodd%C3"));
        Files.writeString(odd, "odd");
        try (MountedDirectory mounted = new MountedDirectory(served)) {
            try (Stream<Path> entries = Files.list(mounted.root())) {
                List<Path> all = entries.toList();
                assertThat(all).hasSize(1);
                assertThat(Files.readString(all.getFirst())).isEqualTo("odd");
                assertThat(all.getFirst().toUri().toString()).endsWith("/%FFodd%C3");
                Files.move(
                        all.getFirst(),
                        Path.of(URI.create(mounted.uri("/%FEodd").toString())));
            }
            assertThat(Files.exists(Path.of(URI.create(served.toUri() + "%FEodd"))))
                    .isTrue();
            String longest = "n".repeat(255);
            Files.writeString(mounted.path(longest), "long");
            assertThat(served.resolve(longest)).hasContent("long");
        }
    }

    @Test
    void aLargeFileGoesThroughChannels(@TempDir Path served) throws IOException {
        byte[] data = new byte[LARGE_BYTES];
        new Random(3).nextBytes(data);
        try (MountedDirectory mounted = new MountedDirectory(served)) {
            Path file = mounted.path("large");
            try (SeekableByteChannel out =
                    Files.newByteChannel(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                for (int at = 0; at < data.length; at += 100_000) {
                    ByteBuffer piece = ByteBuffer.wrap(data, at, Math.min(100_000, data.length - at));
                    while (piece.hasRemaining()) {
                        out.write(piece);
                    }
                    assertThat(out.size()).isEqualTo(out.position());
                }
            }
            assertThat(Files.readAllBytes(served.resolve("large"))).isEqualTo(data);
            ByteBuffer heap = ByteBuffer.allocate(LARGE_BYTES + 1);
            ByteBuffer direct = ByteBuffer.allocateDirect(LARGE_BYTES + 1);
            try (SeekableByteChannel in = Files.newByteChannel(file)) {
                assertThat(in.size()).isEqualTo(LARGE_BYTES);
                fill(in, heap);
                assertThat(heap.flip()).isEqualTo(ByteBuffer.wrap(data));
                fill(in.position(0), direct);
                assertThat(direct.flip()).isEqualTo(ByteBuffer.wrap(data));
                ByteBuffer part = ByteBuffer.allocate(1000);
                assertThat(in.position(12_345_678).read(part)).isEqualTo(1000);
                assertThat(part.flip()).isEqualTo(ByteBuffer.wrap(data, 12_345_678, 1000));
            }
            Files.copy(file, mounted.path("copy"));
            assertThat(Files.mismatch(file, mounted.path("copy"))).isEqualTo(-1);
            assertThat(Files.mismatch(served.resolve("large"), served.resolve("copy")))
                    .isEqualTo(-1);
            try (SeekableByteChannel both =
                    Files.newByteChannel(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                assertThat(both.truncate(5 << 20).size()).isEqualTo(5 << 20);
                both.position(3 << 20).write(ByteBuffer.wrap(data, 0, 1 << 20));
                heap.clear();
                fill(both.position(0), heap);
                assertThat(heap.flip().remaining()).isEqualTo(5 << 20);
                assertThat(heap.slice(3 << 20, 1 << 20)).isEqualTo(ByteBuffer.wrap(data, 0, 1 << 20));
            }
            try (FileChannel local = FileChannel.open(served.resolve("large"))) {
                assertThat(local.size()).isEqualTo(5 << 20);
            }
        }
    }

    private static void fill(SeekableByteChannel in, ByteBuffer into) throws IOException {
        while (in.read(into) >= 0) {
            assertThat(into.hasRemaining()).isTrue();
        }
    }
}
