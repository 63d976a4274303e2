// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.dissect;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.LocalInvalidateRequest;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.ProtectionDomain;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.QueuePairOptions;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.RegisterRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.cm.ConnectOptions;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;
import org.rpcrdma4j.verbs.cm.ConnectionListener;
import org.rpcrdma4j.verbs.cm.Disconnect;

/** A client and a server queue pair on one device, driven one operation at a time. */
final class Ends {
    static final int RECEIVE_BYTES = 4096;

    private static final int RECEIVES = 100;
    private static final long LIMIT_SECONDS = 20;

    private final RdmaDevice device;
    private final CompletionQueue clientCompletions;
    private final CompletionQueue serverCompletions;
    private final QueuePair client;
    private final QueuePair server;
    private final MemoryRegion clientRegion;
    private final MemoryRegion serverRegion;
    private final FastRegion window;
    private final MemorySegment clientMemory;
    private final CompletableFuture<Disconnect> clientEnd = new CompletableFuture<>();
    private final CompletableFuture<ConnectionInfo> connected = new CompletableFuture<>();
    private final CompletableFuture<Disconnect> serverEnd = new CompletableFuture<>();

    Ends(RdmaDevice device, Arena arena, int bytes) {
        this.device = device;
        clientCompletions = device.createCompletionQueue(256, null);
        serverCompletions = device.createCompletionQueue(256, null);
        ProtectionDomain clientDomain = device.allocateProtectionDomain();
        ProtectionDomain serverDomain = device.allocateProtectionDomain();
        client = clientDomain.createQueuePair(new QueuePairOptions(clientCompletions, clientCompletions, 100, 100, 4));
        server = serverDomain.createQueuePair(new QueuePairOptions(serverCompletions, serverCompletions, 100, 100, 4));
        clientMemory = arena.allocate(bytes);
        clientRegion = clientDomain.register(clientMemory, Access.REMOTE_READ_WRITE);
        serverRegion = serverDomain.register(arena.allocate(bytes), Access.REMOTE_READ_WRITE);
        window = clientDomain.allocateFastRegion(512);
        for (int i = 0; i < RECEIVES; i++) {
            server.postReceive(new ReceiveRequest().id(i).sge(serverRegion, 0, RECEIVE_BYTES))
                    .orThrow();
            client.postReceive(new ReceiveRequest().id(i).sge(clientRegion, 0, RECEIVE_BYTES))
                    .orThrow();
        }
    }

    MemoryRegion clientRegion() {
        return clientRegion;
    }

    MemoryRegion serverRegion() {
        return serverRegion;
    }

    InetSocketAddress listen() throws IOException {
        return device.connectionManager()
                .listen(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        4,
                        request -> request.accept(
                                server, ConnectOptions.DEFAULT, listener(new CompletableFuture<>(), serverEnd)))
                .localAddress();
    }

    void connect(InetSocketAddress address) throws Exception {
        device.connectionManager().connect(client, address, ConnectOptions.DEFAULT, listener(connected, clientEnd));
        connected.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    private static ConnectionListener listener(
            CompletableFuture<ConnectionInfo> established, CompletableFuture<Disconnect> ended) {
        return new ConnectionListener() {
            @Override
            public void onEstablished(ConnectionInfo info) {
                established.complete(info);
            }

            @Override
            public void onRefused(ConnectRefusal refusal) {
                established.completeExceptionally(new IOException(refusal.toString()));
            }

            @Override
            public void onDisconnected(Disconnect disconnect) {
                ended.complete(disconnect);
            }
        };
    }

    /** Posts at the client and waits for its success. */
    void run(SendQueueRequest request) {
        client.postSend(request).orThrow();
        awaitSuccess(clientCompletions);
    }

    private void awaitSuccess(CompletionQueue queue) {
        WorkCompletion[] one = {new WorkCompletion()};
        Waits.until(() -> queue.poll(one) > 0, () -> client + " " + server);
        assertThat(one[0].isSuccess()).as(one[0].toString()).isTrue();
    }

    /** Registers a window, lets the server invalidate it by a Send, then registers and invalidates it locally. */
    void sendWithInvalidate() {
        window.map(List.of(clientMemory), 1L << 40);
        int key = window.advanceKey();
        run(new RegisterRequest().region(window, key).access(Access.REMOTE_WRITE));
        drainReceives();
        server.postSend(new SendRequest().sge(serverRegion, 0, 100).invalidate(key))
                .orThrow();
        awaitSuccess(serverCompletions);
        awaitSuccess(clientCompletions);
        key = window.advanceKey();
        run(new RegisterRequest().region(window, key).access(Access.REMOTE_WRITE));
        run(new LocalInvalidateRequest().key(key));
    }

    private void drainReceives() {
        WorkCompletion[] some = {new WorkCompletion()};
        while (serverCompletions.poll(some) > 0) {
            assertThat(some[0].isSuccess()).as(some[0].toString()).isTrue();
        }
    }

    /** Writes with a key that was never given out, and waits for the server's Terminate. */
    void provokeTerminate() throws Exception {
        client.postSend(new RdmaWriteRequest()
                        .sge(clientRegion, 0, 64)
                        .target(serverRegion.remoteKey() ^ 1, serverRegion.remoteAddress()))
                .orThrow();
        assertThat(clientEnd.get(LIMIT_SECONDS, TimeUnit.SECONDS).cause()).isEqualTo(Disconnect.Cause.REMOTE_ERROR);
        assertThat(serverEnd.get(LIMIT_SECONDS, TimeUnit.SECONDS).cause()).isEqualTo(Disconnect.Cause.LOCAL_ERROR);
    }
}
