// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import java.lang.foreign.MemorySegment;
import org.rpcrdma4j.iwarp.mem.Domain;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.QueuePairOptions;
import org.rpcrdma4j.verbs.RdmaDevice;

/** A protection domain that is nothing but an identity. */
final class TestDomain implements Domain {
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

    @Override
    public void regionGone() {}
}
