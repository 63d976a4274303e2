// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rpcrdma4j.transport.raw.ServerUnderTest.expect;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.ProgramTable;
import org.rpcrdma4j.transport.rpc.ReplyCache;
import org.rpcrdma4j.transport.rpc.RpcProgram;
import org.rpcrdma4j.transport.server.ProgramHandler;
import org.rpcrdma4j.transport.server.RpcRdmaServer;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.ulb.ItemSink;
import org.rpcrdma4j.transport.ulb.ReplyBound;
import org.rpcrdma4j.transport.ulb.UpperLayerBinding;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.verbs.Access;

/** Calls that come again at a server that remembers replies, to the byte. */
class ServerDuplicatesTest {

    private static final int PROGRAM = 0x2000_0078;
    private static final int ITEM_BYTES = 3001;

    /** Returns how often it ran, and an eligible item. */
    private static final int TAKE = 1;

    private static final int SLOW = 2;

    private final AtomicInteger runs = new AtomicInteger();
    private final CountDownLatch gate = new CountDownLatch(1);
    private final ReplyCache cache = new ReplyCache();
    private final ProgramTable table = new ProgramTable(
            List.of(RpcProgram.program(PROGRAM, "counter")
                    .once(1, TAKE, request -> {
                        request.results().writeInt(runs.incrementAndGet());
                        request.results().beginItem();
                        request.results()
                                .writeBytes(java.lang.foreign.MemorySegment.ofArray(Toy.pattern(3, ITEM_BYTES)));
                        request.results().endItem();
                    })
                    .once(1, SLOW, request -> {
                        runs.incrementAndGet();
                        assertThat(gate.await(30, TimeUnit.SECONDS)).isTrue();
                        request.results().writeInt(42);
                    })
                    .build()),
            cache);

    private static final class Binding implements UpperLayerBinding {
        @Override
        public void argumentItems(CallHeader call, XdrReader arguments, ItemSink sink) {}

        @Override
        public void resultItems(CallHeader call, XdrReader results, ItemSink sink) throws XdrException {
            results.readInt();
            ItemSink.tell(results, Toy.UNBOUNDED, sink);
        }

        @Override
        public ReplyBound replyBound(CallHeader call, XdrReader arguments) {
            return ReplyBound.withItem(200, 1 << 20);
        }
    }

    private RpcRdmaServer start(Rig rig, Executor handlers) {
        try {
            RpcRdmaServer server = RpcRdmaServer.builder(rig.serverDevice(), new ProgramHandler(table))
                    .address(rig.listenAddress())
                    .bindings(Bindings.none(1 << 20).with(PROGRAM, 1, 1, new Binding()))
                    .handlerExecutor(handlers)
                    .worker(rig.worker())
                    .time(rig.time())
                    .start();
            rig.watch(() -> String.join(System.lineSeparator(), server.describe()));
            rig.watch(cache::toString);
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void end(Rig rig, RpcRdmaServer server) {
        CompletableFuture<Void> end = server.shutdown(Duration.ofSeconds(5));
        rig.await("the server ends", end::isDone);
    }

    private static RawConnection connect(Rig rig, RpcRdmaServer server) {
        return new RawRequester(rig).privateData(ServerUnderTest.CLIENT_DATA).connect(server.localAddress());
    }

    private static Words call(int xid, int procedure) {
        return Words.call(xid, PROGRAM, 1, procedure);
    }

    private static RawMessage exchange(Rig rig, RawConnection client, Words message) {
        int before = client.messageCount();
        client.send(message);
        rig.await("there is an answer", () -> client.messageCount() > before || client.hasEnded());
        return client.message(before);
    }

    @ParameterizedTest
    @EnumSource
    void aReplayIsFramedAnewWithWhatTheDuplicateOffers(Network network) {
        int xid = 0x7e57_0001;
        byte[] item = Toy.pattern(3, ITEM_BYTES);
        try (Rig rig = network.open()) {
            RpcRdmaServer server = start(rig, rig.worker());
            try (RawConnection first = connect(rig, server);
                    RawConnection second = connect(rig, server)) {
                RawConnection.Exposed stale = takeByWriteChunk(rig, first, xid, item, 4096);
                byte[] placed = stale.bytes();
                stale.fill(new byte[4096]);
                // The same again on the same connection, then on another one; with other memory and other sizes.
                takeByWriteChunk(rig, first, xid, item, ITEM_BYTES);
                RawConnection.Exposed other = takeByWriteChunk(rig, second, xid, item, 65_536);
                assertThat(Arrays.copyOf(other.bytes(), ITEM_BYTES)).isEqualTo(Arrays.copyOf(placed, ITEM_BYTES));
                // Inline, and in a Reply chunk.
                Words whole = Words.reply(xid, 0).u32(1).opaque(item);
                expect(
                        exchange(rig, second, Words.inline(xid, 1).add(call(xid, TAKE))),
                        Words.inline(xid, 0).add(whole));
                RawConnection.Exposed room = second.expose(8192, Access.REMOTE_WRITE);
                rig.await("memory is registered", room.registration()::isDone);
                RawMessage reply = exchange(
                        rig,
                        second,
                        Words.header(xid, 1, 8, Words.RDMA_MSG)
                                .end()
                                .end()
                                .chunk(room.segment())
                                .add(call(xid, TAKE)));
                assertThat(reply.xid()).isEqualTo(xid);
                assertThat(stale.bytes()).as("memory of the first transmission").containsOnly(0);
            } finally {
                end(rig, server);
            }
            assertThat(runs).hasValue(1);
            assertThat(cache.statistics().hits()).isEqualTo(4);
        }
    }

    private static RawConnection.Exposed takeByWriteChunk(
            Rig rig, RawConnection client, int xid, byte[] item, int room) {
        RawConnection.Exposed memory = client.expose(room, Access.REMOTE_WRITE);
        rig.await("memory is registered", memory.registration()::isDone);
        RawMessage reply = exchange(
                rig,
                client,
                Words.header(xid, 1, 8, Words.RDMA_MSG)
                        .end()
                        .chunk(memory.segment())
                        .end()
                        .end()
                        .add(call(xid, TAKE)));
        expect(
                reply,
                Words.header(xid, 1, 0, Words.RDMA_MSG)
                        .end()
                        .chunk(memory.segment().withLength(item.length))
                        .end()
                        .end()
                        .add(Words.reply(xid, 0).u32(1, item.length)));
        assertThat(Arrays.copyOf(memory.bytes(), item.length)).isEqualTo(item);
        return memory;
    }

    /** One thread is all that the duplicates may have: none of them holds it while it waits. */
    @Test
    void duplicatesOfARunningCallAreAnsweredAtItsEndAndHoldNoThread() {
        int xid = 0x7e57_0002;
        try (Rig rig = Network.IWARP.open()) {
            List<Thread> threads = new ArrayList<>();
            Executor handlers = task -> {
                Thread thread = new Thread(task, "handler");
                threads.add(thread);
                thread.start();
            };
            RpcRdmaServer server = start(rig, handlers);
            List<RawConnection> clients = List.of(connect(rig, server), connect(rig, server), connect(rig, server));
            try {
                clients.getFirst().send(Words.inline(xid, 8).add(call(xid, SLOW)));
                rig.await("it runs", () -> runs.get() == 1);
                for (int i = 0; i < 5; i++) {
                    clients.get(i % 3).send(Words.inline(xid, 8).add(call(xid, SLOW)));
                }
                rig.await("the duplicates wait", () -> cache.statistics().waits() == 5);
                assertThat(clients).allMatch(client -> client.messageCount() == 0);
                // The second client is gone before its answers are there.
                clients.get(1).breakOff();
                rig.await("its connection has ended", () -> server.connections() == 2);
                gate.countDown();
                rig.await(
                        "the others are answered",
                        () -> clients.getFirst().messageCount() == 3
                                && clients.get(2).messageCount() == 1);
                for (RawConnection client : List.of(clients.getFirst(), clients.get(2))) {
                    client.messages()
                            .forEach(message -> expect(
                                    message,
                                    Words.inline(xid, 0).add(Words.reply(xid, 0).u32(42))));
                }
                assertThat(runs).hasValue(1);
                assertThat(cache.statistics().failedWaits()).isZero();
            } finally {
                gate.countDown();
                clients.forEach(RawConnection::close);
                end(rig, server);
            }
            threads.forEach(thread -> rig.await("the handler ends", () -> !thread.isAlive()));
        }
    }
}
