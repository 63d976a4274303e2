// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mem;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.ProtectionDomain;

/**
 * A fast-registration region: its index lives as long as it does, its key, memory and rights change with each registration.
 *
 * <p><b>States and owners.</b> While INVALID the region's owner maps and unmaps. A registration takes it from the owner when it is
 * posted ({@link #claim}), opens it when it is executed ({@link #open}), and it is the owner's again once {@link #invalidate} has
 * returned. map, unmap, claim and open exclude each other by the region's monitor; invalidation by the peer and close may come at any
 * time. Nobody waits for accesses with the monitor held, since whoever is in may need it before he leaves.
 */
public final class SoftFastRegion extends Region implements FastRegion {
    private final int maxPages;
    private final int pageBytes;
    private final int index;
    private int nextKey;
    private final AtomicInteger claims = new AtomicInteger();
    private boolean closed;

    private SoftFastRegion(Domain domain, StagTable table, Leases leases, int stag, int maxPages, int pageBytes) {
        super(domain, table, leases, stag);
        this.maxPages = maxPages;
        this.pageBytes = pageBytes;
        this.index = stag & StagTable.INDEX_MASK;
        this.nextKey = stag;
    }

    /**
     * Makes a region without memory.
     *
     * @throws IllegalStateException if the table is full
     */
    public static SoftFastRegion allocate(Domain domain, StagTable table, Leases leases, int maxPages, int pageBytes) {
        int stag = table.allocate();
        SoftFastRegion region = new SoftFastRegion(domain, table, leases, stag, maxPages, pageBytes);
        leases.regionMade();
        table.put(stag, region);
        return region;
    }

    @Override
    public State state() {
        return isInUse() ? State.VALID : State.INVALID;
    }

    @Override
    public int maxPages() {
        return maxPages;
    }

    @Override
    public synchronized int map(List<MemorySegment> pieces, long remoteAddress) {
        requireOwned("map");
        if (pieceCount() > 0) {
            throw new IllegalStateException("region " + this + " is mapped already");
        }
        if (pieces.isEmpty()) {
            throw new IllegalArgumentException("no pieces to map");
        }
        long pages = 0;
        int taken = 0;
        for (; taken < pieces.size(); taken++) {
            MemorySegment piece = pieces.get(taken);
            requireRegistrable(piece);
            pages += pagesOf(piece);
            if (pages > maxPages) {
                break;
            }
        }
        if (taken == 0) {
            throw new IllegalArgumentException(
                    "the first piece has " + pages + " pages, the region takes at most " + maxPages);
        }
        for (int i = 0; i < taken; i++) {
            addPiece(pieces.get(i));
        }
        rebase(remoteAddress);
        return taken;
    }

    private long pagesOf(MemorySegment piece) {
        long first = Math.floorDiv(piece.address(), (long) pageBytes);
        long last = Math.floorDiv(piece.address() + piece.byteSize() - 1, (long) pageBytes);
        return last - first + 1;
    }

    @Override
    public synchronized void unmap() {
        if (pieceCount() == 0) {
            return;
        }
        requireOwned("unmap");
        dropPieces();
    }

    private void requireOwned(String what) {
        if (closed) {
            throw new IllegalStateException(what + ": region " + this + " is closed");
        }
        if (claims.get() > 0 || isInUse()) {
            throw new IllegalStateException(what + ": region " + this + " is valid or being registered");
        }
    }

    @Override
    public synchronized int advanceKey() {
        nextKey = index | (nextKey + 1 & StagTable.KEY_MASK);
        return nextKey;
    }

    /** A registration was posted: the owner's hands are off until it was executed or dropped. */
    public void claim() {
        claims.incrementAndGet();
    }

    /** The posted registration was dropped, not executed. */
    public void unclaim() {
        claims.decrementAndGet();
    }

    /**
     * Executes a posted registration.
     *
     * @param queuePair the queue pair that may use it, or {@link Region#DOMAIN_WIDE}
     * @return null if done; else why it cannot be: the work request fails
     */
    public synchronized @Nullable String open(int stag, Access access, ProtectionDomain caller, int queuePair) {
        claims.decrementAndGet();
        String fault = faultOf(stag, access, caller);
        if (fault == null) {
            describe(remoteAddress(), access, queuePair);
            open(stag);
        }
        return fault;
    }

    private @Nullable String faultOf(int stag, Access access, ProtectionDomain caller) {
        if (closed) {
            return "region is closed";
        }
        if (!caller.equals(domain)) {
            return "region belongs to another protection domain";
        }
        if ((stag & StagTable.INDEX_MASK) != index) {
            return "key 0x%08x does not have the region's index 0x%08x".formatted(stag, index);
        }
        // Also while an access is still in: it may be that of the caller, who must not wait for himself.
        if (isInUse()) {
            return "region is valid already";
        }
        if (pieceCount() == 0) {
            return "region has no memory mapped";
        }
        for (int i = 0; access.isWritable() && i < pieceCount(); i++) {
            if (piece(i).isReadOnly()) {
                return "read-only memory cannot be registered for " + access;
            }
        }
        return null;
    }

    /**
     * Invalidates the registration with this STag, for the local side. When this returns without a fault, no access runs.
     *
     * @return null if it is invalid now, also if it was so under this very STag; else why not
     */
    public @Nullable String invalidate(int stag, ProtectionDomain caller) {
        if (!caller.equals(domain)) {
            return "key 0x%08x belongs to another protection domain".formatted(stag);
        }
        if (!shut(stag)) {
            if (stag() != stag) {
                return "key 0x%08x is not that of the region's registration, 0x%08x".formatted(stag, stag());
            }
            awaitEmpty();
        }
        return null;
    }

    /** Why a peer's queue pair may not invalidate this STag; {@link AccessFault#NONE} if it was invalidated, or was so before. */
    public AccessFault invalidateByPeer(int stag, ProtectionDomain caller, int queuePair) {
        if (!enter(stag)) {
            // The local side was first, if this was the last registration's STag, and one of this stream.
            boolean wasOurs = stag() == stag && caller.equals(domain) && scope() == queuePair;
            awaitEmpty();
            return wasOurs ? AccessFault.NONE : AccessFault.INVALID_STAG;
        }
        AccessFault fault = faultOfPeer(caller, queuePair);
        leave();
        if (fault == AccessFault.NONE) {
            shut(stag);
        }
        return fault;
    }

    private AccessFault faultOfPeer(ProtectionDomain caller, int queuePair) {
        // RFC 5040, Section 8.1.1: a peer must not invalidate what several streams share.
        if (!caller.equals(domain) || scope() != queuePair) {
            return AccessFault.OTHER_STREAM;
        }
        return access().isRemote() ? AccessFault.NONE : AccessFault.NO_RIGHT;
    }

    @Override
    public void close() {
        boolean first;
        synchronized (this) {
            first = !closed;
            closed = true;
        }
        // From here on nobody opens it.
        int stag = stag();
        shut(stag);
        awaitEmpty();
        if (first) {
            giveBack(stag);
        } else {
            awaitGivenBack();
        }
    }

    @Override
    public String toString() {
        return "0x%08x %s".formatted(stag(), state());
    }
}
