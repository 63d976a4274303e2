// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.copy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.function.LongConsumer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** Moves a file's data from its source to its sink. Blocks of zeros are left out, so that sparse files stay sparse. */
final class Transfer {
    /** Holes are found in this unit. Smaller ones would be many small WRITEs for little that is saved. */
    static final int HOLE_BYTES = 64 << 10;

    private static final MemorySegment ZEROS =
            MemorySegment.ofArray(new byte[HOLE_BYTES]).asReadOnly();

    private final Source source;
    private final Sink sink;
    private final LongConsumer moved;
    private final @Nullable CRC32C checksum;

    /** @param checksum of all data, holes included; null if nobody wants it */
    Transfer(Source source, Sink sink, @Nullable CRC32C checksum, LongConsumer moved) {
        this.source = source;
        this.sink = sink;
        this.checksum = checksum;
        this.moved = moved;
    }

    /** Moves everything; returns where it ends. */
    long run() throws IOException {
        long end = 0;
        Piece piece = source.next(sink);
        while (piece != null) {
            long length = piece.length();
            end = piece.offset() + length;
            if (checksum != null) {
                checksum.update(piece.data().asByteBuffer());
            }
            put(piece);
            moved.accept(length);
            piece = source.next(sink);
        }
        return end;
    }

    private void put(Piece piece) throws IOException {
        if (!sink.keepsHoles() || !hasHole(piece.data())) {
            sink.write(piece);
            return;
        }
        try (piece) {
            MemorySegment data = piece.data();
            long at = 0;
            while (at < data.byteSize()) {
                long run = at;
                while (run < data.byteSize() && !isHole(block(data, run))) {
                    run = Math.min(run + HOLE_BYTES, data.byteSize());
                }
                if (run > at) {
                    sink.write(piece.offset() + at, data.asSlice(at, run - at));
                }
                at = run + HOLE_BYTES;
            }
        }
    }

    private static boolean hasHole(MemorySegment data) {
        for (long at = 0; at < data.byteSize(); at += HOLE_BYTES) {
            if (isHole(block(data, at))) {
                return true;
            }
        }
        return false;
    }

    private static MemorySegment block(MemorySegment data, long at) {
        return data.asSlice(at, Math.min(HOLE_BYTES, data.byteSize() - at));
    }

    /** What is shorter is written as it is, so that small files have their data. */
    private static boolean isHole(MemorySegment block) {
        return block.byteSize() == HOLE_BYTES && block.mismatch(ZEROS) < 0;
    }
}
