// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.payload;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Bytes that both ends know: a row that does not repeat, of which each payload is a piece, chosen by its seed. So to make one costs nothing,
 * and to check one is a comparison.
 */
public final class Pattern {
    private static final int STARTS = 4096;
    private static final long STEP = 0x9E37_79B9_7F4A_7C15L;

    private final MemorySegment row;
    private final long maxBytes;

    /** A row for payloads of at most so many bytes. */
    public Pattern(long maxBytes, Arena arena) {
        this.maxBytes = maxBytes;
        row = arena.allocate((maxBytes + STARTS + 7) & ~7L, 4096);
        for (long i = 0; i < row.byteSize() / 8; i++) {
            long word = (i + 1) * STEP;
            row.set(ValueLayout.JAVA_LONG, 8 * i, word ^ word >>> 29);
        }
    }

    /** The longest payload. */
    public long maxBytes() {
        return maxBytes;
    }

    /** The payload of this seed and length; not to be written to. */
    public MemorySegment piece(int seed, long bytes) {
        return row.asSlice(Math.floorMod(seed, STARTS), bytes);
    }

    /** Whether the memory holds that payload. */
    public boolean isPiece(MemorySegment memory, int seed) {
        return piece(seed, memory.byteSize()).mismatch(memory) == -1;
    }
}
