// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.RawConnection;
import org.rpcrdma4j.transport.raw.RawMessage;
import org.rpcrdma4j.transport.raw.RawRequester;
import org.rpcrdma4j.transport.raw.Rig;
import org.rpcrdma4j.transport.raw.Words;
import org.rpcrdma4j.verbs.Access;

/** A server with the test program, and raw clients for it. Closing it ends the server in order and looks that nothing is left. */
final class ServerFixture implements AutoCloseable {

    /** Both sizes 4096, not to be invalidated. */
    static final String CLIENT = "f6ab0e18 01000303";

    /** Both sizes 4096, may be invalidated. */
    static final String INVALIDATED = "f6ab0e18 01010303";

    /** The XID of calls that are alone. */
    static final int XID = 0x7b3f1c20;

    static final Duration GRACE = Duration.ofSeconds(5);

    final Rig rig;
    final TestProgram program = new TestProgram();
    final RpcRdmaServer server;
    private final List<RawConnection> clients = new ArrayList<>();

    ServerFixture(Network network) {
        this(network.open(), ServerOptions.DEFAULT, null);
    }

    ServerFixture(Network network, ServerOptions options) {
        this(network.open(), options, null);
    }

    ServerFixture(Rig rig, ServerOptions options, @Nullable RequestHandler handler) {
        this(rig, options, handler, rig.worker());
    }

    /** With a worker of its own, which also runs handlers on the simulation. */
    ServerFixture(Rig rig, ServerOptions options, @Nullable RequestHandler handler, Executor worker) {
        this.rig = rig;
        RpcRdmaServer.Builder builder = RpcRdmaServer.builder(rig.serverDevice(), handler != null ? handler : program)
                .address(rig.listenAddress())
                .options(options)
                .bindings(TestProgram.BINDINGS)
                .time(rig.time())
                .worker(worker);
        if (rig.isSimulated()) {
            builder.handlerExecutor(worker);
        }
        try {
            server = builder.start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        rig.watch(() -> server + " " + server.describe() + " " + server.counters());
    }

    InetSocketAddress address() {
        return server.localAddress();
    }

    /** Connects a client with buffers of 4096 bytes. */
    RawConnection connect() {
        return connect(CLIENT);
    }

    RawConnection connect(String privateData) {
        RawRequester requester = new RawRequester(rig).receives(128, 4096);
        if (!privateData.isEmpty()) {
            requester.privateData(privateData);
        }
        RawConnection client = requester.connect(address());
        clients.add(client);
        return client;
    }

    RawConnection connect(RawRequester requester) {
        RawConnection client = requester.connect(address());
        clients.add(client);
        return client;
    }

    /** Sends, and waits for the next message. */
    RawMessage exchange(RawConnection client, byte[] message) {
        int before = client.messageCount();
        client.send(message);
        rig.await("an answer", () -> client.messageCount() > before || client.hasEnded());
        assertThat(client.messageCount()).as("%s", client).isEqualTo(before + 1);
        return client.message(before);
    }

    RawMessage exchange(RawConnection client, Words message) {
        return exchange(client, message.toBytes());
    }

    /** Sends what must not be answered, and a NULL call behind it, which is. */
    void assertDropped(RawConnection client, byte[] message) {
        int before = client.messageCount();
        client.send(message);
        RawMessage reply = exchange(client, nullCall(0x0DD));
        assertNullReply(reply, 0x0DD);
        assertThat(client.messageCount()).isEqualTo(before + 1);
    }

    /** Sends what must be answered by one ERR_CHUNK for {@link #XID} and not be executed; the connection lives. */
    void assertRefused(RawConnection client, byte[] message) {
        RawMessage reply = exchange(client, message);
        assertThat(reply.isErrorChunk()).as("%s", reply).isTrue();
        assertThat(reply.xid()).isEqualTo(XID);
        assertThat(reply.version()).isEqualTo(1);
        assertThat(reply.credits()).isPositive();
        assertThat(reply.invalidatedKey()).isNull();
        int before = client.messageCount();
        assertNullReply(exchange(client, nullCall(1)), 1);
        assertThat(client.messageCount()).isEqualTo(before + 1);
        assertThat(program.stored).isEmpty();
    }

    void assertRefused(RawConnection client, Words message) {
        assertRefused(client, message.toBytes());
    }

    /** Memory of the client for the server to read. */
    static RawConnection.Exposed source(RawConnection client, byte... content) {
        return client.expose(content.length, Access.REMOTE_READ).fill(content);
    }

    /** Memory of the client for the server to write, full of {@code 0xEE}. */
    static RawConnection.Exposed target(RawConnection client, int length) {
        byte[] rubbish = new byte[length];
        Arrays.fill(rubbish, (byte) 0xEE);
        return client.expose(length, Access.REMOTE_WRITE).fill(rubbish);
    }

    static Words nullCall(int xid) {
        return Words.inline(xid, 64).add(TestProgram.call(xid, TestProgram.NULL));
    }

    static void assertNullReply(RawMessage reply, int xid) {
        assertThat(reply.xid()).isEqualTo(xid);
        assertThat(reply.version()).isEqualTo(1);
        assertThat(reply.procedure()).isEqualTo(Words.RDMA_MSG);
        assertThat(reply.credits()).isPositive();
        assertThat(reply.body()).isEqualTo(Words.reply(xid, 0).toBytes());
    }

    long count(ServerCounter counter) {
        return server.counters().get(counter);
    }

    void await(String what, BooleanSupplier condition) {
        rig.await(what, condition);
    }

    @Override
    public void close() {
        CompletableFuture<Void> end = server.shutdown(GRACE);
        rig.await("the server is closed", end::isDone);
        clients.forEach(RawConnection::close);
        rig.close();
    }
}
