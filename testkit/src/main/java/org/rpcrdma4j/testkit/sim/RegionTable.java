// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** The regions of a device by the index part of their keys. */
final class RegionTable {

    private static final int INDEX_BITS = 24;

    private final Map<Integer, SimRegion> byIndex = new HashMap<>();

    /** A key with an index that is free and hard to guess, and a key part that is random too. */
    int newKey(SplittableRandom random) {
        int index;
        do {
            index = random.nextInt(1, 1 << INDEX_BITS);
        } while (byIndex.containsKey(index));
        return (index << 8) | random.nextInt(256);
    }

    void add(SimRegion region) {
        byIndex.put(region.index, region);
    }

    void remove(SimRegion region) {
        byIndex.remove(region.index);
    }

    int size() {
        return byIndex.size();
    }

    @Nullable
    SimRegion find(int key) {
        return byIndex.get(key >>> 8);
    }
}
