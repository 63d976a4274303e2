// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs;

import java.util.Arrays;
import java.util.Objects;

/**
 * A scatter/gather list: pieces of local regions, in order. Grows as needed and keeps its arrays, so filling it again allocates
 * nothing. libibverbs: an array of {@code struct ibv_sge}.
 */
public final class SgeList {

    private static final MemoryRegion[] NO_REGIONS = {};
    private static final long[] NO_NUMBERS = {};

    private MemoryRegion[] regions = NO_REGIONS;
    private long[] offsets = NO_NUMBERS;
    private long[] lengths = NO_NUMBERS;
    private int size;
    private long totalBytes;

    SgeList() {}

    /** Number of entries. */
    public int size() {
        return size;
    }

    /** Sum of all lengths. */
    public long totalBytes() {
        return totalBytes;
    }

    /** Region of entry {@code i}. */
    public MemoryRegion region(int i) {
        return regions[Objects.checkIndex(i, size)];
    }

    /** Offset of entry {@code i} from the first byte of its region. */
    public long offset(int i) {
        return offsets[Objects.checkIndex(i, size)];
    }

    /** Length of entry {@code i} in bytes. */
    public long length(int i) {
        return lengths[Objects.checkIndex(i, size)];
    }

    void add(MemoryRegion region, long offset, long length) {
        Objects.requireNonNull(region, "region");
        if (offset < 0 || length < 0 || length > 0xFFFF_FFFFL) {
            throw new IllegalArgumentException("entry at " + offset + " of " + length
                    + " bytes: offset must not be negative," + " length must lie in 0.." + 0xFFFF_FFFFL);
        }
        if (size == regions.length) {
            int capacity = Math.max(4, 2 * size);
            regions = Arrays.copyOf(regions, capacity);
            offsets = Arrays.copyOf(offsets, capacity);
            lengths = Arrays.copyOf(lengths, capacity);
        }
        regions[size] = region;
        offsets[size] = offset;
        lengths[size] = length;
        size++;
        totalBytes += length;
    }

    void clear() {
        size = 0;
        totalBytes = 0;
    }
}
