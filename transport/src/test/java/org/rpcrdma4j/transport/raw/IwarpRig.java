// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.spi.RdmaDevices;

/** Two software iWARP devices on the loopback address, with a clock that can be moved forward. */
public final class IwarpRig implements Rig {

    private static final Duration PATIENCE = Duration.ofSeconds(15);
    private static final int ADVANCE_STEPS = 8;
    private static final long SETTLE_NANOS = 30_000_000;

    private final RdmaDevice client;
    private final RdmaDevice server = RdmaDevices.open("iwarp", Map.of());
    private final AdvancingTime time = new AdvancingTime();
    private final ExecutorService worker = Executors.newCachedThreadPool(
            Thread.ofPlatform().name("rig worker ", 0).daemon().factory());
    private final List<Supplier<String>> watched = new CopyOnWriteArrayList<>();
    private boolean checksLedgers = true;

    public IwarpRig() {
        this(UnaryOperator.identity());
    }

    /** With something around the device that connects. */
    public IwarpRig(UnaryOperator<RdmaDevice> aroundClient) {
        client = aroundClient.apply(RdmaDevices.open("iwarp", Map.of()));
    }

    @Override
    public RdmaDevice clientDevice() {
        return client;
    }

    @Override
    public RdmaDevice serverDevice() {
        return server;
    }

    @Override
    public AdvancingTime time() {
        return time;
    }

    @Override
    public ExecutorService worker() {
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
        Waits.until(PATIENCE, condition, () -> what + System.lineSeparator() + describe());
    }

    @Override
    public boolean awaitWithin(Duration limit, BooleanSupplier condition) {
        return Waits.within(limit, condition);
    }

    @Override
    public void settle() {
        Waits.pause(Duration.ofNanos(SETTLE_NANOS));
    }

    @Override
    public void advance(Duration duration) {
        settle();
        // In steps, so that what one timer sets going has its own timers in between.
        for (int i = 0; i < ADVANCE_STEPS; i++) {
            time.advance(duration.dividedBy(ADVANCE_STEPS));
            Waits.pause(Duration.ofNanos(SETTLE_NANOS / 4));
        }
        settle();
    }

    @Override
    public boolean isSimulated() {
        return false;
    }

    @Override
    public IwarpRig withoutLedgerCheck() {
        checksLedgers = false;
        return this;
    }

    @Override
    public void watch(Supplier<String> described) {
        watched.add(described);
    }

    @Override
    public String describe() {
        StringBuilder text = new StringBuilder("iwarp, client " + client.ledger() + ", server " + server.ledger());
        watched.forEach(described -> text.append(System.lineSeparator()).append(described.get()));
        text.append(System.lineSeparator()).append("client ").append(client.counters());
        text.append(System.lineSeparator()).append("server ").append(server.counters());
        return text.toString();
    }

    @Override
    public void close() {
        boolean isBalanced = Waits.within(
                checksLedgers ? PATIENCE : Duration.ZERO,
                () -> client.ledger().isBalanced() && server.ledger().isBalanced());
        String state = describe();
        client.close();
        server.close();
        worker.shutdownNow();
        time.close();
        assertThat(isBalanced || !checksLedgers)
                .as("all is given back before the devices are closed: %s", state)
                .isTrue();
    }
}
