// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.device;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.mem.Leases;
import org.rpcrdma4j.iwarp.mem.StagTable;
import org.rpcrdma4j.iwarp.net.Counter;
import org.rpcrdma4j.iwarp.net.Counters;
import org.rpcrdma4j.iwarp.net.EventLoopGroup;
import org.rpcrdma4j.iwarp.net.WireLog;
import org.rpcrdma4j.iwarp.rdmap.CopyBuffers;
import org.rpcrdma4j.verbs.CompletionHandler;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.DeviceAttributes;
import org.rpcrdma4j.verbs.MappingLedger;
import org.rpcrdma4j.verbs.ProtectionDomain;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.cm.ConnectionManager;

/**
 * The software iWARP device: the manager of its scarce resources (RFC 5041, Section 8.3), which are I/O threads, STags, queue pairs.
 *
 * <p>Safe for all threads. Everything that lives on it is known here, so that {@link #close} can end it.
 */
public final class SoftIwarpDevice implements RdmaDevice {
    static final Logger LOG = System.getLogger("org.rpcrdma4j.iwarp");

    private static final int MAX_WORK_REQUESTS = 32_768;
    private static final int MAX_SGES = 32;
    private static final int MAX_COMPLETIONS = 1 << 22;
    private static final int MAX_FAST_PAGES = 65_536;
    static final int PAGE_BYTES = 4096;

    /** RFC 5044 allows 512; Linux siw and some cards take 256 and count in 8 bits, so less than 200 suits all. */
    private static final int MAX_PRIVATE_DATA_BYTES = 196;

    private final IwarpSettings settings;
    private final DeviceAttributes attributes;
    private final EventLoopGroup loops;
    private final Counters counters = new Counters();
    private final WireLog wireLog = new WireLog(counters);
    private final Leases leases = new Leases();
    private final CopyBuffers copyBuffers = new CopyBuffers();
    private final StagTable regions;
    private final SoftConnectionManager connections = new SoftConnectionManager(this);
    private final Set<SoftQueuePair> queuePairs = ConcurrentHashMap.newKeySet();
    private final Set<SoftProtectionDomain> domains = ConcurrentHashMap.newKeySet();
    private final AtomicInteger nextQueuePair = new AtomicInteger(1);
    private volatile boolean closed;

    /** Opens a device; its I/O threads run from now on. */
    public SoftIwarpDevice(IwarpSettings settings) {
        this.settings = settings;
        this.attributes = new DeviceAttributes(
                settings.maxQueuePairs(),
                MAX_WORK_REQUESTS,
                MAX_SGES,
                1,
                MAX_COMPLETIONS,
                settings.maxRegions(),
                true,
                MAX_FAST_PAGES,
                PAGE_BYTES,
                true,
                true,
                settings.maxInboundReads(),
                settings.maxInboundReads(),
                false,
                0xFFFF_FFFFL,
                MAX_PRIVATE_DATA_BYTES);
        this.regions = new StagTable(unpredictable(), settings.maxRegions());
        this.loops = new EventLoopGroup(
                settings.name() + "-io", settings.threads(), settings.stagingBytes(), settings.busyPoll());
        loops.loops().forEach(loop -> loop.onError(e -> counters.increment(Counter.TASK_ERRORS)));
    }

    /** RFC 5040, Section 8.1.1: STags are hard to predict. Drawn in bulk, since each call of the source is dear. */
    private static IntSupplier unpredictable() {
        SecureRandom source = new SecureRandom();
        int[] drawn = new int[256];
        int[] left = {0};
        return () -> {
            if (left[0] == 0) {
                for (int i = 0; i < drawn.length; i++) {
                    drawn[i] = source.nextInt();
                }
                left[0] = drawn.length;
            }
            left[0]--;
            return drawn[left[0]];
        };
    }

    IwarpSettings settings() {
        return settings;
    }

    EventLoopGroup loops() {
        return loops;
    }

    Counters events() {
        return counters;
    }

    WireLog wireLog() {
        return wireLog;
    }

    Leases leases() {
        return leases;
    }

    CopyBuffers copyBuffers() {
        return copyBuffers;
    }

    StagTable regions() {
        return regions;
    }

    int nextQueuePairNumber() {
        return nextQueuePair.getAndUpdate(n -> n == Integer.MAX_VALUE ? 1 : n + 1);
    }

    void add(SoftQueuePair queuePair) {
        synchronized (queuePairs) {
            requireOpen();
            if (queuePairs.size() >= settings.maxQueuePairs()) {
                throw new IllegalStateException(
                        "no more than " + settings.maxQueuePairs() + " queue pairs on this device");
            }
            queuePairs.add(queuePair);
        }
    }

    void remove(SoftQueuePair queuePair) {
        queuePairs.remove(queuePair);
    }

    void remove(SoftProtectionDomain domain) {
        domains.remove(domain);
    }

    int liveQueuePairs() {
        return queuePairs.size();
    }

    int liveDomains() {
        return domains.size();
    }

    void requireOpen() {
        if (closed) {
            throw new IllegalStateException("device " + name() + " is closed");
        }
    }

    @Override
    public String name() {
        return settings.name();
    }

    @Override
    public DeviceAttributes attributes() {
        return attributes;
    }

    @Override
    public ProtectionDomain allocateProtectionDomain() {
        requireOpen();
        SoftProtectionDomain domain = new SoftProtectionDomain(this);
        domains.add(domain);
        return domain;
    }

    @Override
    public CompletionQueue createCompletionQueue(int capacity, @Nullable CompletionHandler handler) {
        requireOpen();
        if (capacity < 1 || capacity > MAX_COMPLETIONS) {
            throw new IllegalArgumentException("capacity " + capacity + ": must lie in 1.." + MAX_COMPLETIONS);
        }
        return new DeviceCompletionQueue(capacity, handler);
    }

    @Override
    public ConnectionManager connectionManager() {
        return connections;
    }

    @Override
    public MappingLedger ledger() {
        return leases.ledger();
    }

    @Override
    public SortedMap<String, Long> counters() {
        return counters.snapshot();
    }

    @Override
    public void close() {
        List<SoftQueuePair> left;
        synchronized (queuePairs) {
            if (closed) {
                return;
            }
            // ORDER: under the lock under which queue pairs are added: each is either refused or found here. Regions
            // and
            // endpoints look again after they were added.
            closed = true;
            left = new ArrayList<>(queuePairs);
        }
        try {
            connections.close();
            left.forEach(SoftQueuePair::close);
            regions.closeAll();
            domains.clear();
        } finally {
            loops.close();
        }
        LOG.log(Level.DEBUG, "{0} closed", name());
    }
}
