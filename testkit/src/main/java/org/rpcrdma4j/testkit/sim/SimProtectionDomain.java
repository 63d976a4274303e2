// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.ProtectionDomain;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.QueuePairOptions;

/** A protection domain: what it owns. */
final class SimProtectionDomain implements ProtectionDomain {

    private final SimulatedDevice device;
    private final List<SimRegion> regions = new ArrayList<>();
    private final List<SimQueuePair> queuePairs = new ArrayList<>();
    private boolean isClosed;

    SimProtectionDomain(SimulatedDevice device) {
        this.device = device;
    }

    @Override
    public SimulatedDevice device() {
        return device;
    }

    @Override
    public MemoryRegion register(MemorySegment memory, Access access) {
        requireOpen();
        Pieces.check(memory, access);
        int key = newRegionKey(FaultPlan.Resource.REGION);
        return add(new SimPlainRegion(this, key >>> 8, key, memory, access));
    }

    @Override
    public FastRegion allocateFastRegion(int maxPages) {
        requireOpen();
        if (!device.attributes().memoryManagementExtensions()) {
            throw new IllegalStateException("the device has no fast registration");
        }
        int limit = device.attributes().maxFastRegistrationPages();
        if (maxPages < 1 || maxPages > limit) {
            throw new IllegalArgumentException("maxPages " + maxPages + " must lie in 1.." + limit);
        }
        int key = newRegionKey(FaultPlan.Resource.FAST_REGION);
        return add(new SimFastRegion(this, key >>> 8, key, maxPages));
    }

    private int newRegionKey(FaultPlan.Resource resource) {
        int limit = device.attributes().maxRegions();
        if (device.ledger().regions() >= limit || device.options().faults().refuses(resource)) {
            throw new IllegalStateException("no more regions: there are "
                    + device.ledger().regions() + " of " + limit + ", or a fault was injected");
        }
        return device.regions().newKey(device.network().random());
    }

    private <T extends SimRegion> T add(T region) {
        regions.add(region);
        device.regions().add(region);
        return region;
    }

    void remove(SimRegion region) {
        regions.remove(region);
        device.regions().remove(region);
    }

    @Override
    public QueuePair createQueuePair(QueuePairOptions options) {
        requireOpen();
        SimQueuePair queuePair = device.createQueuePair(this, options);
        queuePairs.add(queuePair);
        return queuePair;
    }

    void remove(SimQueuePair queuePair) {
        queuePairs.remove(queuePair);
    }

    /** The fast region with the given index in its key; null if there is none. */
    @Nullable
    SimFastRegion fastRegion(int key) {
        return device.regions().find(key) instanceof SimFastRegion found ? found : null;
    }

    private void requireOpen() {
        if (isClosed) {
            throw new IllegalStateException("the protection domain is closed");
        }
    }

    /** Closes all that lives in it, then itself. */
    void closeWithContents() {
        List.copyOf(queuePairs).forEach(SimQueuePair::close);
        List.copyOf(regions).forEach(SimRegion::deregister);
        close();
    }

    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        if (!regions.isEmpty() || !queuePairs.isEmpty()) {
            throw new IllegalStateException("the protection domain still has " + regions.size() + " regions and "
                    + queuePairs.size() + " queue pairs");
        }
        isClosed = true;
        device.remove(this);
    }
}
