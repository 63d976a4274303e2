// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.transport.server.RpcRdmaServer;
import org.rpcrdma4j.transport.server.ServerOptions;

/**
 * The product's server with the {@link Toy} program, a raw client that has nothing to do with the case, and what must hold after each
 * case: no thread has died, both connections are served, what the case took is given back.
 */
public final class ServerUnderTest implements AutoCloseable {

    /** 4096 bytes each way, the client's regions cannot be invalidated. */
    public static final String CLIENT_DATA = "f6ab0e18 01000303";

    public static final int CREDITS = 8;

    private final Rig rig;
    private final Toy toy = new Toy();
    private final RpcRdmaServer server;
    private final RawConnection unrelated;
    private final List<Throwable> uncaught = new CopyOnWriteArrayList<>();
    private int nextXid = 0x5afe_0000;

    private ServerUnderTest(Rig rig, ServerOptions options) {
        this.rig = rig;
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> uncaught.add(failure));
        try {
            server = RpcRdmaServer.builder(rig.serverDevice(), toy)
                    .address(rig.listenAddress())
                    .options(options)
                    .bindings(Toy.bindings())
                    .handlerExecutor(rig.worker())
                    .worker(rig.worker())
                    .time(rig.time())
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        rig.watch(() -> String.join(System.lineSeparator(), server.describe()));
        rig.watch(() -> "server counted " + server.counters().snapshot());
        unrelated = connect();
        answersNull(unrelated);
    }

    /** With {@link #options}. */
    public static ServerUnderTest start(Rig rig) {
        return start(rig, options());
    }

    public static ServerUnderTest start(Rig rig, ServerOptions.Builder options) {
        return new ServerUnderTest(rig, options.build());
    }

    /** The defaults with few credits, so that a receive that is not posted again is missed soon. */
    public static ServerOptions.Builder options() {
        return ServerOptions.builder().credits(CREDITS);
    }

    public Toy toy() {
        return toy;
    }

    public RpcRdmaServer server() {
        return server;
    }

    public InetSocketAddress address() {
        return server.localAddress();
    }

    public long count(ServerCounter counter) {
        return server.counters().get(counter);
    }

    /** A raw client with {@link #CLIENT_DATA}. */
    public RawConnection connect() {
        return new RawRequester(rig).privateData(CLIENT_DATA).connect(address());
    }

    /** An XID that no other call of this test has. */
    public int newXid() {
        return nextXid++;
    }

    /** Sends the message and waits for one more message. */
    public RawMessage exchange(RawConnection client, Words message) {
        return exchange(client, message.toBytes());
    }

    /** Sends the message and waits for one more message. */
    public RawMessage exchange(RawConnection client, byte... message) {
        int before = client.messageCount();
        client.send(message);
        rig.await(
                "the server answers " + Words.format(message),
                () -> client.messageCount() > before || client.hasEnded());
        assertThat(client.messageCount()).as(rig.describe()).isGreaterThan(before);
        return client.message(before);
    }

    /** Sends the message and sees that nothing comes back. */
    public void expectSilence(RawConnection client, byte... message) {
        int before = client.messageCount();
        RawWork sent = client.send(message);
        rig.await("the message is sent", sent::isDone);
        rig.settle();
        assertThat(client.messageCount()).as(Words.format(message)).isEqualTo(before);
    }

    /** The message is the expected one, but for its credit word, which is a legal grant. */
    public static void expect(RawMessage message, Words expected) {
        assertThat(message.length()).as("%s", message).isGreaterThanOrEqualTo(20);
        // RFC 8166, Section 3.3.1: never 0.
        assertThat(message.credits()).as("credits of %s", message).isBetween(1, 64);
        byte[] wanted = expected.toBytes();
        System.arraycopy(message.bytes(), 8, wanted, 8, 4);
        assertThat(Words.format(message.bytes())).isEqualTo(Words.format(wanted));
        assertThat(message.invalidatedKey()).isNull();
    }

    /** The message is answered with ERR_CHUNK, to the byte, and its XID never executed. */
    public void expectErrorChunk(RawConnection client, int xid, Words message) {
        expect(exchange(client, message), Words.errorChunk(xid, 1, 0));
        assertThat(toy.timesExecuted(xid)).isZero();
    }

    /** A NULL call is answered, to the byte. */
    public void answersNull(RawConnection client) {
        int xid = newXid();
        RawMessage reply = exchange(client, Words.inline(xid, CREDITS).add(Toy.call(xid, Toy.NULL)));
        expect(reply, Words.inline(xid, 0).add(Words.reply(xid, Toy.SUCCESS)));
        assertThat(reply.credits()).isLessThanOrEqualTo(server.options().credits());
    }

    /** A NULL call is answered, whatever else is on its way. */
    public void answersNullAmongOthers(RawConnection client) {
        int xid = newXid();
        client.send(Words.inline(xid, CREDITS).add(Toy.call(xid, Toy.NULL)));
        rig.await("the call is answered", () -> client.messages().stream().anyMatch(message -> message.xid() == xid));
        RawMessage reply = client.messages().stream()
                .filter(message -> message.xid() == xid)
                .findFirst()
                .orElseThrow();
        expect(reply, Words.inline(xid, 0).add(Words.reply(xid, Toy.SUCCESS)));
    }

    /** What must hold after a case that leaves its connection alive: every Receive is posted again, so more calls than those work. */
    public void checkUnharmed(RawConnection client) {
        for (int i = 0; i < CREDITS + 2; i++) {
            answersNull(client);
        }
        answersNull(unrelated);
        assertThat(uncaught).isEmpty();
        assertThat(server.connections()).as(rig.describe()).isGreaterThanOrEqualTo(2);
    }

    /** What must hold after a case that ends its connection: all of that one is given back. */
    public void checkEnded(RawConnection client) {
        rig.await("the connection ends", client::hasEnded);
        client.close();
        rig.await("the server forgets it", () -> server.connections() == 1);
        answersNull(unrelated);
        assertThat(uncaught).isEmpty();
    }

    /** Ends the case's connections from the client's side; the server must give all of them back. */
    public void finish(RawConnection... clients) {
        for (RawConnection client : clients) {
            client.close();
        }
        rig.await("the server gives the connections back", () -> server.connections() == 1);
        answersNull(unrelated);
        assertThat(uncaught).isEmpty();
    }

    @Override
    public void close() {
        toy.answerAllHeld();
        unrelated.close();
        CompletableFuture<Void> end = server.shutdown(Duration.ofSeconds(5));
        rig.await("the server ends", end::isDone);
        Thread.setDefaultUncaughtExceptionHandler(null);
        assertThat(uncaught).isEmpty();
    }
}
