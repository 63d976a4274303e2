// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.CompletionHandler;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.DeviceAttributes;
import org.rpcrdma4j.verbs.MappingLedger;
import org.rpcrdma4j.verbs.ProtectionDomain;
import org.rpcrdma4j.verbs.QueuePairOptions;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.cm.ConnectionManager;

/**
 * A device of a {@link SimulatedNetwork}: it moves real bytes between real memory, but only when the network steps. Used by one
 * thread at a time, unlike a real one.
 *
 * <p>Counters: {@code connections}, {@code flushes}, {@code handlerExceptions}, {@code localInvalidations}, {@code posted}, {@code
 * registrations}, {@code remoteInvalidations}, {@code terminatesReceived}, {@code terminatesSent}.
 */
public final class SimulatedDevice implements RdmaDevice {

    private final SimulatedNetwork network;
    private final String name;
    private final SimulationOptions options;
    private final InetAddress host;
    private final SimConnectionManager manager;
    private final RegionTable regions = new RegionTable();
    private final List<SimProtectionDomain> domains = new ArrayList<>();
    private final List<SimCompletionQueue> completionQueues = new ArrayList<>();
    private final List<SimQueuePair> queuePairs = new ArrayList<>();
    private final TreeMap<String, Long> counters = new TreeMap<>();
    private long maps;
    private long unmaps;
    private long mappedBytes;
    private int nextCompletionQueue = 1;
    private boolean isClosed;

    private SimulatedDevice(SimulatedNetwork network, String name, SimulationOptions options) {
        this.network = network;
        this.name = name;
        this.options = options;
        host = network.nextHost();
        manager = new SimConnectionManager(this);
    }

    /** Attaches a new device to a network. Closing it is the caller's. */
    public static SimulatedDevice attach(SimulatedNetwork network, String name, SimulationOptions options) {
        SimulatedDevice device = new SimulatedDevice(network, name, options);
        network.addActor(device.manager);
        return device;
    }

    /** The network it is attached to. */
    public SimulatedNetwork network() {
        return network;
    }

    /** How it behaves. */
    public SimulationOptions options() {
        return options;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public DeviceAttributes attributes() {
        return options.attributes();
    }

    @Override
    public ProtectionDomain allocateProtectionDomain() {
        requireOpen();
        SimProtectionDomain domain = new SimProtectionDomain(this);
        domains.add(domain);
        return domain;
    }

    @Override
    public CompletionQueue createCompletionQueue(int capacity, @Nullable CompletionHandler handler) {
        requireOpen();
        if (capacity < 1 || capacity > attributes().maxCompletions()) {
            throw new IllegalArgumentException(
                    "capacity " + capacity + " must lie in 1.." + attributes().maxCompletions());
        }
        if (options.faults().refuses(FaultPlan.Resource.COMPLETION_QUEUE)) {
            throw new IllegalStateException("injected fault: no completion queue");
        }
        SimCompletionQueue queue = new SimCompletionQueue(this, capacity, handler, nextCompletionQueue++);
        completionQueues.add(queue);
        network.addActor(queue);
        return queue;
    }

    SimQueuePair createQueuePair(SimProtectionDomain domain, QueuePairOptions wanted) {
        SimCompletionQueue send = ownQueue(wanted.sendCompletions());
        SimCompletionQueue receive = ownQueue(wanted.receiveCompletions());
        int depths = wanted.sendDepth() + wanted.receiveDepth();
        DeviceAttributes limits = attributes();
        if (wanted.sendDepth() > limits.maxWorkRequests()
                || wanted.receiveDepth() > limits.maxWorkRequests()
                || wanted.maxSges() > limits.maxSges()) {
            throw new IllegalArgumentException("depth or entries beyond the device's limits: " + wanted);
        }
        boolean fits = send == receive
                ? send.unreserved() >= depths
                : send.unreserved() >= wanted.sendDepth() && receive.unreserved() >= wanted.receiveDepth();
        if (!fits) {
            throw new IllegalArgumentException("a completion queue is too small: " + send.unreserved() + " and "
                    + receive.unreserved() + " places are free for depths " + wanted.sendDepth() + " and "
                    + wanted.receiveDepth());
        }
        if (queuePairs.size() >= limits.maxQueuePairs() || options.faults().refuses(FaultPlan.Resource.QUEUE_PAIR)) {
            throw new IllegalStateException(
                    "no more queue pairs: there are " + queuePairs.size() + ", or a fault was injected");
        }
        SimQueuePair queuePair = new SimQueuePair(
                domain, wanted, new SimQueuePair.WorkQueues(send, receive), network.nextQueuePairNumber());
        queuePairs.add(queuePair);
        network.addActor(queuePair);
        return queuePair;
    }

    private SimCompletionQueue ownQueue(CompletionQueue queue) {
        if (queue instanceof SimCompletionQueue own && own.isOpenOn(this)) {
            return own;
        }
        throw new IllegalArgumentException("not an open completion queue of " + name);
    }

    @Override
    public ConnectionManager connectionManager() {
        return manager;
    }

    @Override
    public MappingLedger ledger() {
        return new MappingLedger(maps, unmaps, mappedBytes, regions.size());
    }

    @Override
    public SortedMap<String, Long> counters() {
        return new TreeMap<>(counters);
    }

    /** The state of all queue pairs in words. */
    public String describe() {
        StringBuilder text = new StringBuilder(name).append(": ").append(ledger());
        for (SimQueuePair queuePair : queuePairs) {
            text.append(System.lineSeparator()).append("  ").append(queuePair);
        }
        return text.toString();
    }

    void count(String counter) {
        counters.merge(counter, 1L, Long::sum);
    }

    void leased(Pieces pieces) {
        maps += pieces.count();
        mappedBytes += pieces.length();
    }

    void unleased(Pieces pieces) {
        unmaps += pieces.count();
        mappedBytes -= pieces.length();
    }

    RegionTable regions() {
        return regions;
    }

    InetAddress host() {
        return host;
    }

    /** An address for a region of so many bytes: any, as long as it does not wrap around. */
    long freeAddress(long bytes) {
        long address = network.random().nextLong() & ~0xFFFL;
        return Long.compareUnsigned(address + bytes, address) > 0 ? address : 0x1000;
    }

    /** Calls the user's code; its exceptions harm nobody else. Errors, as of a failed assertion, pass. */
    void guarded(Runnable call) {
        try {
            call.run();
        } catch (RuntimeException e) {
            network.note("exception of a handler", 0, e.getClass().getName().hashCode());
            count("handlerExceptions");
        }
    }

    void requireOpen() {
        if (isClosed) {
            throw new IllegalStateException("device " + name + " is closed");
        }
    }

    void remove(SimProtectionDomain domain) {
        domains.remove(domain);
    }

    void remove(SimCompletionQueue queue) {
        completionQueues.remove(queue);
        network.removeActor(queue);
    }

    void remove(SimQueuePair queuePair) {
        queuePairs.remove(queuePair);
    }

    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        manager.close();
        List.copyOf(domains).forEach(SimProtectionDomain::closeWithContents);
        List.copyOf(completionQueues).forEach(SimCompletionQueue::close);
        network.removeActor(manager);
    }
}
