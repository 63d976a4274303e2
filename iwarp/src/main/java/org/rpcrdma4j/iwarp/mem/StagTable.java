// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mem;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Finds regions by STag, and gives STags out.
 *
 * <pre>
 *   31                    8 7      0
 *   +----------------------+--------+
 *   |        index         |  key   |   index 0 is never used
 *   +----------------------+--------+
 * </pre>
 *
 * <p>RFC 5040, Section 8.1.1: STags are hard to predict and spread over the whole range: index and first key are drawn by the random
 * source given. RFC 5042, Section 6.1.1: they are reused late: an index given back waits in line until the line is as long as half
 * of the indexes that are free.
 *
 * <p>Look-up takes no lock ({@link StagSlots}); changes are made under one, and growing publishes slots anew. Registration and invalidation of a fast region do not come here at all.
 */
public final class StagTable {
    public static final int KEY_MASK = 0xFF;
    public static final int INDEX_MASK = ~KEY_MASK;

    private static final int INDEXES = 1 << 24;

    private final IntSupplier random;
    private final int maxRegions;
    private final BitSet taken = new BitSet();
    private final IntQueue waiting = new IntQueue();
    private volatile StagSlots slots = new StagSlots(0);
    private int size;

    /**
     * @param random 32 random bits at a time, not predictable by a peer
     * @param maxRegions most regions at a time, at most half of all indexes
     */
    public StagTable(IntSupplier random, int maxRegions) {
        if (maxRegions < 1 || maxRegions > INDEXES / 2) {
            throw new IllegalArgumentException("maxRegions " + maxRegions + " outside 1.." + INDEXES / 2);
        }
        this.random = random;
        this.maxRegions = maxRegions;
        taken.set(0);
    }

    /** The region with this STag's index; the key is left to {@link Region#enter}. Null if there is none. */
    public @Nullable Region find(int stag) {
        return slots.find(stag >>> 8);
    }

    /** Number of regions. */
    public synchronized int size() {
        return size;
    }

    /** Draws an STag for a new region. {@link #put} follows. */
    synchronized int allocate() {
        if (size >= maxRegions) {
            throw new IllegalStateException("no more than " + maxRegions + " regions on this device");
        }
        int draw;
        do {
            draw = random.getAsInt();
        } while (taken.get(draw >>> 8));
        taken.set(draw >>> 8);
        size++;
        return draw;
    }

    synchronized void put(int stag, Region region) {
        if (slots.isFull()) {
            slots = slots.rebuilt();
        }
        slots.put(stag >>> 8, region);
    }

    synchronized void remove(int stag) {
        int index = stag >>> 8;
        slots.remove(index);
        size--;
        waiting.add(index);
        while (waiting.size() > (INDEXES - size) / 2) {
            taken.clear(waiting.remove());
        }
    }

    /** Closes every region. */
    public void closeAll() {
        List<Region> all = new ArrayList<>();
        synchronized (this) {
            slots.forEach(all::add);
        }
        all.forEach(Region::close);
    }
}
