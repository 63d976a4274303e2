// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.util.Arrays;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.RdmaWriteRequest;

/** Registered memory that RDMA Writes take their bytes from, piece after piece, and how far it is used up. A reused carrier. */
final class SourceList {

    private MemoryRegion[] regions = new MemoryRegion[0];
    private long[] offsets = new long[0];
    private long[] lengths = new long[0];
    private int size;
    private int next;

    /** Appends; what continues the piece before it becomes one with it. */
    void add(MemoryRegion region, long offset, long length) {
        if (length == 0) {
            return;
        }
        if (size > 0 && regions[size - 1].equals(region) && offsets[size - 1] + lengths[size - 1] == offset) {
            lengths[size - 1] += length;
            return;
        }
        if (size == lengths.length) {
            int capacity = Math.max(4, 2 * size);
            regions = Arrays.copyOf(regions, capacity);
            offsets = Arrays.copyOf(offsets, capacity);
            lengths = Arrays.copyOf(lengths, capacity);
        }
        regions[size] = region;
        offsets[size] = offset;
        lengths[size++] = length;
    }

    /** Gives the next bytes to the Write, at most so many and in at most so many pieces; returns how many. */
    long take(RdmaWriteRequest write, long wanted, int maxPieces) {
        long taken = 0;
        for (int pieces = 0; pieces < maxPieces && taken < wanted && next < size; pieces++) {
            long length = Math.min(wanted - taken, lengths[next]);
            write.sge(regions[next], offsets[next], length);
            offsets[next] += length;
            lengths[next] -= length;
            if (lengths[next] == 0) {
                next++;
            }
            taken += length;
        }
        return taken;
    }

    void clear() {
        // Regions are let go of: they may be closed.
        Arrays.fill(regions, 0, size, null);
        size = 0;
        next = 0;
    }
}
