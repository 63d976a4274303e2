// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs;

import java.lang.foreign.MemorySegment;

/**
 * Ties memory regions to the queue pairs that may use them: no operation of a queue pair reaches a region of another domain.
 *
 * <p>libibverbs: {@code ibv_alloc_pd}.
 */
public interface ProtectionDomain extends AutoCloseable {

    /** The device it lives on. */
    RdmaDevice device();

    /**
     * Registers memory for use by every queue pair of this domain, until the region is closed. For long-lived buffers; what is
     * opened to the peer for one call is better registered through a {@link FastRegion}.
     *
     * <p>The device leases the memory: it must stay alive until {@link MemoryRegion#close}. libibverbs: {@code ibv_reg_mr}.
     *
     * @param memory native memory, not empty, accessible from every thread
     * @throws IllegalArgumentException if the memory is on the heap, empty, confined to a thread, not alive, or read-only
     *     while the rights include a write
     * @throws IllegalStateException if the domain is closed or the device's limit is reached
     */
    MemoryRegion register(MemorySegment memory, Access access);

    /**
     * Creates a fast-registration region: an identity without memory, in state {@link FastRegion.State#INVALID}.
     *
     * <p>Kernel verbs: {@code ib_alloc_mr}. libibverbs: {@code ibv_alloc_mw} of type 2.
     *
     * @param maxPages longest page list that will be mapped to it, 1 to {@link DeviceAttributes#maxFastRegistrationPages}
     * @throws IllegalStateException if the domain is closed or the device's limit is reached
     */
    FastRegion allocateFastRegion(int maxPages);

    /**
     * Creates a queue pair in state {@link QueuePair.State#IDLE}. Receives may be posted at once.
     *
     * @throws IllegalArgumentException if a depth is above the device's limit, or a completion queue is too small for all the
     *     queues that report to it
     * @throws IllegalStateException if the domain is closed or the device's limit is reached
     */
    QueuePair createQueuePair(QueuePairOptions options);

    /**
     * Gives the domain back.
     *
     * @throws IllegalStateException if a region or queue pair of it still exists
     */
    @Override
    void close();
}
