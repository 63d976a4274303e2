// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.event.RegionTransition;

/**
 * Gives memory to regions and takes it from them: FREE to MAPPING, and back to FREE from wherever a region is INVALID. Opens and posts
 * nothing. Used inside the monitor, by the {@link Registrar} only.
 */
final class RegionMapper {

    private static final System.Logger LOG = System.getLogger(RegionMapper.class.getName());
    private static final int ADDRESS_BITS = 32;
    private static final long LOW_ADDRESS = 0xFFFF_FFFFL;

    private final SendQueuePlan.Supported plan;
    private final RegionPool pool;
    private final RegionJournal journal;
    private final List<RegionList> lists;
    private final Recovery recovery;
    private final PieceCursor cursor;
    /** Free regions that lists keep. */
    private int keptByLists;

    private int nextGeneration;

    RegionMapper(SendQueuePlan.Supported plan, RegionPool pool, List<RegionList> lists, Recovery recovery) {
        this.plan = plan;
        this.pool = pool;
        this.journal = pool.journal();
        this.lists = lists;
        this.recovery = recovery;
        cursor = new PieceCursor(plan.pageBytes(), plan.pagesPerRegion());
    }

    /** See {@link Registrar#map}. */
    MapResult map(List<MemorySegment> pieces, PeerAccess access, int xid, RegionList list) {
        String fault = cursor.begin(pieces, access);
        if (fault != null) {
            journal.count(ClientCounter.REGION_MAP_FAILURES);
            return failed(list, fault);
        }
        try {
            return mapAll(access, xid, list);
        } finally {
            cursor.end();
        }
    }

    private MapResult mapAll(PeerAccess access, int xid, RegionList list) {
        int before = list.size();
        while (cursor.hasMore()) {
            if (list.isFull()) {
                unmap(list);
                return new MapResult.TooManySegments(list.limit());
            }
            Region region = take(list);
            if (region == null) {
                return noRegions(list, xid);
            }
            String fault = mapNext(region, access, xid, list);
            if (fault != null) {
                return failed(list, fault);
            }
        }
        return MapResult.Mapped.of(list.size() - before);
    }

    private @Nullable Region take(RegionList list) {
        Region kept = takeKept(list);
        return kept != null ? kept : pool.take();
    }

    private @Nullable Region takeKept(RegionList list) {
        Region kept = list.takeKept();
        keptByLists -= kept == null ? 0 : 1;
        return kept;
    }

    private MapResult noRegions(RegionList list, int xid) {
        int wanted = list.size() + 1;
        if (wanted > pool.maxRegions()) {
            return failed(list, "needs more than " + pool.maxRegions() + " regions, which is all that there may be");
        }
        journal.exhausted(xid);
        // ORDER: wait first, then give back: what is given back while somebody waits goes to the pool.
        pool.await(list, wanted);
        unmap(list);
        // On a new connection there are none: calls by the thousand are sent again then, each with a list.
        for (int i = 0; i < lists.size() && keptByLists > 0; i++) {
            giveBackKept(lists.get(i));
        }
        return MapResult.NoRegions.INSTANCE;
    }

    private MapResult failed(RegionList list, String reason) {
        unmap(list);
        return new MapResult.Failed(reason);
    }

    /** Returns what was wrong, or null. The region is the list's then, or free again. */
    private @Nullable String mapNext(Region region, PeerAccess access, int xid, RegionList list) {
        List<MemorySegment> offered = cursor.next();
        String fault;
        try {
            long address = offered.getFirst().address();
            int taken =
                    region.device().map(offered, wishedAddress(address, cursor.offeredBytes(), plan.pageBytes(), xid));
            if (taken > 0) {
                region.mapped(list, access, ++nextGeneration, xid, taken);
                list.add(region);
                cursor.taken(taken);
                journal.changed(region, RegionTransition.MAPPED);
                return null;
            }
            fault = "the device has no resources to map " + offered.size() + " pieces";
        } catch (IllegalArgumentException | IllegalStateException e) {
            fault = "the device refuses " + offered.getFirst() + ": " + e.getMessage();
        }
        journal.mapFailed(region, xid, offered.size(), fault);
        // Nothing was registered, so nothing has to be recovered.
        rest(region, list);
        return fault;
    }

    /** XID in the upper half, the memory's own address in the lower, with no carry into the upper. */
    static long wishedAddress(long address, long bytes, int pageBytes, int xid) {
        long low = address & LOW_ADDRESS;
        if (low + bytes > LOW_ADDRESS) {
            low = Math.floorMod(address, (long) pageBytes);
        }
        return (long) xid << ADDRESS_BITS | low;
    }

    /** Gives back what is mapped and not registered. */
    void unmap(RegionList list) {
        for (int i = list.size() - 1; i >= 0; i--) {
            if (list.region(i).custody() == Custody.MAPPING) {
                free(list.region(i));
            }
        }
    }

    void giveBackKept(RegionList list) {
        Region region;
        while ((region = takeKept(list)) != null) {
            pool.put(region);
        }
    }

    /** The region is INVALID: ends the lease on its memory and takes it out of its list. */
    void free(Region region) {
        RegionList list = region.requireOwner();
        assert region.state() == RegionState.INVALID : region;
        try {
            region.device().unmap();
        } catch (IllegalStateException e) {
            LOG.log(Level.WARNING, "cannot be unmapped, will be deregistered: " + region, e);
            recovery.add(region);
            return;
        }
        list.remove(region);
        rest(region, list);
        journal.changed(region, RegionTransition.FREE);
    }

    private void rest(Region region, RegionList list) {
        region.free();
        if (pool.hasWaiters() || !list.keep(region)) {
            pool.put(region);
        } else {
            keptByLists++;
        }
    }
}
