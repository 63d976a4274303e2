// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.concurrent.locks.ReentrantLock;
import org.rpcrdma4j.iwarp.mem.Domain;
import org.rpcrdma4j.iwarp.mem.Leases;
import org.rpcrdma4j.iwarp.mem.PlainRegion;
import org.rpcrdma4j.iwarp.mem.SoftFastRegion;
import org.rpcrdma4j.iwarp.mem.StagTable;
import org.rpcrdma4j.iwarp.queue.InboundReads;
import org.rpcrdma4j.iwarp.queue.ReceiveQueue;
import org.rpcrdma4j.iwarp.queue.SendQueue;
import org.rpcrdma4j.iwarp.queue.SoftCompletionQueue;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.QueuePairOptions;
import org.rpcrdma4j.verbs.RdmaDevice;

/** The sending side of a stream without a socket. */
final class SenderBench {
    static final int QP = 7;

    final class Pd implements Domain {
        @Override
        public RdmaDevice device() {
            throw new UnsupportedOperationException();
        }

        @Override
        public MemoryRegion register(MemorySegment memory, Access access) {
            return PlainRegion.register(this, table, leases, memory, access);
        }

        @Override
        public FastRegion allocateFastRegion(int maxPages) {
            return SoftFastRegion.allocate(this, table, leases, maxPages, 4096);
        }

        @Override
        public QueuePair createQueuePair(QueuePairOptions options) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void regionGone() {}

        @Override
        public void close() {}
    }

    final StagTable table = new StagTable(new SecureRandom()::nextInt, 1000);
    final Leases leases = new Leases();
    final Pd domain = new Pd();
    final SoftCompletionQueue completions = new SoftCompletionQueue(1024, () -> {}, () -> {});
    final InboundReads inboundReads = new InboundReads(FpduBatch.MAX_FPDUS);
    final FpduBatch batch = new FpduBatch(new CopyBuffers());
    final ReentrantLock lock;
    final SendQueue sends;
    final OutboundStream outbound;

    SenderBench(int depth, ReentrantLock lock) {
        this.lock = lock;
        sends = new SendQueue(QP, depth, 32, completions, () -> {});
        ReceiveQueue receives = new ReceiveQueue(QP, depth, 32, completions, () -> {});
        completions.attach(2 * depth);
        sends.setMaxReads(16);
        inboundReads.setLimit(16);
        outbound = new OutboundStream(
                new StreamContext(domain, QP, table, lock, sends, receives, inboundReads), batch, 64766, true);
        outbound.allow(null);
    }

    PlainRegion region(MemorySegment memory, Access access) {
        return PlainRegion.register(domain, table, leases, memory, access);
    }
}
