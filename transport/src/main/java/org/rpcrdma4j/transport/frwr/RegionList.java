// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The regions of one request: those that its call uses, and a few free ones that it keeps for its next call. Made by {@link
 * Registrar#newList}, lives as long as the connection.
 *
 * <p>While its call is marshalled, regions are added at the end, so an index is a segment's number. Once its memory is being shut,
 * regions leave it one by one, and {@link Fence} is told when the last one has.
 *
 * <p>Touched inside the monitor only.
 */
public final class RegionList {

    private final @Nullable Region[] used;
    private final @Nullable Region[] cache;
    private final Runnable wake;
    private int usedCount;
    private int cachedCount;
    private @Nullable Fence fence;
    private boolean urgent;
    private boolean waiting;
    private int wanted;

    RegionList(int maxUsed, int maxCached, Runnable wake) {
        used = new Region[maxUsed];
        cache = new Region[maxCached];
        this.wake = wake;
    }

    /** How many regions the call uses. */
    public int size() {
        return usedCount;
    }

    /** Whether the call uses none. */
    public boolean isEmpty() {
        return usedCount == 0;
    }

    /** Whether none of the regions that the call uses is open to the peer. */
    public boolean isShut() {
        for (int i = 0; i < usedCount; i++) {
            if (region(i).state() != RegionState.INVALID) {
                return false;
            }
        }
        return true;
    }

    /** The region of the given number. */
    public Region region(int index) {
        Region region = index < usedCount ? used[index] : null;
        if (region == null) {
            throw new IndexOutOfBoundsException("region " + index + " of " + usedCount);
        }
        return region;
    }

    /** Its handle, as a segment tells it to the peer. */
    public int handle(int index) {
        return region(index).handle();
    }

    /** Its length. */
    public long length(int index) {
        return region(index).length();
    }

    /** Its offset, as a segment tells it to the peer. */
    public long offset(int index) {
        return region(index).offset();
    }

    /** Whether a {@link Fence} waits for this list. */
    public boolean isFencing() {
        return fence != null;
    }

    /** Whether it waits for regions. */
    public boolean isWaiting() {
        return waiting;
    }

    boolean isFull() {
        return usedCount == used.length;
    }

    int limit() {
        return used.length;
    }

    void add(Region region) {
        used[usedCount++] = region;
    }

    void remove(Region region) {
        for (int i = usedCount - 1; i >= 0; i--) {
            if (used[i] == region) {
                System.arraycopy(used, i + 1, used, i, usedCount - i - 1);
                used[--usedCount] = null;
                return;
            }
        }
        throw new AssertionError(region + " is not of " + this);
    }

    void clear() {
        Arrays.fill(used, null);
        Arrays.fill(cache, null);
        usedCount = 0;
        cachedCount = 0;
    }

    /** Keeps a free region for the next call, if there is room. */
    boolean keep(Region region) {
        if (cachedCount == cache.length) {
            return false;
        }
        cache[cachedCount++] = region;
        return true;
    }

    /** A region kept; null if none. */
    @Nullable
    Region takeKept() {
        if (cachedCount == 0) {
            return null;
        }
        Region region = cache[--cachedCount];
        cache[cachedCount] = null;
        return region;
    }

    int kept() {
        return cachedCount;
    }

    void beginFencing(Fence newFence, boolean newUrgent) {
        if (fence != null) {
            throw new IllegalStateException("is being fenced already: " + this);
        }
        fence = newFence;
        urgent = newUrgent;
    }

    /** Whoever waits must not wait for the connection's end: the recovery worker may shut what work requests cannot. */
    boolean isUrgent() {
        return urgent;
    }

    /** The fence, which is told now and never again. */
    @Nullable
    Fence takeFence() {
        Fence taken = fence;
        fence = null;
        urgent = false;
        return taken;
    }

    void await(int regions) {
        waiting = true;
        wanted = regions;
    }

    void endWait() {
        waiting = false;
    }

    /** How many free regions its next attempt needs at the least. */
    int wanted() {
        return wanted;
    }

    void wake() {
        wake.run();
    }

    @Override
    public String toString() {
        return "list of " + Arrays.toString(Arrays.copyOf(used, usedCount)) + ", " + cachedCount + " kept"
                + (waiting ? ", waits for " + wanted : "")
                + (fence == null ? "" : urgent ? ", urgent fence" : ", fence");
    }
}
