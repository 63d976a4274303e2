// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.device;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.verbs.cm.ConnectOptions;
import org.rpcrdma4j.verbs.cm.ListenEndpoint;

/** A device that listens on loopback and joins two sides, directly or through somebody in the middle. */
final class Loopback implements AutoCloseable {
    static final ConnectOptions OPTIONS = ConnectOptions.DEFAULT.withTimeout(Duration.ofSeconds(20));

    final SoftIwarpDevice device;
    private final String name;

    Loopback(String name, Map<String, String> settings) {
        this.name = name;
        Map<String, String> all = new java.util.HashMap<>(settings);
        all.put("name", name);
        all.putIfAbsent("threads", "2");
        device = new SoftIwarpDevice(IwarpSettings.of(all));
    }

    static InetSocketAddress anyPort() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    /** Each peer that comes is accepted on a side that is made for it. */
    ListenEndpoint serve(Supplier<Side> sides, ConnectOptions options) {
        try {
            return device.connectionManager().listen(anyPort(), 64, request -> {
                Side side = sides.get();
                request.accept(side.queuePair, options, side);
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void connect(Side client, InetSocketAddress server, ConnectOptions options) {
        device.connectionManager().connect(client.queuePair, server, options, client);
    }

    /** Joins two sides and waits until both are connected. */
    void join(Side client, Side server, ConnectOptions options) {
        try (ListenEndpoint endpoint = serve(() -> server, options)) {
            connect(client, endpoint.localAddress(), options);
            client.get(client.established, "onEstablished of the client");
            server.get(server.established, "onEstablished of the server");
        }
    }

    void join(Side client, Side server) {
        join(client, server, OPTIONS);
    }

    /** The device's threads that run. */
    Set<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(thread -> thread.startsWith(name + "-"))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    void requireEmpty() {
        Waits.until(() -> device.ledger().isBalanced(), () -> "the ledger is " + device.ledger());
    }

    @Override
    public void close() {
        device.close();
        if (!device.ledger().isBalanced() || !threads().isEmpty()) {
            throw new AssertionError("left behind: " + device.ledger() + ", threads " + threads());
        }
    }
}
