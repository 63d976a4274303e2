// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import java.nio.ByteBuffer;
import java.util.List;
import org.rpcrdma4j.verbs.MemoryRegion;

/** One registration as the model sees it: pieces of an end's memory, as offsets in it. A fast region has a new one each time. */
final class Registration {
    /** A piece of memory. */
    record Piece(int offset, int length) {}

    final MemoryRegion region;
    final int key;
    final long base;
    final boolean target;
    final int length;
    private final List<Piece> pieces;

    /** Requests of this end and of the peer that may still touch it. */
    int ownUses;

    int peerUses;

    /** Its invalidation was posted: nobody may use it any more. */
    boolean sealed;

    Registration(MemoryRegion region, int key, long base, boolean target, List<Piece> pieces) {
        this.region = region;
        this.key = key;
        this.base = base;
        this.target = target;
        this.pieces = pieces;
        this.length = pieces.stream().mapToInt(Piece::length).sum();
    }

    /** Its region was closed. */
    boolean closed;

    /** Whether the peer may use it. */
    boolean isOpen() {
        return !sealed && region.isValid() && region.remoteKey() == key;
    }

    /** Whether it was in force and is not any more: a region keeps its last key. */
    boolean isOver() {
        return !closed && !region.isValid() && region.remoteKey() == key;
    }

    /** Writes into the model's copy of the memory. */
    void put(byte[] memory, int offset, ByteBuffer data) {
        int skip = offset;
        for (Piece piece : pieces) {
            if (skip >= piece.length) {
                skip -= piece.length;
                continue;
            }
            int part = Math.min(piece.length - skip, data.remaining());
            data.get(memory, piece.offset + skip, part);
            skip = 0;
        }
        if (data.hasRemaining()) {
            throw new AssertionError(data.remaining() + " bytes outside of the registration");
        }
    }

    /** Reads from the model's copy of the memory. */
    void get(byte[] memory, int offset, int count, ByteBuffer into) {
        int skip = offset;
        int left = count;
        for (Piece piece : pieces) {
            if (skip >= piece.length) {
                skip -= piece.length;
                continue;
            }
            int part = Math.min(piece.length - skip, left);
            into.put(memory, piece.offset + skip, part);
            left -= part;
            skip = 0;
        }
    }
}
