// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.function.BooleanSupplier;
import org.rpcrdma4j.testkit.contract.DeviceUnderTest;
import org.rpcrdma4j.verbs.RdmaDevice;

/** Two simulated devices for the contract suite; {@code -Drpcrdma.schedule} sets another seed of the schedule. */
final class SimulationUnderTest implements DeviceUnderTest {

    private final SimulatedNetwork network;
    private final SimulatedDevice client;
    private final SimulatedDevice server;

    SimulationUnderTest(long seed, SimulationOptions options) {
        network = new SimulatedNetwork(Long.getLong("rpcrdma.schedule", seed));
        client = SimulatedDevice.attach(network, "client", options);
        server = SimulatedDevice.attach(network, "server", options);
    }

    @Override
    public RdmaDevice client() {
        return client;
    }

    @Override
    public RdmaDevice server() {
        return server;
    }

    @Override
    public InetSocketAddress listenAddress() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    @Override
    public InetSocketAddress deadAddress() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
    }

    @Override
    public boolean await(BooleanSupplier condition) {
        return network.runUntil(condition);
    }

    @Override
    public void settle() {
        network.runUntilIdle();
    }

    @Override
    public int mixSeeds() {
        return 10;
    }

    @Override
    public String describe() {
        return "seed " + network.seed() + ", step " + network.steps() + System.lineSeparator() + client.describe()
                + System.lineSeparator() + server.describe() + System.lineSeparator() + "violations "
                + network.violations();
    }
}
