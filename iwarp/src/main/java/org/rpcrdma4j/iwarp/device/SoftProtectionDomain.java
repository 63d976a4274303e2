// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.device;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import org.rpcrdma4j.iwarp.mem.Domain;
import org.rpcrdma4j.iwarp.mem.PlainRegion;
import org.rpcrdma4j.iwarp.mem.SoftFastRegion;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.DeviceAttributes;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.QueuePairOptions;
import org.rpcrdma4j.verbs.RdmaDevice;

/** A protection domain: makes regions and queue pairs and counts them. Safe for all threads. */
final class SoftProtectionDomain implements Domain {
    private final SoftIwarpDevice device;
    private final AtomicInteger members = new AtomicInteger();
    private volatile boolean closed;

    SoftProtectionDomain(SoftIwarpDevice device) {
        this.device = device;
    }

    @Override
    public RdmaDevice device() {
        return device;
    }

    SoftIwarpDevice softDevice() {
        return device;
    }

    private void requireOpen() {
        device.requireOpen();
        if (closed) {
            throw new IllegalStateException("protection domain is closed");
        }
    }

    @Override
    public MemoryRegion register(MemorySegment memory, Access access) {
        requireOpen();
        PlainRegion region = PlainRegion.register(this, device.regions(), device.leases(), memory, access);
        members.incrementAndGet();
        requireStillOpen(region);
        return region;
    }

    @Override
    public FastRegion allocateFastRegion(int maxPages) {
        requireOpen();
        int most = device.attributes().maxFastRegistrationPages();
        if (maxPages < 1 || maxPages > most) {
            throw new IllegalArgumentException("maxPages " + maxPages + ": must lie in 1.." + most);
        }
        SoftFastRegion region = SoftFastRegion.allocate(
                this,
                device.regions(),
                device.leases(),
                maxPages,
                device.attributes().pageBytes());
        members.incrementAndGet();
        requireStillOpen(region);
        return region;
    }

    /** A device that was closed meanwhile may have overlooked the new region. */
    private void requireStillOpen(MemoryRegion region) {
        try {
            device.requireOpen();
        } catch (IllegalStateException e) {
            region.close();
            throw e;
        }
    }

    @Override
    public void regionGone() {
        members.decrementAndGet();
    }

    @Override
    public QueuePair createQueuePair(QueuePairOptions options) {
        requireOpen();
        DeviceAttributes most = device.attributes();
        requireDepth("sendDepth", options.sendDepth(), most.maxWorkRequests());
        requireDepth("receiveDepth", options.receiveDepth(), most.maxWorkRequests());
        requireDepth("maxSges", options.maxSges(), most.maxSges());
        SoftQueuePair queuePair = SoftQueuePair.create(this, options);
        members.incrementAndGet();
        return queuePair;
    }

    private static void requireDepth(String what, int value, int most) {
        if (value > most) {
            throw new IllegalArgumentException(what + " " + value + " is above the device's limit " + most);
        }
    }

    void queuePairGone() {
        members.decrementAndGet();
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        if (members.get() > 0) {
            throw new IllegalStateException(members.get() + " regions and queue pairs of the domain still exist");
        }
        closed = true;
        device.remove(this);
    }
}
