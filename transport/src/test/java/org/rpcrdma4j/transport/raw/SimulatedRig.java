// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.rpcrdma4j.testkit.sim.SimulatedDevice;
import org.rpcrdma4j.testkit.sim.SimulatedNetwork;
import org.rpcrdma4j.testkit.sim.SimulationOptions;

/** Two simulated devices. Everything happens on the test's thread, inside the methods that wait. */
public final class SimulatedRig implements Rig {

    /** Virtual time that a condition may take: longer than any time limit of the product's defaults. */
    private static final Duration PATIENCE = Duration.ofMinutes(10);

    private static final long MAX_STEPS = 20_000_000;

    private final SimulatedNetwork network;
    private final SimulatedDevice client;
    private final SimulatedDevice server;
    private final SimulatedTime time;
    private final SimulatedWorker worker;
    private final List<Supplier<String>> watched = new ArrayList<>();
    private boolean checksLedgers = true;

    public SimulatedRig(long seed, SimulationOptions clientOptions, SimulationOptions serverOptions) {
        network = new SimulatedNetwork(seed);
        client = SimulatedDevice.attach(network, "client", clientOptions);
        server = SimulatedDevice.attach(network, "server", serverOptions);
        time = new SimulatedTime(network);
        worker = new SimulatedWorker(network);
    }

    /** The network, to step by hand. */
    public SimulatedNetwork network() {
        return network;
    }

    @Override
    public SimulatedRig withoutLedgerCheck() {
        checksLedgers = false;
        return this;
    }

    @Override
    public SimulatedDevice clientDevice() {
        return client;
    }

    @Override
    public SimulatedDevice serverDevice() {
        return server;
    }

    @Override
    public SimulatedTime time() {
        return time;
    }

    @Override
    public SimulatedWorker worker() {
        return worker;
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
    public void await(String what, BooleanSupplier condition) {
        if (!awaitWithin(PATIENCE, condition)) {
            throw new AssertionError("waited in vain until " + what + System.lineSeparator() + describe());
        }
    }

    @Override
    public boolean awaitWithin(Duration limit, BooleanSupplier condition) {
        long end = network.nanoTime() + limit.toNanos();
        for (long i = 0; i < MAX_STEPS && network.nanoTime() <= end; i++) {
            if (condition.getAsBoolean()) {
                return true;
            }
            if (!network.step()) {
                break;
            }
        }
        return condition.getAsBoolean();
    }

    @Override
    public void settle() {
        network.runUntilIdle();
    }

    @Override
    public void advance(Duration duration) {
        network.advance(duration);
    }

    @Override
    public boolean isSimulated() {
        return true;
    }

    @Override
    public void watch(Supplier<String> described) {
        watched.add(described);
    }

    @Override
    public String describe() {
        StringBuilder text = new StringBuilder("seed " + network.seed() + ", step " + network.steps()
                + ", virtual time " + Duration.ofNanos(network.nanoTime()));
        watched.forEach(described -> text.append(System.lineSeparator()).append(described.get()));
        text.append(System.lineSeparator()).append(client.describe());
        text.append(System.lineSeparator()).append(server.describe());
        List<String> trace = network.trace();
        trace.subList(Math.max(0, trace.size() - 40), trace.size())
                .forEach(
                        line -> text.append(System.lineSeparator()).append("  ").append(line));
        return text.toString();
    }

    @Override
    public void close() {
        network.runUntilIdle();
        String state = describe();
        boolean isBalanced = client.ledger().isBalanced() && server.ledger().isBalanced();
        client.close();
        server.close();
        assertThat(network.violations()).as(state).isEmpty();
        if (checksLedgers) {
            assertThat(isBalanced)
                    .as("all is given back before the devices are closed: %s", state)
                    .isTrue();
        }
    }
}
