// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.ProtectionDomain;

/**
 * The device's regions of one connection: the only place that creates and deregisters. Both may take long, so they are done on the
 * worker, outside the monitor. A lock of its own keeps the worker's tasks and the connection's end apart: once {@link #closeAll} has
 * returned, no region exists and none can come into being.
 */
final class DeviceRegions {

    /** What became of a region that was to be replaced. */
    record Replacement(boolean shut, @Nullable FastRegion fresh) {}

    private static final System.Logger LOG = System.getLogger(DeviceRegions.class.getName());

    /** Regions that no device would take back. Kept for ever, so that their memory is never given to anything else. */
    private static final Set<FastRegion> NEVER_GIVEN_BACK = ConcurrentHashMap.newKeySet();

    private final ReentrantLock lock = new ReentrantLock();
    private final ProtectionDomain domain;
    private final int pagesPerRegion;
    private final RegionJournal journal;
    private final Set<FastRegion> existing = new LinkedHashSet<>();
    private final Set<FastRegion> orphans = new LinkedHashSet<>();
    private volatile boolean ending;

    DeviceRegions(ProtectionDomain domain, int pagesPerRegion, RegionJournal journal) {
        this.domain = domain;
        this.pagesPerRegion = pagesPerRegion;
        this.journal = journal;
    }

    /** From now on none is created. Waits for nobody. */
    void stopCreating() {
        ending = true;
    }

    /** Creates up to so many; fewer if the device refuses, none once the connection is ending. */
    List<FastRegion> create(int count) {
        List<FastRegion> created = new ArrayList<>(count);
        while (created.size() < count) {
            FastRegion region = createOne();
            if (region == null) {
                break;
            }
            created.add(region);
        }
        return created;
    }

    private @Nullable FastRegion createOne() {
        lock.lock();
        try {
            if (ending) {
                return null;
            }
            FastRegion region = domain.allocateFastRegion(pagesPerRegion);
            existing.add(region);
            return region;
        } catch (RuntimeException e) {
            journal.allocationFailed(existing.size(), String.valueOf(e.getMessage()));
            LOG.log(Level.DEBUG, "no region could be created", e);
            return null;
        } finally {
            lock.unlock();
        }
    }

    /** Deregisters, which shuts the memory to the peer, and creates another unless the connection is ending. */
    Replacement replace(FastRegion region) {
        // ORDER: shut before anything else; whether there is a new one is of no account to those who wait for the
        // fence.
        boolean shut = close(region);
        return new Replacement(shut, shut ? createOne() : null);
    }

    private boolean close(FastRegion region) {
        lock.lock();
        try {
            region.close();
            existing.remove(region);
            orphans.remove(region);
            return true;
        } catch (RuntimeException e) {
            if (orphans.add(region)) {
                journal.orphaned(String.valueOf(e.getMessage()));
                LOG.log(
                        Level.WARNING,
                        "{0}: a region could not be deregistered and is kept until the connection ends: {1}",
                        journal,
                        e.getMessage());
            }
            return false;
        } finally {
            lock.unlock();
        }
    }

    /** After the queue pair was closed: deregisters all. An orphan gets its second chance. */
    void closeAll() {
        stopCreating();
        lock.lock();
        try {
            for (FastRegion region : List.copyOf(existing)) {
                if (!close(region)) {
                    NEVER_GIVEN_BACK.add(region);
                }
            }
        } finally {
            lock.unlock();
        }
    }
}
