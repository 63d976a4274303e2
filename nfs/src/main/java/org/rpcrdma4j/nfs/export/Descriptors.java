// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Finds the descriptor of an open channel. Java does not tell it, but {@code /proc/self/fdinfo} shows the position of each; so a position that no
 * other has marks the one that is looked for. All other use of the channel is with explicit offsets, so its position is free for that.
 *
 * <p>{@code /proc/self/fd/N} then is the open file itself: it stays the same whatever is renamed, and {@code /proc/self/fd/N/name} is looked up in
 * the open directory, like openat(2) does.
 */
final class Descriptors {

    private static final Path INFO = Path.of("/proc/self/fdinfo");
    private static final Path OPEN = Path.of("/proc/self/fd");

    /** Marks are from here to twice this: far from where files are read. */
    private static final long LEAST_MARK = 1L << 30;

    /** How far around the last one that was found is looked first. */
    private static final int NEAR = 8;

    private static volatile int lastFound = NEAR;

    private Descriptors() {}

    /**
     * The entry of an open channel in {@code /proc/self/fd}; good until the channel is closed.
     *
     * @throws IOException if it isn't found
     */
    static Path entryOf(FileChannel channel) throws IOException {
        int number = find(channel);
        lastFound = number;
        return OPEN.resolve(Integer.toString(number));
    }

    private static int find(FileChannel channel) throws IOException {
        long mark = mark(channel);
        int near = lastFound;
        for (int number = Math.max(0, near - NEAR); number <= near + NEAR; number++) {
            if (isAt(number, mark) && isAt(number, mark(channel))) {
                return number;
            }
        }
        mark = mark(channel);
        try (DirectoryStream<Path> all = Files.newDirectoryStream(INFO)) {
            for (Path entry : all) {
                int number = Integer.parseInt(entry.getFileName().toString());
                // ORDER: a second mark, so that a file that happens to be read at the first one is not taken for ours.
                if (isAt(number, mark)) {
                    mark = mark(channel);
                    if (isAt(number, mark)) {
                        return number;
                    }
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        throw new IOException("an open file is not found in " + INFO + "; it must show positions");
    }

    private static long mark(FileChannel channel) throws IOException {
        long mark = LEAST_MARK + ThreadLocalRandom.current().nextLong(LEAST_MARK);
        channel.position(mark);
        return mark;
    }

    private static boolean isAt(int number, long position) {
        try {
            String info = Files.readString(INFO.resolve(Integer.toString(number)), StandardCharsets.ISO_8859_1);
            return info.startsWith("pos:\t" + position + "\n");
        } catch (IOException e) {
            // Closed meanwhile by whoever had it.
            return false;
        }
    }
}
