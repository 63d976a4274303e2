// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import java.net.InetSocketAddress;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.testkit.sim.FaultPlan;
import org.rpcrdma4j.verbs.CompletionHandler;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.DeviceAttributes;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.MappingLedger;
import org.rpcrdma4j.verbs.ProtectionDomain;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.cm.ConnectOptions;
import org.rpcrdma4j.verbs.cm.ConnectRequestHandler;
import org.rpcrdma4j.verbs.cm.ConnectionListener;
import org.rpcrdma4j.verbs.cm.ConnectionManager;
import org.rpcrdma4j.verbs.cm.ListenEndpoint;

/**
 * A real device with the faults of a {@link FaultPlan}: as many of them as can be put in front of a device. It refuses part of a chain,
 * refuses regions and mappings, fails deregistrations, loses and delays completions, and makes work requests fail by spoiling them,
 * so that it is the device itself that fails them. For devices that connect.
 *
 * <p>Counts what is posted under the names of the simulated device. May be used by any thread if the plan may.
 */
final class FaultyDevice implements RdmaDevice {

    private final RdmaDevice device;
    private final FaultPlan plan;
    private final SortedMap<String, LongAdder> counted = new TreeMap<>();

    FaultyDevice(RdmaDevice device, FaultPlan plan) {
        this.device = device;
        this.plan = plan;
        for (String name : new String[] {"posted", "registrations", "localInvalidations", "remoteInvalidations"}) {
            counted.put(name, new LongAdder());
        }
    }

    FaultPlan plan() {
        return plan;
    }

    void count(String name, long by) {
        LongAdder adder = counted.get(name);
        if (adder == null) {
            throw new IllegalArgumentException(name);
        }
        adder.add(by);
    }

    @Override
    public String name() {
        return device.name();
    }

    @Override
    public DeviceAttributes attributes() {
        return device.attributes();
    }

    @Override
    public ProtectionDomain allocateProtectionDomain() {
        return new FaultyDomain(this, device.allocateProtectionDomain());
    }

    @Override
    public CompletionQueue createCompletionQueue(int capacity, @Nullable CompletionHandler handler) {
        FaultyCompletions queue = new FaultyCompletions(this, handler);
        queue.onDevice(device.createCompletionQueue(capacity, handler == null ? null : ignored -> queue.call()));
        return queue;
    }

    @Override
    public ConnectionManager connectionManager() {
        ConnectionManager manager = device.connectionManager();
        return new ConnectionManager() {
            @Override
            public ListenEndpoint listen(InetSocketAddress local, int backlog, ConnectRequestHandler handler) {
                throw new UnsupportedOperationException("listen on the device itself");
            }

            @Override
            public void connect(
                    QueuePair queuePair,
                    InetSocketAddress remote,
                    ConnectOptions options,
                    ConnectionListener listener) {
                manager.connect(((FaultyQueuePair) queuePair).onDevice(), remote, options, listener);
            }
        };
    }

    @Override
    public MappingLedger ledger() {
        return device.ledger();
    }

    /** Those of the device and what was counted here. */
    @Override
    public SortedMap<String, Long> counters() {
        SortedMap<String, Long> all = new TreeMap<>(device.counters());
        counted.forEach((name, count) -> all.put(name, count.sum()));
        return all;
    }

    @Override
    public void close() {
        device.close();
    }

    /** The device's own region. */
    static FastRegion onDevice(FastRegion region) {
        return ((FaultyDomain.FaultyRegion) region).onDevice();
    }

    @Override
    public String toString() {
        return "faulty " + device.name() + " " + counters();
    }
}
