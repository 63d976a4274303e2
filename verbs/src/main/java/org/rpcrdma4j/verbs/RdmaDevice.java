// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs;

import java.util.SortedMap;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.cm.ConnectionManager;

/**
 * An opened RDMA device: the owner of protection domains, completion queues and connections.
 *
 * <p>Devices come from {@link org.rpcrdma4j.verbs.spi.RdmaDevices}. All methods may be called from any thread.
 *
 * <p>libibverbs: {@code ibv_open_device}, {@code ibv_query_device_ex}; the connection manager is librdmacm.
 */
public interface RdmaDevice extends AutoCloseable {

    /** The device's name as given by its provider, for example {@code iwarp0}. */
    String name();

    /** What the device can do; constant over its life. libibverbs: {@code ibv_query_device_ex}. */
    DeviceAttributes attributes();

    /**
     * Creates a protection domain: the set of regions and queue pairs that may work together.
     *
     * @throws IllegalStateException if the device is closed or its limit is reached
     */
    ProtectionDomain allocateProtectionDomain();

    /**
     * Creates a completion queue.
     *
     * @param capacity most entries it can hold, at least the sum of the depths of all queues that will report to it
     * @param handler called when the queue was armed and an entry arrived, see {@link CompletionQueue#requestNotify}; null
     *     for a queue that is only polled
     * @throws IllegalArgumentException if the capacity is below 1 or above the device's limit
     */
    CompletionQueue createCompletionQueue(int capacity, @Nullable CompletionHandler handler);

    /** Listens and connects on behalf of this device's queue pairs. */
    ConnectionManager connectionManager();

    /** What is mapped and registered at this moment; all zero once everything was given back. */
    MappingLedger ledger();

    /** A snapshot of the device's event counters by name; the provider documents its names. */
    SortedMap<String, Long> counters();

    /**
     * Closes everything that still lives on the device, without grace: queue pairs go to {@link QueuePair.State#ERROR},
     * regions are deregistered, threads end. Returns when no thread of the device touches memory of a caller any more; a handler or
     * listener that is running is waited for, unless it is the caller.
     */
    @Override
    void close();
}
