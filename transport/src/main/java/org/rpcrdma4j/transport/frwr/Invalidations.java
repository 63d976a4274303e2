// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import org.rpcrdma4j.transport.connection.DisconnectCause;
import org.rpcrdma4j.transport.connection.WorkIds;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.event.RegionTransition;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.WorkCompletion;

/**
 * Shuts memory to the peer, and tells each {@link Fence} once when that is so. Four ways, in this order of preference: the peer has
 * done it; a work request does it; the recovery worker deregisters; the end of the connection does it. Used inside the monitor, by the
 * {@link Registrar} only.
 */
final class Invalidations {

    private static final System.Logger LOG = System.getLogger(Invalidations.class.getName());

    private final RegionPool pool;
    private final RegionLink link;
    private final RegionJournal journal;
    private final Recovery recovery;
    private final RegionMapper mapper;
    private final ArrayDeque<InvalidationChain> spareChains = new ArrayDeque<>();
    private final ArrayDeque<InvalidationChain> stalledChains = new ArrayDeque<>();
    private boolean ending;
    private long completions;

    Invalidations(RegionPool pool, RegionLink link, Recovery recovery, RegionMapper mapper) {
        this.pool = pool;
        this.link = link;
        this.journal = pool.journal();
        this.recovery = recovery;
        this.mapper = mapper;
    }

    /** Shuts all memory of the list. If it is urgent, what work requests cannot shut is not left to the end of the connection. */
    void shut(RegionList list, Fence fence, boolean urgent) {
        list.beginFencing(fence, urgent);
        InvalidationChain chain = null;
        for (int i = list.size() - 1; i >= 0; i--) {
            Region region = list.region(i);
            if (region.state() == RegionState.INVALID) {
                mapper.free(region);
            } else if (region.state() == RegionState.VALID && !ending) {
                chain = chain == null ? newChain() : chain;
                chain.add(region);
                journal.posted(region, RegionTransition.INVALIDATING, WorkIds.Kind.INVALIDATE);
            } else {
                shutWithoutWorkRequest(region);
            }
        }
        if (chain != null) {
            journal.count(ClientCounter.LOCAL_INVALIDATIONS, chain.size());
            handOver(chain);
        }
        settle(list);
    }

    private void handOver(InvalidationChain chain) {
        chain.handedOver(completions);
        link.post(chain);
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

    private void shutWithoutWorkRequest(Region region) {
        region.leaveInvalidation();
        if (region.custody() != Custody.REGISTERED) {
            return;
        }
        if (region.requireOwner().isUrgent()) {
            recover(region);
        } else {
            region.failed();
            link.fail(DisconnectCause.FENCE, "cannot be invalidated: " + region);
        }
    }

    private void recover(Region region) {
        recovery.add(region);
        journal.changed(region, RegionTransition.RECOVERING);
    }

    /** Tells the list's fence if nothing is left to be shut. */
    void settle(RegionList list) {
        if (list.isEmpty()) {
            Fence fence = list.takeFence();
            if (fence != null) {
                fence.fenced();
            }
        }
    }

    /** The registration was not posted, but an invalidation was handed over since: takes that back. */
    void withdraw(Region region) {
        InvalidationChain chain = region.invalidation();
        if (chain != null) {
            // The outbox posts in order and is still with the refused chain, so the invalidation was not posted yet.
            chain.withdraw(region);
            RegionList list = region.requireOwner();
            mapper.free(region);
            settle(list);
        }
    }

    /** An invalidation of this region's present use has ended. */
    void onCompletion(Region region, WorkCompletion completion) {
        InvalidationChain chain = region.invalidation();
        if (chain == null) {
            return;
        }
        region.leaveInvalidation();
        if (chain.completed()) {
            spareChains.add(chain);
        }
        RegionList list = region.requireOwner();
        if (completion.isSuccess()) {
            region.invalidated();
            journal.changed(region, RegionTransition.INVALIDATED);
            mapper.free(region);
        } else {
            region.failed();
            shutWithoutWorkRequest(region);
        }
        settle(list);
    }

    /**
     * The send queue took only the first of a chain. Those have their completions; for the others there is another way. (If recovery
     * deregisters one whose registration was not executed yet, that will fail, which ends the connection.)
     */
    void onRefused(InvalidationChain chain, PostResult.Refused refused) {
        chain.keepFrom(refused.firstBad());
        journal.count(ClientCounter.POST_ERRORS);
        LOG.log(Level.DEBUG, "{0} invalidations refused: {1}", chain.size(), refused);
        if (!ending && refused.reason() == PostResult.Reason.QUEUE_FULL) {
            // Places come free with completions, and none is lost: the connection is well.
            stalledChains.add(chain);
            if (chain.handedOverAt() != completions) {
                // The post was outside the monitor: the completion to wait for may be among those that have come since.
                handOverStalled();
            }
            return;
        }
        boolean wellConnected = !ending && refused.reason() != PostResult.Reason.WRONG_STATE;
        for (int i = 0; i < chain.size(); i++) {
            Region region = chain.region(i);
            if (region.invalidation() != chain) {
                continue;
            }
            if (wellConnected) {
                recover(region);
            } else {
                shutWithoutWorkRequest(region);
            }
        }
    }

    /** A place of the send queue may be free: posts what found it full. */
    void postStalled() {
        completions++;
        handOverStalled();
    }

    private void handOverStalled() {
        while (!ending && !stalledChains.isEmpty()) {
            handOver(stalledChains.remove());
        }
    }

    void onReplaced(Region region, DeviceRegions.Replacement replacement) {
        RegionList list = region.requireOwner();
        if (!replacement.shut()) {
            // It stays with its list, whose fence is told when the queue pair is closed.
            region.orphaned();
            journal.changed(region, RegionTransition.ORPHANED);
            link.fail(DisconnectCause.FENCE, "cannot be deregistered: " + region);
            return;
        }
        list.remove(region);
        if (replacement.fresh() == null) {
            pool.forget(region);
            journal.changed(region, RegionTransition.GONE);
        } else {
            region.renew(replacement.fresh());
            journal.count(ClientCounter.REGIONS_RECOVERED);
            pool.put(region);
        }
        settle(list);
    }

    /** Nothing is posted any more. */
    void end() {
        ending = true;
        InvalidationChain chain;
        while ((chain = stalledChains.poll()) != null) {
            for (int i = 0; i < chain.size(); i++) {
                shutWithoutWorkRequest(chain.region(i));
            }
        }
    }

    @Override
    public String toString() {
        return stalledChains.size() + " chains stalled, " + spareChains.size() + " spare" + (ending ? ", ending" : "");
    }
}
