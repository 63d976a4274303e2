// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.queue;

import java.util.Arrays;
import org.rpcrdma4j.iwarp.mem.Region;
import org.rpcrdma4j.verbs.SgeList;

/** A copy of a work request's scatter/gather list, kept in its slot; its arrays are used again. */
public final class Sges {
    private static final Region[] NO_REGIONS = {};

    private Region[] regions = NO_REGIONS;
    private long[] offsets = {};
    private long[] lengths = {};
    private int size;
    private long totalBytes;

    Sges() {}

    /** Number of entries. */
    public int size() {
        return size;
    }

    /** Sum of the lengths. */
    public long totalBytes() {
        return totalBytes;
    }

    public Region region(int i) {
        return regions[i];
    }

    public long offset(int i) {
        return offsets[i];
    }

    public long length(int i) {
        return lengths[i];
    }

    /** Copies the list. Every region must be one of this device. */
    void copy(SgeList list) {
        if (list.size() > regions.length) {
            regions = Arrays.copyOf(regions, list.size());
            offsets = new long[list.size()];
            lengths = new long[list.size()];
        }
        for (int i = 0; i < list.size(); i++) {
            regions[i] = (Region) list.region(i);
            offsets[i] = list.offset(i);
            lengths[i] = list.length(i);
        }
        size = list.size();
        totalBytes = list.totalBytes();
    }

    void clear() {
        size = 0;
        totalBytes = 0;
    }
}
