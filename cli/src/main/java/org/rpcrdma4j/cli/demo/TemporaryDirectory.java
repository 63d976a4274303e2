// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.demo;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/** A directory that is removed with all that is in it when it is closed, and when the process is ended by a signal. */
final class TemporaryDirectory implements AutoCloseable {
    /** Files here are memory, so that not the disk is measured. */
    private static final Path MEMORY = Path.of("/dev/shm");

    private static final long SPARE_BYTES = 16 << 20;
    private static final int REMOVALS = 10;

    private final Path path;
    private final Thread hook = new Thread(this::removeAtEnd, "demo-clean-up");

    private TemporaryDirectory(Path path) {
        this.path = path;
    }

    /**
     * Makes one where there is room for so many bytes.
     *
     * @throws IOException if there is no such place
     */
    static TemporaryDirectory create(long bytes) throws IOException {
        Path parent = hasMemory(bytes) ? MEMORY : Path.of(System.getProperty("java.io.tmpdir"));
        long free = Files.getFileStore(parent).getUsableSpace();
        if (free - SPARE_BYTES < bytes) {
            throw new IOException("not enough room in " + parent + ": " + bytes + " bytes are needed, " + free
                    + " are free; try a smaller --size");
        }
        TemporaryDirectory directory = new TemporaryDirectory(Files.createTempDirectory(parent, "rpcrdma-demo-"));
        Runtime.getRuntime().addShutdownHook(directory.hook);
        return directory;
    }

    private static boolean hasMemory(long bytes) throws IOException {
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        return Files.isDirectory(MEMORY)
                && Files.isWritable(MEMORY)
                && Files.getFileStore(MEMORY).getUsableSpace() - SPARE_BYTES >= bytes
                && system.getTotalMemorySize() / 4 >= bytes;
    }

    Path path() {
        return path;
    }

    private void removeAtEnd() {
        try {
            remove();
        } catch (IOException e) {
            System.getLogger(TemporaryDirectory.class.getName())
                    .log(System.Logger.Level.WARNING, "not removed: " + path, e);
        }
    }

    /** Whoever is still at work may make a file meanwhile. */
    private void remove() throws IOException {
        IOException last = null;
        for (int i = 0; i < REMOVALS; i++) {
            try {
                Files.walkFileTree(path, new Removal());
                return;
            } catch (DirectoryNotEmptyException e) {
                last = e;
            }
        }
        if (last != null) {
            throw last;
        }
    }

    private static final class Removal extends SimpleFileVisitor<Path> {
        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
            Files.deleteIfExists(file);
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException failure) throws IOException {
            Files.deleteIfExists(directory);
            return FileVisitResult.CONTINUE;
        }
    }

    @Override
    public void close() throws IOException {
        remove();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The end has begun, and the hook finds nothing.
        }
    }
}
