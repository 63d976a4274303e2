// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.DeviceAttributes;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.RegisterRequest;

/** A region whose memory is exchanged with each registration. */
final class SimFastRegion extends SimRegion implements FastRegion {

    private final int maxPages;

    /** The owner's latest key; becomes {@link #key} when the registration is executed. */
    private int nextKey;

    /** Registrations of this region that are posted and neither executed nor flushed. */
    int pendingRegistrations;

    SimFastRegion(SimProtectionDomain domain, int index, int key, int maxPages) {
        super(domain, index, key);
        this.maxPages = maxPages;
        nextKey = key;
    }

    @Override
    public int remoteKey() {
        return isValid ? key : nextKey;
    }

    @Override
    public State state() {
        return isValid ? State.VALID : State.INVALID;
    }

    @Override
    public int maxPages() {
        return maxPages;
    }

    @Override
    public int map(List<MemorySegment> wanted, long wish) {
        if (isClosed || isValid || pieces.count() > 0) {
            throw new IllegalStateException(
                    this + " cannot be mapped: it is " + (isClosed ? "closed" : isValid ? "VALID" : "mapped already"));
        }
        int count = runLength(wanted);
        for (MemorySegment piece : wanted.subList(0, count)) {
            Pieces.check(piece, Access.LOCAL_READ);
        }
        if (device.options().faults().refuses(FaultPlan.Resource.MAP)) {
            return 0;
        }
        Pieces taken = new Pieces(wanted.subList(0, count));
        if (device.attributes().remoteAddressIsFree()) {
            if (Long.compareUnsigned(wish + taken.length() - 1, wish) < 0) {
                throw new IllegalArgumentException(
                        "remote address " + Long.toHexString(wish) + " and " + taken.length() + " bytes wrap around");
            }
            remoteAddress = wish;
        } else {
            remoteAddress = device.freeAddress(taken.length());
        }
        pieces = taken;
        device.leased(pieces);
        return count;
    }

    /** How many pieces one page list and the hole rule allow. */
    private int runLength(List<MemorySegment> wanted) {
        if (wanted.isEmpty()) {
            throw new IllegalArgumentException("no pieces");
        }
        DeviceAttributes attributes = device.attributes();
        boolean merges = device.options().mergesAdjacentPieces();
        long pages = 0;
        long entryBegin = 0;
        long entryEnd = 0;
        for (int i = 0; i < wanted.size(); i++) {
            long begin = wanted.get(i).address();
            long end = begin + wanted.get(i).byteSize();
            if (i > 0 && !attributes.gapsAllowed() && breaksHoleRule(entryEnd, begin)) {
                return i;
            }
            if (i > 0 && merges && begin == entryEnd) {
                pages -= pagesOf(entryBegin, entryEnd);
            } else {
                entryBegin = begin;
            }
            entryEnd = end;
            pages += pagesOf(entryBegin, entryEnd);
            if (pages > maxPages) {
                if (i == 0) {
                    throw new IllegalArgumentException("the first piece takes " + pages + " pages of " + maxPages);
                }
                return i;
            }
        }
        return wanted.size();
    }

    private boolean breaksHoleRule(long formerEnd, long latterBegin) {
        int pageBytes = device.attributes().pageBytes();
        return latterBegin != formerEnd && (formerEnd % pageBytes != 0 || latterBegin % pageBytes != 0);
    }

    private long pagesOf(long begin, long end) {
        int pageBytes = device.attributes().pageBytes();
        return (end - 1) / pageBytes - begin / pageBytes + 1;
    }

    @Override
    public void unmap() {
        if (isValid || pendingRegistrations > 0) {
            device.network().violation(this + " was to be unmapped while it is open or about to be");
            throw new IllegalStateException(this + " is VALID, or a registration of it is outstanding");
        }
        if (pieces.count() > 0) {
            if (users > 0) {
                device.network().violation(this + " was unmapped while " + users + " outstanding entries name it");
            }
            endLease();
        }
    }

    @Override
    public int advanceKey() {
        nextKey = (nextKey & ~0xFF) | ((nextKey + 1) & 0xFF);
        return nextKey;
    }

    /** Executes a registration. Returns whether it was possible. */
    boolean register(SimQueuePair by, int newKey, Access rights, RegisterRequest.Scope newScope) {
        boolean possible = !isClosed
                && !isValid
                && domain == by.protectionDomain()
                && pieces.count() > 0
                && pieces.isAlive()
                && newKey >>> 8 == index
                && !(rights.isWritable() && pieces.isReadOnly());
        if (possible) {
            key = newKey;
            nextKey = newKey;
            access = rights;
            scope = newScope == RegisterRequest.Scope.QUEUE_PAIR ? by : null;
            isValid = true;
        }
        return possible;
    }

    /** Executes a local invalidation. Returns whether it was possible. */
    boolean invalidateLocally(SimQueuePair by, int namedKey) {
        boolean possible =
                !isClosed && domain == by.protectionDomain() && namedKey == key && (scope == null || scope == by);
        if (possible) {
            isValid = false;
        }
        return possible;
    }

    /** Executes an invalidation by the peer. A region of the whole domain is not the peer's to close (RFC 5040, Section 8.1.1). */
    boolean invalidateRemotely(SimQueuePair by, int namedKey) {
        boolean possible = !isClosed && namedKey == key && scope == by && access.isRemote();
        if (possible) {
            isValid = false;
        }
        return possible;
    }
}
