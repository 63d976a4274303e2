// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.copy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.rpcrdma4j.nfs.local.LocalPaths;
import org.rpcrdma4j.nfs.protocol.FileName;

/** Trees with all that a tree can hold, and their comparison. */
public final class SampleTree {
    /** Size of the sparse file. */
    public static final long SPARSE_BYTES = (32L << 20) + 12345;
    /** Size of the large file. */
    public static final long LARGE_BYTES = (5L << 20) + 1;

    private SampleTree() {}

    /** Makes a tree: modes, links, odd names, empty and sparse files, empty and read-only directories. */
    public static Path create(Path root, int smallFiles) throws IOException {
        Random random = new Random(4711);
        Files.createDirectories(root);
        for (int i = 0; i < smallFiles; i++) {
            Path directory = Files.createDirectories(root.resolve("small").resolve("d" + i % 20));
            write(directory.resolve("f" + i), random, random.nextInt(9000));
        }
        write(root.resolve("large"), random, LARGE_BYTES);
        write(root.resolve("empty"), random, 0);
        sparse(root.resolve("sparse"));
        Files.createDirectories(root.resolve("empty directory/in it"));
        byte[] longest = new byte[255];
        Arrays.fill(longest, (byte) 0xe9);
        Path odd = Files.createDirectory(root.resolve("odd"));
        for (byte[] name : new byte[][] {
            longest,
            {'a', '\n', 'b'},
            {(byte) 0xff, (byte) 0xfe},
            {' '},
            {'-', 'r'},
            {'%', '2', 'F'},
            {'\\'},
            {'*', '?', '"'}
        }) {
            write(odd.resolve(LocalPaths.toPath(FileName.of(name))), random, 100);
        }
        Files.createDirectory(odd.resolve(LocalPaths.toPath(FileName.of(new byte[] {'d', (byte) 0x80, '\n'}))));
        Path links = Files.createDirectory(root.resolve("links"));
        Files.createSymbolicLink(links.resolve("relative"), Path.of("../large"));
        Files.createSymbolicLink(links.resolve("absolute"), Path.of("/nowhere/at/all"));
        Files.createSymbolicLink(links.resolve("up"), Path.of(".."));
        Files.createSymbolicLink(links.resolve("self"), Path.of("self"));
        Files.createLink(links.resolve("hard"), root.resolve("large"));
        Path locked = Files.createDirectory(root.resolve("read only"));
        write(locked.resolve("file"), random, 1234);
        chmod(locked.resolve("file"), 0444);
        write(locked.resolve("private"), random, 70000);
        chmod(locked.resolve("private"), 0600);
        write(locked.resolve("program"), random, 1);
        chmod(locked.resolve("program"), 0755);
        chmod(locked, 0555);
        return root;
    }

    /** Sets mode bits, whatever the umask. */
    public static void chmod(Path path, int mode) throws IOException {
        Files.setAttribute(path, "unix:mode", mode);
    }

    /** Writes random bytes. */
    public static void write(Path path, Random random, long size) throws IOException {
        byte[] data = new byte[(int) size];
        random.nextBytes(data);
        Files.write(path, data);
    }

    private static void sparse(Path path) throws IOException {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            channel.write(
                    ByteBuffer.wrap("in the middle".getBytes(java.nio.charset.StandardCharsets.US_ASCII)), 20 << 20);
            // Ends in a hole: the last byte is written so that the file has its length.
            channel.write(ByteBuffer.allocate(1), SPARSE_BYTES - 1);
        }
    }

    /** Fails unless names, types, modes, data and links of two trees are the same. */
    public static void assertSame(Path one, Path other, boolean withTimes) throws IOException {
        Map<FileName, Path> ones = children(one);
        Map<FileName, Path> others = children(other);
        assertThat(others.keySet()).as(other.toString()).isEqualTo(ones.keySet());
        for (Map.Entry<FileName, Path> entry : ones.entrySet()) {
            assertSameFile(entry.getValue(), others.get(entry.getKey()), withTimes);
        }
    }

    private static void assertSameFile(Path one, Path other, boolean withTimes) throws IOException {
        String facts = withTimes ? "unix:mode,lastModifiedTime" : "unix:mode";
        assertThat(Files.readAttributes(other, facts, LinkOption.NOFOLLOW_LINKS))
                .as(other.toString())
                .isEqualTo(Files.readAttributes(one, facts, LinkOption.NOFOLLOW_LINKS));
        if (Files.isSymbolicLink(one)) {
            assertThat(Files.readSymbolicLink(other)).isEqualTo(Files.readSymbolicLink(one));
        } else if (Files.isDirectory(one)) {
            assertSame(one, other, withTimes);
        } else {
            assertThat(Files.mismatch(one, other)).as(other.toString()).isEqualTo(-1);
        }
    }

    /** Entries by their names' bytes. */
    public static Map<FileName, Path> children(Path directory) throws IOException {
        Map<FileName, Path> children = new TreeMap<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
            entries.forEach(entry -> children.put(LocalPaths.nameOf(entry), entry));
        }
        return children;
    }

    /** Fails if a temporary file is there. */
    public static void assertNoTemporaryIn(Path tree) throws IOException {
        try (java.util.stream.Stream<Path> all = Files.walk(tree)) {
            assertThat(all.filter(path -> String.valueOf(path.getFileName()).startsWith(Temporaries.PREFIX)))
                    .isEmpty();
        }
    }
}
