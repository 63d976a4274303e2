// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mem;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A hash table from indexes of STags to regions, for many readers without a lock and one writer at a time.
 *
 * <pre>
 *   indexes:  |  0  |  i  |  j  |  0  |  k  |    0: never used, a search ends here
 *   regions:  |     |  I  |     |     |  K  |    j was removed: a search goes on
 * </pre>
 *
 * <p>A slot is given to one index, once: what a reader has matched stays true, and a region stays in the slot it is in. So a reader finds
 * every region that is there all through its search. Slots of removed regions come back when the writer copies what is left to new
 * slots ({@link #rebuilt}), which readers then get instead of these.
 *
 * <p>Both arrays are read at the same place, and at once: among a million regions that costs one cache miss, and the region another.
 */
final class StagSlots {
    private static final int LEAST = 64;
    private static final VarHandle INDEX = MethodHandles.arrayElementVarHandle(int[].class);
    private static final VarHandle REGION = MethodHandles.arrayElementVarHandle(Region[].class);

    private final int[] indexes;
    private final @Nullable Region[] regions;
    private int used;
    private int live;

    /** Makes empty slots, a third of which hold this many regions. */
    StagSlots(int expected) {
        int length = LEAST;
        while (length < 3 * expected) {
            length *= 2;
        }
        indexes = new int[length];
        regions = new Region[length];
    }

    /** The region of an index; null if there is none, as there never is for 0. */
    @Nullable
    Region find(int index) {
        int mask = indexes.length - 1;
        // Indexes are random already; the low bits do.
        for (int slot = index & mask; ; slot = slot + 1 & mask) {
            int found = (int) INDEX.getAcquire(indexes, slot);
            // ORDER: the end first: a peer may ask for index 0, which every free slot holds.
            if (found == 0) {
                return null;
            }
            if (found == index) {
                Region region = (Region) REGION.getAcquire(regions, slot);
                if (region != null) {
                    return region;
                }
            }
        }
    }

    /** Whether {@link #rebuilt} must come before the next {@link #put}: a half is left free, so that searches are short. */
    boolean isFull() {
        return used >= indexes.length / 2;
    }

    /** Adds a region under an index that has none. */
    void put(int index, Region region) {
        int mask = indexes.length - 1;
        int slot = index & mask;
        while (indexes[slot] != 0) {
            slot = slot + 1 & mask;
        }
        // ORDER: the region before the index by which readers get to it.
        REGION.setRelease(regions, slot, region);
        INDEX.setVolatile(indexes, slot, index);
        used++;
        live++;
    }

    /** Removes the region of an index that has one. */
    void remove(int index) {
        int mask = indexes.length - 1;
        int slot = index & mask;
        while (indexes[slot] != index || regions[slot] == null) {
            slot = slot + 1 & mask;
        }
        REGION.setVolatile(regions, slot, null);
        live--;
    }

    /** Larger ones, if need be, with what is in these. */
    StagSlots rebuilt() {
        StagSlots copy = new StagSlots(live);
        for (int slot = 0; slot < indexes.length; slot++) {
            Region region = regions[slot];
            if (region != null) {
                copy.put(indexes[slot], region);
            }
        }
        return copy;
    }

    void forEach(Consumer<Region> action) {
        for (Region region : regions) {
            if (region != null) {
                action.accept(region);
            }
        }
    }
}
