// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Walks through the pieces of a chunk, and offers of the rest as much as one region's page list can take. The device takes all of
 * that, or less by its own rules; what it leaves is offered to the next region. Used inside the monitor.
 */
final class PieceCursor {

    private final int pageBytes;
    private final int maxPages;
    private final ArrayList<MemorySegment> window = new ArrayList<>();
    private List<MemorySegment> pieces = List.of();
    private int index;
    private long skip;

    PieceCursor(int pageBytes, int maxPages) {
        this.pageBytes = pageBytes;
        this.maxPages = maxPages;
    }

    /** Begins with the first piece. Returns what is wrong with a piece, or null. */
    @Nullable
    String begin(List<MemorySegment> newPieces, PeerAccess access) {
        pieces = newPieces;
        index = 0;
        skip = 0;
        for (int i = 0; i < newPieces.size(); i++) {
            String fault = faultOf(newPieces.get(i), access);
            if (fault != null) {
                end();
                return "piece " + i + " of " + newPieces.size() + " " + fault;
            }
        }
        return null;
    }

    private static @Nullable String faultOf(MemorySegment piece, PeerAccess access) {
        if (!piece.isNative()) {
            return "is not native memory";
        }
        if (!piece.scope().isAlive()) {
            return "was freed";
        }
        if (access == PeerAccess.WRITE && piece.isReadOnly()) {
            return "is read-only, but the peer is to write it";
        }
        return null;
    }

    /** Whether bytes are left. */
    boolean hasMore() {
        while (index < pieces.size() && pieces.get(index).byteSize() == skip) {
            index++;
            skip = 0;
        }
        return index < pieces.size();
    }

    /** The next pieces, as far as one page list reaches: a piece is cut, at the end of a page, where it does not fit whole. */
    List<MemorySegment> next() {
        window.clear();
        long pages = 0;
        long begin = skip;
        for (int i = index; i < pieces.size() && pages < maxPages; i++) {
            MemorySegment piece = pieces.get(i);
            long bytes = piece.byteSize() - begin;
            if (bytes > 0) {
                long inPage = Math.floorMod(piece.address() + begin, (long) pageBytes);
                long fitting = Math.min(bytes, (maxPages - pages) * pageBytes - inPage);
                window.add(fitting == piece.byteSize() ? piece : piece.asSlice(begin, fitting));
                if (fitting < bytes) {
                    break;
                }
                pages += (inPage + bytes + pageBytes - 1) / pageBytes;
            }
            begin = 0;
        }
        return window;
    }

    /** Bytes in what {@link #next} offered. */
    long offeredBytes() {
        return bytesOf(window.size());
    }

    /** The device took so many of the pieces offered. */
    void taken(int count) {
        long bytes = bytesOf(count);
        while (bytes > 0) {
            long here = Math.min(bytes, pieces.get(index).byteSize() - skip);
            bytes -= here;
            skip += here;
            if (skip == pieces.get(index).byteSize()) {
                index++;
                skip = 0;
            }
        }
    }

    private long bytesOf(int count) {
        long bytes = 0;
        for (int i = 0; i < count; i++) {
            bytes += window.get(i).byteSize();
        }
        return bytes;
    }

    /** Lets go of the caller's memory. */
    void end() {
        window.clear();
        pieces = List.of();
    }
}
