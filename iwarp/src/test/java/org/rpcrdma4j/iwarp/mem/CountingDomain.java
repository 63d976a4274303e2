// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mem;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.QueuePairOptions;
import org.rpcrdma4j.verbs.RdmaDevice;

/** A domain without a device: counts the regions that ceased to be. */
public final class CountingDomain implements Domain {
    private final AtomicInteger gone = new AtomicInteger();

    public int gone() {
        return gone.get();
    }

    @Override
    public void regionGone() {
        gone.incrementAndGet();
    }

    @Override
    public RdmaDevice device() {
        throw new UnsupportedOperationException();
    }

    @Override
    public MemoryRegion register(MemorySegment memory, Access access) {
        throw new UnsupportedOperationException();
    }

    @Override
    public FastRegion allocateFastRegion(int maxPages) {
        throw new UnsupportedOperationException();
    }

    @Override
    public QueuePair createQueuePair(QueuePairOptions options) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}
}
