// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.connection.DisconnectCause;
import org.rpcrdma4j.transport.connection.Monitor;
import org.rpcrdma4j.transport.connection.WorkIds;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.event.Gauge;
import org.rpcrdma4j.transport.event.Gauges;
import org.rpcrdma4j.transport.event.RegionTransition;
import org.rpcrdma4j.verbs.RegisterRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.WorkCompletion;

/**
 * Opens callers' memory to the peer for one call, and shuts it again; nobody else does. One for each connection, used once. The package
 * tells how the life of a region goes.
 *
 * <p>All methods are called inside the monitor, and nothing waits inside.
 */
public final class Registrar {

    private static final System.Logger LOG = System.getLogger(Registrar.class.getName());
    private static final int KEPT_BY_A_LIST = 4;

    private final SendQueuePlan.Supported plan;
    private final Monitor monitor;
    private final RegionPool pool;
    private final RegionLink link;
    private final RegionJournal journal;
    private final Recovery recovery;
    private final RegionMapper mapper;
    private final Invalidations invalidations;
    private final List<RegionList> lists = new ArrayList<>();
    private @Nullable WritePad pad;
    private boolean ending;
    private boolean released;
    private boolean failureLogged;

    /** A registrar without regions in use. */
    public Registrar(SendQueuePlan.Supported plan, Monitor monitor, RegionPool pool, RegionLink link) {
        this.plan = plan;
        this.monitor = monitor;
        this.pool = pool;
        this.link = link;
        journal = pool.journal();
        recovery = new Recovery(monitor, pool.worker(), pool.deviceRegions(), this::onReplaced);
        mapper = new RegionMapper(plan, pool, lists, recovery);
        invalidations = new Invalidations(pool, link, recovery, mapper);
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
        return ending ? MapResult.Ending.INSTANCE : mapper.map(pieces, access, xid, list);
    }

    /** Gives back what is mapped and not registered: the call was not marshalled after all. Costs the device nothing. */
    public void unmap(RegionList list) {
        monitor.requireHeld();
        mapper.unmap(list);
    }

    /** The list is not needed for now: its free regions go to the pool, its wish for some is forgotten. */
    public void idle(RegionList list) {
        cancelWait(list);
        mapper.giveBackKept(list);
    }

    /** A list that waits does so no longer. Nothing happens if it does not wait. */
    public void cancelWait(RegionList list) {
        monitor.requireHeld();
        pool.cancelWait(list);
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
                journal.count(ClientCounter.REGISTRATIONS);
                journal.posted(region, RegionTransition.REGISTERING, WorkIds.Kind.REGISTER);
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
                    region.notRegistered();
                    invalidations.withdraw(region);
                }
            }
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
                journal.count(ClientCounter.REMOTE_INVALIDATIONS);
                journal.changed(region, RegionTransition.REMOTELY_INVALIDATED);
                if (region.invalidation() == null) {
                    region.invalidated();
                }
                return RemoteInvalidation.OWN;
            }
        }
        journal.count(ClientCounter.FOREIGN_INVALIDATIONS);
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
        cancelWait(list);
        invalidations.shut(list, fence, false);
    }

    /**
     * Shuts the list's memory for a call without a reply that is given up. As {@link #invalidate}, but where work requests cannot do
     * it, the recovery worker deregisters rather than leave it to the end of the connection.
     *
     * @throws IllegalStateException if the list is being fenced already
     */
    public void giveUp(RegionList list, Fence fence) {
        cancelWait(list);
        invalidations.shut(list, fence, true);
    }

    private @Nullable Region ofUse(long workId) {
        Region region = pool.find(WorkIds.index(workId));
        return region != null && region.isOfGeneration(workId) ? region : null;
    }

    /** A registration has ended: as a rule one that failed, since success is not reported. */
    public void onRegisterCompletion(WorkCompletion completion) {
        monitor.requireHeld();
        Region region = ofUse(completion.id());
        if (region != null && !completion.isSuccess()) {
            region.failed();
        }
        if (region != null && pad != null) {
            pad.onCompletion(region, completion);
        }
        onEveryCompletion(completion, region);
    }

    /** An invalidation has ended. */
    public void onInvalidateCompletion(WorkCompletion completion) {
        monitor.requireHeld();
        Region region = ofUse(completion.id());
        if (region != null) {
            invalidations.onCompletion(region, completion);
        }
        onEveryCompletion(completion, region);
    }

    private void onEveryCompletion(WorkCompletion completion, @Nullable Region region) {
        if (!completion.isSuccess()) {
            WorkCompletion.Status status = completion.status();
            if (status != WorkCompletion.Status.FLUSHED && !failureLogged) {
                // The first one ends the connection; what follows from it says nothing new.
                failureLogged = true;
                String whose = region == null ? "a region that is gone" : region.toString();
                LOG.log(Level.WARNING, "{0}: work request of {1} failed: {2}", journal, whose, status);
            }
            link.fail(DisconnectCause.WORK_REQUEST_FAILED, "work request failed: " + status.description());
        }
        invalidations.postStalled();
    }

    /** Posts what found the send queue full. To be called at each completion of the send queue that is not handled here. */
    public void postStalled() {
        monitor.requireHeld();
        invalidations.postStalled();
    }

    private void onReplaced(Region region, DeviceRegions.Replacement replacement) {
        if (!released) {
            invalidations.onReplaced(region, replacement);
        }
    }

    /**
     * Registers four bytes for the whole life of the connection, which can stand behind a Write chunk whose length is no multiple of
     * four. RFC 8166, Section 3.4.6.2 asks Requesters not to offer such space, so this is for peers that insist.
     *
     * @param listener told once; a connection that was to have the pad cannot be used without it
     */
    public WritePad registerWritePad(WritePad.Listener listener) {
        monitor.requireHeld();
        if (pad != null) {
            throw new IllegalStateException("there is one already: " + pad);
        }
        pad = new WritePad(this, link, listener);
        pad.register();
        return pad;
    }

    /**
     * The connection is ending: nothing is posted, created or mapped from now on. To be called first thing when it is known. Lists that
     * are being fenced are told by completions that still come, or at the end.
     */
    public void connectionEnding() {
        monitor.requireHeld();
        if (!ending) {
            ending = true;
            pool.end();
            invalidations.end();
            if (pad != null) {
                pad.connectionEnding();
            }
        }
    }

    /**
     * The queue pair is closed, so all memory is shut. Once the monitor is left, on the leaving thread, every region is deregistered;
     * then, inside the monitor, each fence that still waits is told, all lists are empty, and {@code whenGone} runs.
     */
    public void releaseAll(Runnable whenGone) {
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
        journal.count(
                ClientCounter.REGIONS_RECLAIMED,
                count(
                        pool.regions(),
                        region -> region.custody() == Custody.REGISTERED && region.state() != RegionState.INVALID));
        pool.allGone();
        for (int i = 0; i < lists.size(); i++) {
            RegionList list = lists.get(i);
            list.clear();
            Fence fence = list.takeFence();
            if (fence != null) {
                journal.count(ClientCounter.FENCES_BY_DISCONNECT);
                fence.connectionLost();
            }
        }
        whenGone.run();
    }

    /** Sets how many regions are in whose custody. */
    public Gauges fill(Gauges gauges) {
        monitor.requireHeld();
        List<Region> regions = pool.regions();
        return gauges.set(Gauge.REGIONS_FREE, count(regions, region -> region.custody() == Custody.FREE))
                .set(Gauge.REGIONS_MAPPING, count(regions, region -> region.custody() == Custody.MAPPING))
                .set(Gauge.REGIONS_REGISTERED, count(regions, Registrar::isOpen))
                .set(
                        Gauge.REGIONS_INVALIDATING,
                        count(regions, region -> region.custody() == Custody.REGISTERED && !isOpen(region)))
                .set(Gauge.REGIONS_IN_RECOVERY, count(regions, region -> region.custody() == Custody.RECOVERY));
    }

    private static boolean isOpen(Region region) {
        return region.custody() == Custody.REGISTERED && region.invalidation() == null;
    }

    private static long count(List<Region> regions, Predicate<Region> which) {
        return regions.stream().filter(which).count();
    }

    @Override
    public String toString() {
        return "registrar of " + journal + (released ? ", released" : ending ? ", ending" : "") + ", " + invalidations
                + ", " + pool;
    }
}
