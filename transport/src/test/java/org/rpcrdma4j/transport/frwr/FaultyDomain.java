// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.rpcrdma4j.testkit.sim.FaultPlan.Resource;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.ProtectionDomain;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.QueuePairOptions;

/** A domain of a {@link FaultyDevice}, and its fast regions. Other regions are the device's own. */
record FaultyDomain(FaultyDevice device, ProtectionDomain onDevice) implements ProtectionDomain {

    @Override
    public MemoryRegion register(MemorySegment memory, Access access) {
        return onDevice.register(memory, access);
    }

    @Override
    public FastRegion allocateFastRegion(int maxPages) {
        if (device.plan().refuses(Resource.FAST_REGION)) {
            throw new IllegalStateException("injected fault");
        }
        return new FaultyRegion(this, onDevice.allocateFastRegion(maxPages));
    }

    @Override
    public QueuePair createQueuePair(QueuePairOptions options) {
        FaultyCompletions sends = (FaultyCompletions) options.sendCompletions();
        FaultyCompletions receives = (FaultyCompletions) options.receiveCompletions();
        return new FaultyQueuePair(
                this,
                sends,
                onDevice.createQueuePair(new QueuePairOptions(
                        sends.onDevice(),
                        receives.onDevice(),
                        options.sendDepth(),
                        options.receiveDepth(),
                        options.maxSges())));
    }

    @Override
    public void close() {
        onDevice.close();
    }

    /** A fast region that may refuse memory, or not be given back. */
    static final class FaultyRegion implements FastRegion {

        private final FaultyDomain domain;
        private final FastRegion region;

        FaultyRegion(FaultyDomain domain, FastRegion region) {
            this.domain = domain;
            this.region = region;
        }

        FastRegion onDevice() {
            return region;
        }

        @Override
        public ProtectionDomain protectionDomain() {
            return domain;
        }

        @Override
        public int map(List<MemorySegment> pieces, long remoteAddress) {
            return domain.device.plan().refuses(Resource.MAP) ? 0 : region.map(pieces, remoteAddress);
        }

        @Override
        public void unmap() {
            region.unmap();
        }

        @Override
        public int advanceKey() {
            return region.advanceKey();
        }

        @Override
        public State state() {
            return region.state();
        }

        @Override
        public int maxPages() {
            return region.maxPages();
        }

        @Override
        public int remoteKey() {
            return region.remoteKey();
        }

        @Override
        public long remoteAddress() {
            return region.remoteAddress();
        }

        @Override
        public long length() {
            return region.length();
        }

        @Override
        public Access access() {
            return region.access();
        }

        @Override
        public boolean isValid() {
            return region.isValid();
        }

        @Override
        public void close() {
            if (domain.device.plan().failsDeregistration()) {
                throw new IllegalStateException("injected fault");
            }
            region.close();
        }

        @Override
        public String toString() {
            return region.toString();
        }
    }
}
