// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.demo;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.rpcrdma4j.cli.payload.Pattern;

/**
 * What is written and must be read: some files of together so many bytes, whose contents are known by their number and the round, so that
 * nothing that an earlier round has left is taken for right. Any thread may call.
 */
final class DemoFiles implements AutoCloseable {
    /** Of each call's payload. */
    static final int BLOCK_BYTES = 1 << 20;

    static final int COUNT = 8;

    /** What the first file has less than its share, and the last one more: nearly no file ends where a block does. */
    private static final long UNEVEN_BYTES = 4099;

    private static final long MIX = 0x9E37_79B9_7F4A_7C15L;

    private final Arena arena = Arena.ofShared();
    private final Pattern pattern = new Pattern(BLOCK_BYTES, arena);
    private final List<Long> lengths = new ArrayList<>(COUNT);

    DemoFiles(long bytes) {
        for (int i = 0; i < COUNT; i++) {
            lengths.add(share(bytes, i + 1) - share(bytes, i));
        }
        long uneven = Math.min(lengths.getFirst(), UNEVEN_BYTES);
        lengths.set(0, lengths.getFirst() - uneven);
        lengths.set(COUNT - 1, lengths.getLast() + uneven);
    }

    /** Of all bytes, what the first files have. */
    private static long share(long bytes, int files) {
        return bytes / COUNT * files + bytes % COUNT * files / COUNT;
    }

    String name(int file) {
        return "file-" + file;
    }

    long length(int file) {
        return lengths.get(file);
    }

    /** Bytes of all files, or of those in a range. */
    long bytes(int from, int to) {
        return lengths.subList(from, to).stream().mapToLong(Long::longValue).sum();
    }

    /** How much a call at the offset moves: a block, or what is left of the file. */
    int pieceBytes(int file, long offset) {
        return (int) Math.min(BLOCK_BYTES, lengths.get(file) - offset);
    }

    private MemorySegment block(int round, int file, long block) {
        long number = (round * 1_000_003L + file) * 1_000_003L + block;
        return pattern.piece((int) ((number * MIX) >>> 33), BLOCK_BYTES);
    }

    /** Puts the content there: what the file has at the offset, where a block begins. */
    void fill(int round, int file, long offset, MemorySegment into) {
        into.copyFrom(block(round, file, offset / BLOCK_BYTES).asSlice(0, into.byteSize()));
    }

    /**
     * Compares each byte.
     *
     * @param where how it was come by, for the message
     */
    void verify(int round, int file, long offset, MemorySegment found, String where) throws DataMismatchException {
        long done = 0;
        while (done < found.byteSize()) {
            long at = offset + done;
            long within = at % BLOCK_BYTES;
            long length = Math.min(found.byteSize() - done, BLOCK_BYTES - within);
            MemorySegment expected = block(round, file, at / BLOCK_BYTES).asSlice(within, length);
            long differs = MemorySegment.mismatch(found, done, done + length, expected, 0, length);
            if (differs >= 0) {
                throw DataMismatchException.of(
                        name(file),
                        at + differs,
                        expected.get(ValueLayout.JAVA_BYTE, differs),
                        found.get(ValueLayout.JAVA_BYTE, done + differs),
                        where);
            }
            done += length;
        }
    }

    void verifyLength(int file, long found, String where) throws DataMismatchException {
        if (found != length(file)) {
            throw DataMismatchException.length(name(file), length(file), found, where);
        }
    }

    /** Compares a file of this host. */
    void verifyOnDisk(int round, int file, Path path) throws IOException {
        String where = "in " + path;
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ);
                Arena mapping = Arena.ofConfined()) {
            verifyLength(file, channel.size(), where);
            if (channel.size() > 0) {
                verify(round, file, 0, channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), mapping), where);
            }
        }
    }

    /** Changes one byte in the middle of a file. */
    static void damage(Path path) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            long at = file.length() / 2;
            file.seek(at);
            int was = file.read();
            file.seek(at);
            file.write(was ^ 1);
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}
