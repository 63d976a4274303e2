// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.benchmarks;

import java.lang.foreign.MemorySegment;
import org.rpcrdma4j.iwarp.mem.Domain;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.QueuePairOptions;
import org.rpcrdma4j.verbs.RdmaDevice;

/** An identity for regions without a device. */
final class NoDomain implements Domain {
    NoDomain() {}

    @Override
    public void regionGone() {}

    @Override
    public RdmaDevice device() {
        throw new UnsupportedOperationException("no device");
    }

    @Override
    public MemoryRegion register(MemorySegment memory, Access access) {
        throw new UnsupportedOperationException("no device");
    }

    @Override
    public FastRegion allocateFastRegion(int maxPages) {
        throw new UnsupportedOperationException("no device");
    }

    @Override
    public QueuePair createQueuePair(QueuePairOptions options) {
        throw new UnsupportedOperationException("no device");
    }

    @Override
    public void close() {}
}
