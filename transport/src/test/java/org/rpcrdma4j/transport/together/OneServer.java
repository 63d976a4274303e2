// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.together;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.client.RpcRdmaClient;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.transport.raw.Words;
import org.rpcrdma4j.transport.server.RequestHandler;
import org.rpcrdma4j.transport.server.RpcRdmaServer;
import org.rpcrdma4j.transport.server.ServerOptions;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.spi.RdmaDevices;

/**
 * A server over software iWARP with threads and clock of its own, and as many clients as a test wants: the product as programs have it.
 * Closing it looks that nothing is left: connections, memory on either device, threads.
 */
final class OneServer implements AutoCloseable {

    static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Set<Thread> threadsBefore = threads();
    final RdmaDevice clientDevice;
    final RdmaDevice serverDevice;
    private final RequestHandler handler;
    private final ServerOptions options;
    RpcRdmaServer server;

    OneServer() {
        this(Map.of(), new BlockProgram(), ServerOptions.DEFAULT);
    }

    OneServer(Map<String, String> device, RequestHandler handler, ServerOptions options) {
        clientDevice = RdmaDevices.open("iwarp", device);
        serverDevice = RdmaDevices.open("iwarp", device);
        this.handler = handler;
        this.options = options;
        server = start();
    }

    /** The number of rounds: so many by default, or by {@code -Drpcrdma.rounds}. */
    static int rounds(int byDefault) {
        return Integer.getInteger("rpcrdma.rounds", byDefault);
    }

    private RpcRdmaServer start() {
        try {
            return RpcRdmaServer.builder(serverDevice, handler)
                    .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                    .options(options)
                    .bindings(BlockProgram.BINDINGS)
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A new server in place of one that has ended, on a port of its own. */
    void startAnother() {
        server = start();
    }

    /** Begins a client that comes back fast. */
    RpcRdmaClient.Builder client() {
        return RpcRdmaClient.builder(clientDevice, server.localAddress())
                .reconnectDelay(Duration.ofMillis(1), Duration.ofMillis(20))
                .callTimeout(Duration.ofSeconds(30));
    }

    /** A call without arguments and results. */
    static CallMessage nothing(RpcRdmaClient client) {
        return CallMessage.builder(head(client, BlockProgram.NULL)).build();
    }

    /** A call whose result lands in the target. */
    static CallMessage fetch(RpcRdmaClient client, MemorySegment target) {
        return CallMessage.builder(head(client, BlockProgram.FETCH, Math.toIntExact(target.byteSize())))
                .target(target)
                .build();
    }

    /** A call that gives a block. */
    static CallMessage store(RpcRdmaClient client, MemorySegment block) {
        return CallMessage.builder(head(client, BlockProgram.STORE, Math.toIntExact(block.byteSize())))
                .item(block)
                .tail(MemorySegment.ofArray(new Words().u32(77).toBytes()))
                .build();
    }

    static MemorySegment head(RpcRdmaClient client, int procedure, int... arguments) {
        return MemorySegment.ofArray(Words.call(client.nextXid(), BlockProgram.PROGRAM, 1, procedure)
                .u32(arguments)
                .toBytes());
    }

    /** Whether a reply to {@link #fetch} is all there. */
    static boolean isWhole(Reply reply, MemorySegment target) {
        long last = target.byteSize() - 1;
        return reply.placedBytes() == target.byteSize()
                && target.get(ValueLayout.JAVA_BYTE, last) == BlockProgram.blockByte((int) last);
    }

    long count(ServerCounter counter) {
        return server.counters().get(counter);
    }

    /** Waits until the condition holds; fails with the state of all if it does not in time. */
    void await(String what, BooleanSupplier condition) {
        await(what, PATIENCE, condition, this);
    }

    static void await(String what, Duration limit, BooleanSupplier condition, Object state) {
        Waits.until(limit, condition, () -> what + System.lineSeparator() + state);
    }

    /** Waits until no connection is left, and each that was told of has ended once. */
    void awaitNoConnections() {
        await("the server has no connections", () -> server.connections() == 0);
        assertThat(count(ServerCounter.DISCONNECTS))
                .as("connections that ended, of those that were there: %s", this)
                .isEqualTo(count(ServerCounter.CONNECTS));
    }

    /** Waits until both devices hold nothing. */
    void awaitBalance() {
        await(
                "all is given back",
                () -> clientDevice.ledger().isBalanced()
                        && serverDevice.ledger().isBalanced());
    }

    /** The threads that are alive, but for those of the JVM and the test's launcher, which come and go on their own. */
    static Set<Thread> threads() {
        Set<Thread> alive = new HashSet<>(Thread.getAllStackTraces().keySet());
        alive.removeIf(thread -> thread.getName().startsWith("ForkJoinPool")
                || thread.getThreadGroup() == null
                || "system".equals(thread.getThreadGroup().getName())
                || "InnocuousThreadGroup".equals(thread.getThreadGroup().getName()));
        return alive;
    }

    @Override
    public String toString() {
        return "client's device " + clientDevice.ledger() + ", server's " + serverDevice.ledger() + ", " + server + ", "
                + server.describe() + ", " + server.counters().snapshot();
    }

    @Override
    public void close() {
        server.close();
        awaitNoConnections();
        awaitBalance();
        clientDevice.close();
        serverDevice.close();
        await(
                "no thread is left",
                () -> threadsBefore.containsAll(threads().stream()
                        .filter(thread -> thread != Thread.currentThread())
                        .toList()));
    }
}
