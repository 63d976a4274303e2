// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.connection.DisconnectCause;
import org.rpcrdma4j.transport.connection.Monitor;
import org.rpcrdma4j.transport.connection.WorkIds;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.RegisterRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.WorkCompletion;

/**
 * Opens callers' memory to the peer for one call, and shuts it again; the only one who does. One for each connection, used once. The
 * package tells how the life of a region goes.
 *
 * <p>All methods are called inside the monitor, and nothing waits inside.
 */
public final class Registrar {

    private static final System.Logger LOG = System.getLogger(Registrar.class.getName());
    private static final int KEPT_BY_A_LIST = 4;
    private static final int ADDRESS_BITS = 32;
    private static final long LOW_ADDRESS = 0xFFFF_FFFFL;

    private final SendQueuePlan.Supported plan;
    private final Monitor monitor;
    private final RegionPool pool;
    private final RegionLink link;
    private final Counters<ClientCounter> counters;
    private final Recovery recovery;
    private final PieceCursor cursor;
    private final ArrayList<RegionList> lists = new ArrayList<>();
    private final ArrayDeque<InvalidationChain> spareChains = new ArrayDeque<>();
    private final ArrayDeque<InvalidationChain> stalledChains = new ArrayDeque<>();
    private int nextGeneration;
    private boolean ending;
    private boolean released;

    /** A registrar without regions in use. */
    public Registrar(
            SendQueuePlan.Supported plan,
            Monitor monitor,
            RegionPool pool,
            RegionLink link,
            Counters<ClientCounter> counters) {
        this.plan = plan;
        this.monitor = monitor;
        this.pool = pool;
        this.link = link;
        this.counters = counters;
        recovery = new Recovery(monitor, pool.worker(), pool.deviceRegions(), this::onReplaced);
        cursor = new PieceCursor(plan.pageBytes(), plan.pagesPerRegion());
    }

    /**
     * Makes a list for a request; to be made once and used for many calls.
     *
     * @param wake called inside the monitor when regions are there for a list that {@link MapResult.NoRegions} was told; {@link #map}
     *     should be called again from there, at once, or the regions go to the next one that waits
     */
    public RegionList newList(Runnable wake) {
        monitor.requireHeld();
        RegionList list = new RegionList(plan.maxSegments(), KEPT_BY_A_LIST, wake);
        lists.add(list);
        return list;
    }

    /**
     * Maps pieces to as few regions as can be, which are added to the list: each is a segment of the chunk. Draws their keys; posts
     * nothing and opens nothing. If not all pieces can be mapped, the list gives back all that was not registered yet.
     *
     * @param pieces the chunk's memory in order; empty pieces are passed over; the list is not kept
     * @param xid where the device lets us choose, the upper half of the offset: an old segment of another call is out of bounds then,
     *     even when the key has come round
     */
    public MapResult map(List<MemorySegment> pieces, PeerAccess access, int xid, RegionList list) {
        monitor.requireHeld();
        if (list.isFencing() || list.isWaiting()) {
            throw new IllegalStateException("not ready for a call: " + list);
        }
        if (ending) {
            return MapResult.Ending.INSTANCE;
        }
        String fault = cursor.begin(pieces, access);
        if (fault != null) {
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
                return noRegions(list);
            }
            String fault = mapNext(region, access, xid, list);
            if (fault != null) {
                return failed(list, fault);
            }
        }
        return MapResult.Mapped.of(list.size() - before);
    }

    private @Nullable Region take(RegionList list) {
        Region kept = list.takeKept();
        return kept != null ? kept : pool.take();
    }

    private MapResult noRegions(RegionList list) {
        int wanted = list.size() + 1;
        if (wanted > pool.maxRegions()) {
            return failed(
                    list, "more than " + pool.maxRegions() + " regions are needed, which is all that there may be");
        }
        counters.increment(ClientCounter.REGIONS_EXHAUSTED);
        // ORDER: wait first, then give back: what is given back while somebody waits goes to the pool.
        pool.await(list, wanted);
        unmap(list);
        for (int i = 0; i < lists.size(); i++) {
            giveBackKept(lists.get(i));
        }
        return MapResult.NoRegions.INSTANCE;
    }

    private MapResult failed(RegionList list, String reason) {
        counters.increment(ClientCounter.REGION_MAP_FAILURES);
        unmap(list);
        return new MapResult.Failed(reason);
    }

    /** Returns what was wrong, or null. The region is the list's then, or free again. */
    private @Nullable String mapNext(Region region, PeerAccess access, int xid, RegionList list) {
        List<MemorySegment> offered = cursor.next();
        String fault;
        try {
            int taken = region.device()
                    .map(offered, wishedAddress(offered.getFirst().address(), xid));
            if (taken > 0) {
                region.mapped(list, access, ++nextGeneration);
                list.add(region);
                cursor.taken(taken);
                return null;
            }
            fault = "the device has no resources to map " + offered.size() + " pieces";
        } catch (IllegalArgumentException | IllegalStateException e) {
            fault = "the device refuses " + offered.getFirst() + ": " + e.getMessage();
        }
        // Nothing was registered, so nothing has to be recovered.
        rest(region, list);
        return fault;
    }

    /** XID in the upper half, the memory's own address in the lower, with no carry into the upper. */
    private long wishedAddress(long address, int xid) {
        long low = address & LOW_ADDRESS;
        if (low + cursor.offeredBytes() > LOW_ADDRESS) {
            low = Math.floorMod(address, (long) plan.pageBytes());
        }
        return (long) xid << ADDRESS_BITS | low;
    }

    /** Gives back what is mapped and not registered: the call was not marshalled after all. Costs the device nothing. */
    public void unmap(RegionList list) {
        monitor.requireHeld();
        for (int i = list.size() - 1; i >= 0; i--) {
            if (list.region(i).custody() == Custody.MAPPING) {
                free(list.region(i));
            }
        }
    }

    /** The list is not needed for now: its free regions go to the pool, its wish for some is forgotten. */
    public void idle(RegionList list) {
        monitor.requireHeld();
        pool.cancelWait(list);
        giveBackKept(list);
    }

    /** A list that waits does so no longer. Nothing happens if it does not wait. */
    public void cancelWait(RegionList list) {
        monitor.requireHeld();
        pool.cancelWait(list);
    }

    private void giveBackKept(RegionList list) {
        Region region;
        while ((region = list.takeKept()) != null) {
            pool.put(region);
        }
    }

    /**
     * Adds a registration for each mapped region, unsignaled, to the chain, which must end with a signaled Send. The chain must be
     * handed to the send queue now: an invalidation that is handed over later is executed later.
     */
    public void appendRegistrations(RegionList list, List<? super RegisterRequest> chain) {
        monitor.requireHeld();
        for (int i = 0; i < list.size(); i++) {
            Region region = list.region(i);
            if (region.custody() == Custody.MAPPING) {
                chain.add(region.register());
                counters.increment(ClientCounter.REGISTRATIONS);
            }
        }
    }

    /**
     * A chain with registrations was refused: those from {@code firstBad} on were not posted. They are mapped only, as before {@link
     * #appendRegistrations}; if the call was given up meanwhile they are given back.
     */
    public void onRefused(List<? extends SendQueueRequest> chain, int firstBad) {
        monitor.requireHeld();
        for (int i = firstBad; i < chain.size(); i++) {
            if (chain.get(i) instanceof RegisterRequest request) {
                Region region = ofUse(request.id());
                if (region != null && region.state() == RegionState.VALID && region.custody() == Custody.REGISTERED) {
                    takeBackRegistration(region);
                }
            }
        }
    }

    private void takeBackRegistration(Region region) {
        InvalidationChain invalidation = region.invalidation();
        region.notRegistered();
        if (invalidation != null) {
            // The outbox posts in order and is still with the refused chain: the invalidation was not posted yet.
            invalidation.withdraw(region);
            RegionList list = region.requireOwner();
            free(region);
            settle(list);
        }
    }

    /**
     * A message answers the call of this list, and has invalidated a region.
     *
     * @param list null if the message answers no call that has regions
     */
    public RemoteInvalidation remotelyInvalidated(@Nullable RegionList list, int key) {
        monitor.requireHeld();
        for (int i = 0; list != null && i < list.size(); i++) {
            Region region = list.region(i);
            if (region.handle() == key && region.state() == RegionState.VALID) {
                if (region.invalidation() == null) {
                    region.invalidated();
                }
                counters.increment(ClientCounter.REMOTE_INVALIDATIONS);
                return RemoteInvalidation.OWN;
            }
        }
        counters.increment(ClientCounter.FOREIGN_INVALIDATIONS);
        for (Region region : pool.regions()) {
            if (region.handle() == key && region.state() == RegionState.VALID && region.invalidation() == null) {
                return RemoteInvalidation.FOREIGN;
            }
        }
        return RemoteInvalidation.UNKNOWN;
    }

    /**
     * Shuts the list's memory after a reply: one chain of invalidations, none for what the peer has invalidated. If that cannot succeed
     * the end of the connection shuts it.
     *
     * @throws IllegalStateException if the list is being fenced already
     */
    public void invalidate(RegionList list, Fence fence) {
        shut(list, fence, false);
    }

    /**
     * Shuts the list's memory for a call without a reply that is given up. As {@link #invalidate}, but where work requests cannot do
     * it, the recovery worker deregisters rather than leave it to the end of the connection.
     *
     * @throws IllegalStateException if the list is being fenced already
     */
    public void giveUp(RegionList list, Fence fence) {
        shut(list, fence, true);
    }

    private void shut(RegionList list, Fence fence, boolean urgent) {
        monitor.requireHeld();
        pool.cancelWait(list);
        list.beginFencing(fence, urgent);
        InvalidationChain chain = null;
        for (int i = list.size() - 1; i >= 0; i--) {
            Region region = list.region(i);
            if (region.state() == RegionState.INVALID) {
                free(region);
            } else if (region.state() == RegionState.VALID && !ending) {
                chain = chain == null ? newChain() : chain;
                chain.add(region);
            } else {
                shutOtherwise(region);
            }
        }
        if (chain != null) {
            counters.add(ClientCounter.LOCAL_INVALIDATIONS, chain.size());
            link.post(chain);
        }
        settle(list);
    }

    /** A work request cannot shut the region. */
    private void shutOtherwise(Region region) {
        region.leaveInvalidation();
        if (released || region.custody() != Custody.REGISTERED) {
            return;
        }
        if (region.requireOwner().isUrgent()) {
            recovery.add(region);
        } else {
            region.failed();
            link.fail(DisconnectCause.FENCE, "cannot be invalidated: " + region);
        }
    }

    private void settle(RegionList list) {
        if (list.isEmpty()) {
            Fence fence = list.takeFence();
            if (fence != null) {
                fence.fenced();
            }
        }
    }

    /** The region is INVALID: ends the lease on its memory and gives it back. */
    private void free(Region region) {
        RegionList list = region.requireOwner();
        try {
            region.device().unmap();
        } catch (IllegalStateException e) {
            LOG.log(Level.WARNING, "cannot be unmapped, will be deregistered: " + region, e);
            recovery.add(region);
            return;
        }
        list.remove(region);
        rest(region, list);
    }

    private void rest(Region region, RegionList list) {
        region.free();
        if (pool.hasWaiters() || !list.keep(region)) {
            pool.put(region);
        }
    }

    // ORDER: a chain is used again only when another one has completed after it. Chains are posted one after the other,
    // so the post
    // of this one has returned by then, and nobody looks at it any more.
    private InvalidationChain newChain() {
        InvalidationChain spare = spareChains.size() > 1 ? spareChains.poll() : null;
        InvalidationChain chain = spare == null ? new InvalidationChain(this) : spare;
        chain.begin();
        return chain;
    }

    private @Nullable Region ofUse(long workId) {
        Region region = pool.find(WorkIds.index(workId));
        return region != null && region.isOfGeneration(workId) ? region : null;
    }

    /** A registration has ended: as a rule one that failed, since success is not reported. */
    public void onRegisterCompletion(WorkCompletion completion) {
        monitor.requireHeld();
        Region region = ofUse(completion.id());
        if (!completion.isSuccess()) {
            if (region != null) {
                region.failed();
            }
            reportFailure(completion, region);
        }
        postStalled();
    }

    /** An invalidation has ended. */
    public void onInvalidateCompletion(WorkCompletion completion) {
        monitor.requireHeld();
        Region region = ofUse(completion.id());
        InvalidationChain chain = region == null ? null : region.invalidation();
        if (region == null || chain == null) {
            return;
        }
        region.leaveInvalidation();
        if (chain.completed()) {
            spareChains.add(chain);
        }
        RegionList list = region.requireOwner();
        if (completion.isSuccess()) {
            region.invalidated();
            free(region);
        } else {
            region.failed();
            reportFailure(completion, region);
            shutOtherwise(region);
        }
        settle(list);
        postStalled();
    }

    private void reportFailure(WorkCompletion completion, @Nullable Region region) {
        if (completion.status() != WorkCompletion.Status.FLUSHED) {
            LOG.log(Level.WARNING, "{0}: {1}", completion, region);
        }
        link.fail(
                DisconnectCause.WORK_REQUEST_FAILED,
                "work request failed: " + completion.status().description());
    }

    /** Posts what found the send queue full. To be called at each completion of the send queue that is not ours. */
    public void postStalled() {
        InvalidationChain chain;
        while (!ending && (chain = stalledChains.poll()) != null) {
            link.post(chain);
        }
    }

    void onInvalidationRefused(InvalidationChain chain, PostResult.Refused refused) {
        chain.keepFrom(refused.firstBad());
        counters.increment(ClientCounter.POST_ERRORS);
        if (refused.reason() == PostResult.Reason.QUEUE_FULL && !ending) {
            stalledChains.add(chain);
            return;
        }
        LOG.log(Level.DEBUG, "{0} invalidations refused: {1}", chain.size(), refused);
        boolean wellConnected = !ending && refused.reason() != PostResult.Reason.WRONG_STATE;
        for (int i = 0; i < chain.size(); i++) {
            Region region = chain.region(i);
            if (region.invalidation() == chain) {
                if (wellConnected) {
                    recovery.add(region);
                } else {
                    shutOtherwise(region);
                }
            }
        }
    }

    private void onReplaced(Region region, DeviceRegions.Replacement replacement) {
        if (released) {
            return;
        }
        if (!replacement.shut()) {
            region.gone();
            link.fail(DisconnectCause.FENCE, "cannot be deregistered: " + region);
            return;
        }
        RegionList list = region.requireOwner();
        list.remove(region);
        if (replacement.fresh() == null) {
            pool.forget(region);
        } else {
            region.renew(replacement.fresh());
            counters.increment(ClientCounter.REGIONS_RECOVERED);
            pool.put(region);
        }
        settle(list);
    }

    /**
     * The connection is ending: nothing is posted, created or mapped from now on. To be called first thing when it is known. Lists that
     * are being fenced are told by completions that still come, or at the end.
     */
    public void connectionEnding() {
        monitor.requireHeld();
        if (ending) {
            return;
        }
        ending = true;
        pool.end();
        InvalidationChain chain;
        while ((chain = stalledChains.poll()) != null) {
            for (int i = 0; i < chain.size(); i++) {
                shutOtherwise(chain.region(i));
            }
        }
    }

    /**
     * The queue pair is closed, so all memory is shut. Once the monitor is left, on the leaving thread, every region is deregistered;
     * then, inside the monitor, each fence that still waits is told, all lists are empty, and {@code whenGone} runs.
     */
    public void releaseAll(Runnable whenGone) {
        monitor.requireHeld();
        connectionEnding();
        released = true;
        recovery.stop();
        monitor.afterwards(() -> {
            // ORDER: deregister before anybody is told: the device holds a lease on callers' memory until then.
            pool.deviceRegions().closeAll();
            monitor.run(() -> tellReleased(whenGone));
        });
    }

    private void tellReleased(Runnable whenGone) {
        pool.allGone();
        for (int i = 0; i < lists.size(); i++) {
            RegionList list = lists.get(i);
            list.clear();
            Fence fence = list.takeFence();
            if (fence != null) {
                counters.increment(ClientCounter.FENCES_BY_DISCONNECT);
                fence.connectionLost();
            }
        }
        whenGone.run();
    }

    @Override
    public String toString() {
        return "registrar" + (ending ? ", ending" : "") + (released ? ", released" : "") + ", " + stalledChains.size()
                + " chains stalled, " + pool;
    }
}
