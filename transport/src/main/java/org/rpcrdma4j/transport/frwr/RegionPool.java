// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.connection.Monitor;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.event.ConnectionLabel;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.time.TimeSource;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.ProtectionDomain;

/**
 * All regions of one connection, and a row of the free ones: taken at the head, given back at the tail, so that the 8 bits of a key
 * come round as late as possible.
 *
 * <p>Regions are created on the worker, in batches, when they are missed. Whoever missed one waits in a row and is woken once, in
 * turn, as soon as there are as many as his next attempt needs; nobody who comes later gets a region before him. If the device is
 * short of regions, creation is tried again after a while, for as long as somebody waits.
 *
 * <p>Touched inside the monitor only, but for the tasks of the worker.
 */
public final class RegionPool {

    /**
     * What a pool does about a want of regions.
     *
     * @param pagesPerRegion longest page list of each
     * @param maxRegions most regions
     * @param batch most that are created by one task
     * @param retryNanos delay after a creation that the device refused; doubled each time up to {@code maxRetryNanos}
     * @param maxRetryNanos longest delay
     */
    public record Options(int pagesPerRegion, int maxRegions, int batch, long retryNanos, long maxRetryNanos) {

        private static final int DEFAULT_BATCH = 32;
        private static final long DEFAULT_RETRY_NANOS = 10_000_000;
        private static final long DEFAULT_MAX_RETRY_NANOS = 1_000_000_000;

        public Options {
            if (pagesPerRegion < 1 || maxRegions < 1 || batch < 1 || retryNanos < 1 || maxRetryNanos < retryNanos) {
                throw new IllegalArgumentException("pages " + pagesPerRegion + ", regions " + maxRegions + ", batch "
                        + batch + ", retry " + retryNanos + ".." + maxRetryNanos + " ns");
            }
        }

        /** As a plan needs them. */
        public static Options of(SendQueuePlan.Supported plan) {
            return new Options(
                    plan.pagesPerRegion(),
                    plan.maxRegions(),
                    DEFAULT_BATCH,
                    DEFAULT_RETRY_NANOS,
                    DEFAULT_MAX_RETRY_NANOS);
        }
    }

    /** Of more regions the text tells only how many there are: it stands in the error of each call that was not sent in time. */
    private static final int MOST_NAMED = 32;

    private final Monitor monitor;
    private final Executor worker;
    private final TimeSource time;
    private final Options options;
    private final RegionJournal journal;
    private final DeviceRegions deviceRegions;
    private final ArrayDeque<Region> free = new ArrayDeque<>();
    private final ArrayList<@Nullable Region> all = new ArrayList<>();
    /** Indexes of regions that are gone. */
    private final ArrayDeque<Integer> gone = new ArrayDeque<>();

    private final ArrayDeque<RegionList> waiters = new ArrayDeque<>();
    private int existing;
    private int creating;
    private boolean serving;
    private boolean serviceDue;
    private boolean ended;
    private long retryDelay;
    private TimeSource.@Nullable Timer retryTimer;

    /** A pool without regions; the first ones are created when they are missed, or by {@link #grow}. */
    public RegionPool(
            ProtectionDomain domain,
            Monitor monitor,
            Executor worker,
            TimeSource time,
            Options options,
            Counters<ClientCounter> counters,
            ConnectionLabel label) {
        this.monitor = monitor;
        this.worker = worker;
        this.time = time;
        this.options = options;
        journal = new RegionJournal(counters, label);
        deviceRegions = new DeviceRegions(domain, options.pagesPerRegion(), journal);
        retryDelay = options.retryNanos();
    }

    /** Regions that exist, in whosever custody. */
    public int existing() {
        return existing;
    }

    /** Regions in the row of free ones. */
    public int available() {
        return free.size();
    }

    /** How many wait for regions. */
    public int waiting() {
        return waiters.size();
    }

    Executor worker() {
        return worker;
    }

    RegionJournal journal() {
        return journal;
    }

    DeviceRegions deviceRegions() {
        return deviceRegions;
    }

    int maxRegions() {
        return options.maxRegions();
    }

    boolean hasWaiters() {
        return !waiters.isEmpty();
    }

    /** Every region that exists. */
    List<Region> regions() {
        List<Region> found = new ArrayList<>(existing);
        for (Region region : all) {
            if (region != null) {
                found.add(region);
            }
        }
        return found;
    }

    /** The region of the given index; null if there is none. */
    @Nullable
    Region find(int index) {
        return index >= 0 && index < all.size() ? all.get(index) : null;
    }

    /** The free region that has rested longest; null if there is none, or if others wait for it. */
    @Nullable
    Region take() {
        return serving || waiters.isEmpty() ? free.poll() : null;
    }

    void put(Region region) {
        region.requireFree();
        free.add(region);
        serveSoon();
    }

    /** A region was given back to the device. */
    void forget(Region region) {
        region.gone();
        all.set(region.index(), null);
        gone.push(region.index());
        existing--;
        if (hasWaiters()) {
            grow();
        }
    }

    /** Puts the list into the row; it is woken when so many regions are free. One that was just woken keeps its turn. */
    void await(RegionList list, int regions) {
        list.await(regions);
        if (serving) {
            waiters.addFirst(list);
        } else {
            waiters.add(list);
        }
        grow();
        serveSoon();
    }

    /** Takes the list out of the row. */
    void cancelWait(RegionList list) {
        if (list.isWaiting()) {
            list.endWait();
            waiters.remove(list);
            serveSoon();
        }
    }

    /** Has the next batch created, unless one is under way or there are as many as there may be. */
    public void grow() {
        monitor.requireHeld();
        int count = Math.min(options.batch(), options.maxRegions() - existing);
        if (count > 0 && creating == 0 && !ended && retryTimer == null) {
            creating = count;
            monitor.afterwards(this::startCreation);
        }
    }

    private void startCreation() {
        try {
            worker.execute(this::create);
        } catch (RejectedExecutionException e) {
            monitor.run(() -> created(List.of()));
        }
    }

    /** On the worker. */
    private void create() {
        List<FastRegion> created = deviceRegions.create(creating);
        monitor.run(() -> created(created));
    }

    private void created(List<FastRegion> created) {
        boolean complete = created.size() == creating;
        creating = 0;
        if (ended) {
            // The connection's end has deregistered these with all others, or is about to.
            return;
        }
        for (FastRegion fast : created) {
            free.add(admit(fast));
        }
        journal.count(ClientCounter.REGIONS_ALLOCATED, created.size());
        if (complete) {
            retryDelay = options.retryNanos();
            growForFirst();
        } else {
            retryLater();
        }
        serveSoon();
    }

    private void growForFirst() {
        RegionList first = waiters.peek();
        if (first != null && first.wanted() > free.size()) {
            grow();
        }
    }

    private Region admit(FastRegion fast) {
        existing++;
        Integer left = gone.poll();
        if (left == null) {
            Region region = new Region(all.size(), fast);
            all.add(region);
            return region;
        }
        Region region = new Region(left, fast);
        all.set(left, region);
        return region;
    }

    /** Regions may have become free elsewhere on the device; nobody would tell us. */
    private void retryLater() {
        if (waiters.isEmpty()) {
            return;
        }
        retryTimer = time.schedule(
                retryDelay,
                () -> monitor.run(() -> {
                    retryTimer = null;
                    growForFirst();
                }));
        retryDelay = Math.min(2 * retryDelay, options.maxRetryNanos());
    }

    /** Woken lists act in a turn of their own, not in the midst of what made regions free. */
    private void serveSoon() {
        if (!serviceDue && !waiters.isEmpty() && !ended) {
            serviceDue = true;
            monitor.afterwards(() -> monitor.run(this::serve));
        }
    }

    private void serve() {
        serviceDue = false;
        RegionList first = waiters.peek();
        while (first != null && first.wanted() <= free.size()) {
            waiters.remove();
            first.endWait();
            serving = true;
            try {
                first.wake();
            } finally {
                serving = false;
            }
            first = waiters.peek();
        }
        growForFirst();
    }

    /** The connection is ending: nobody is woken and nothing is created any more. */
    void end() {
        ended = true;
        deviceRegions.stopCreating();
        waiters.forEach(RegionList::endWait);
        waiters.clear();
        if (retryTimer != null) {
            retryTimer.cancel();
            retryTimer = null;
        }
    }

    /** All regions were given back to the device. */
    void allGone() {
        free.clear();
        for (Region region : all) {
            if (region != null) {
                region.gone();
            }
        }
        all.clear();
        gone.clear();
        existing = 0;
    }

    @Override
    public String toString() {
        return existing + " regions of at most " + options.maxRegions() + ", " + free.size() + " free, " + creating
                + " being created, " + waiters.size() + " waiting" + (ended ? ", ended" : "") + inUse();
    }

    private String inUse() {
        if (all.size() > MOST_NAMED) {
            return "";
        }
        return ", in use "
                + all.stream()
                        .filter(region -> region != null && region.custody() != Custody.FREE)
                        .toList();
    }
}
