// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rpcrdma4j.transport.server.ServerFixture.XID;
import static org.rpcrdma4j.transport.server.ServerFixture.assertNullReply;
import static org.rpcrdma4j.transport.server.ServerFixture.nullCall;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.transport.event.Direction;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.RawConnection;
import org.rpcrdma4j.transport.raw.RawMessage;
import org.rpcrdma4j.transport.raw.RawRequester;
import org.rpcrdma4j.transport.raw.Rig;
import org.rpcrdma4j.transport.raw.Segment;
import org.rpcrdma4j.transport.raw.Words;
import org.rpcrdma4j.transport.rpc.AcceptStatus;
import org.rpcrdma4j.transport.rpc.ProgramTable;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.rpc.RpcProgram;
import org.rpcrdma4j.transport.xdr.XdrWriter;
import org.rpcrdma4j.verbs.Access;

/** Where a handler's results may lie, and what else it may do. */
class ServerRepliesTest {

    private static final int SIZE = 50_000;

    private static Words fetch(Segment... segments) {
        return Words.header(XID, 1, 64, Words.RDMA_MSG)
                .end()
                .chunk(segments)
                .end()
                .end()
                .add(TestProgram.call(XID, TestProgram.FETCH))
                .u32(1, SIZE);
    }

    private static byte[] head(ServerRequest request) {
        XdrWriter out = new XdrWriter();
        ReplyHeader.of(request.xid(), AcceptStatus.SUCCESS).encode(out);
        out.writeInt(1);
        out.writeInt(SIZE);
        return out.toByteArray();
    }

    /** Replies with one item in the given memory. */
    private static void reply(ServerRequest request, Runnable released, MemorySegment... parts) {
        ReplyPieces pieces = new ReplyPieces().data(MemorySegment.ofArray(head(request)));
        pieces.item(parts[0]);
        for (int i = 1; i < parts.length; i++) {
            pieces.more(parts[i]);
        }
        pieces.data(MemorySegment.ofArray(new Words().u32(TestProgram.MARK).toBytes()));
        request.reply(pieces.whenReleased(released));
    }

    private static void assertFetched(ServerFixture fixture, RawConnection client, boolean viaReplyChunk) {
        RawConnection.Exposed room = client.expose(SIZE + 100, Access.REMOTE_WRITE);
        byte[] data = TestProgram.result(SIZE);
        if (viaReplyChunk) {
            RawMessage reply = fixture.exchange(
                    client,
                    Words.header(XID, 1, 64, Words.RDMA_MSG)
                            .end()
                            .end()
                            .chunk(room.part(0, 33), room.part(33, SIZE + 60))
                            .add(TestProgram.call(XID, TestProgram.FETCH))
                            .u32(1, SIZE));
            byte[] expected = Words.reply(XID, 0)
                    .u32(1)
                    .opaque(data)
                    .u32(TestProgram.MARK)
                    .toBytes();
            assertThat(reply.procedure()).isEqualTo(Words.RDMA_NOMSG);
            assertThat(Arrays.copyOf(room.bytes(), expected.length)).isEqualTo(expected);
        } else {
            RawMessage reply = fixture.exchange(client, fetch(room.part(0, 7), room.part(7, SIZE)));
            assertThat(reply.writeList()).containsExactly(List.of(room.part(0, 7), room.part(7, SIZE - 7)));
            assertThat(Arrays.copyOf(room.bytes(), SIZE)).isEqualTo(data);
        }
    }

    @ParameterizedTest
    @EnumSource
    void sendsResultsFromAnyMemoryAndSaysWhenItIsFree(Network network) {
        byte[] data = TestProgram.result(SIZE);
        MemorySegment heap = MemorySegment.ofArray(data);
        AtomicInteger released = new AtomicInteger();
        AtomicInteger replies = new AtomicInteger();
        try (Arena arena = Arena.ofShared()) {
            MemorySegment shared = arena.allocate(SIZE).copyFrom(heap);
            RequestHandler handler = request -> {
                switch (replies.getAndIncrement() % 4) {
                    case 0 -> reply(request, released::incrementAndGet, shared);
                    case 1 -> reply(request, released::incrementAndGet, heap);
                    case 2 -> {
                        try (Arena confined = Arena.ofConfined()) {
                            reply(
                                    request,
                                    released::incrementAndGet,
                                    confined.allocate(SIZE).copyFrom(heap));
                        }
                    }
                    default -> {
                        MemorySegment own = request.allocate(20_000).copyFrom(heap.asSlice(0, 20_000));
                        reply(
                                request,
                                released::incrementAndGet,
                                own,
                                shared.asSlice(20_000, 10_001),
                                heap.asSlice(30_001));
                    }
                }
            };
            try (ServerFixture fixture = new ServerFixture(network.open(), ServerOptions.DEFAULT, handler)) {
                RawConnection client = fixture.connect();
                for (int i = 0; i < 8; i++) {
                    assertFetched(fixture, client, i >= 4);
                }
                fixture.await("all memory is free", () -> released.get() == 8);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void keepsItemsThatTheBindingDoesNotNameInTheStream(Network network) {
        RequestHandler handler = request -> {
            ReplyPieces pieces = new ReplyPieces().data(MemorySegment.ofArray(head(request)));
            request.reply(pieces.item(MemorySegment.ofArray(new byte[10])));
        };
        try (ServerFixture fixture = new ServerFixture(network.open(), ServerOptions.DEFAULT, handler)) {
            RawConnection client = fixture.connect();
            RawConnection.Exposed room = client.expose(100, Access.REMOTE_WRITE);
            // ECHO has no eligible results: RFC 8166, Section 6.1.
            RawMessage reply = fixture.exchange(
                    client,
                    Words.header(XID, 1, 64, Words.RDMA_MSG)
                            .end()
                            .chunk(room.segment())
                            .end()
                            .end()
                            .add(TestProgram.call(XID, TestProgram.ECHO))
                            .opaque());
            assertThat(reply.writeList()).containsExactly(List.of(room.segment().withLength(0)));
            assertThat(reply.body()).hasSize(32 + 12);
        }
    }

    @ParameterizedTest
    @EnumSource
    void waitsWhenTheHandlersExecutorIsFull(Network network) {
        try (Rig rig = network.open()) {
            AtomicInteger refusals = new AtomicInteger();
            RpcRdmaServer server = start(RpcRdmaServer.builder(rig.serverDevice(), new TestProgram())
                    .address(rig.listenAddress())
                    .time(rig.time())
                    .worker(rig.worker())
                    .handlerExecutor(task -> {
                        if (refusals.incrementAndGet() <= 5) {
                            throw new RejectedExecutionException();
                        }
                        task.run();
                    }));
            try (RawConnection client = new RawRequester(rig).connect(server.localAddress())) {
                client.send(nullCall(XID));
                client.send(nullCall(XID + 1));
                rig.await("both are answered", () -> client.messageCount() == 2);
                var end = server.shutdown(ServerFixture.GRACE);
                rig.await("the server is closed", end::isDone);
            }
        }
    }

    private static RpcRdmaServer start(RpcRdmaServer.Builder builder) {
        try {
            return builder.start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ParameterizedTest
    @EnumSource
    void servesATableOfPrograms(Network network) {
        ProgramTable programs = new ProgramTable(List.of(RpcProgram.program(TestProgram.PROGRAM, "test")
                .procedure(1, TestProgram.FETCH, request -> {
                    int count = request.arguments().readInt();
                    int length = request.arguments().readInt();
                    request.endOfArguments();
                    MemorySegment memory = request.context().allocate(length);
                    memory.copyFrom(MemorySegment.ofArray(TestProgram.result(length)));
                    request.results().writeInt(count);
                    request.results().writeItem(memory);
                    request.results().writeInt(TestProgram.MARK);
                })
                .build()));
        try (ServerFixture fixture =
                new ServerFixture(network.open(), ServerOptions.DEFAULT, new ProgramHandler(programs))) {
            RawConnection client = fixture.connect();
            assertNullReply(fixture.exchange(client, nullCall(XID)), XID);
            assertFetched(fixture, client, false);
            RawMessage reply =
                    fixture.exchange(client, Words.inline(XID, 1).add(Words.call(XID, TestProgram.PROGRAM, 2, 0)));
            assertThat(reply.body()).isEqualTo(Words.reply(XID, 2).u32(1, 1).toBytes());
            reply = fixture.exchange(client, Words.inline(XID, 1).add(Words.call(XID, 7, 1, 0)));
            assertThat(reply.body()).isEqualTo(Words.reply(XID, 1).toBytes());
            reply = fixture.exchange(client, Words.inline(XID, 1).add(TestProgram.call(XID, 0xFFFF_FFFF)));
            assertThat(reply.body()).isEqualTo(Words.reply(XID, 3).toBytes());
        }
    }

    @ParameterizedTest
    @EnumSource
    void showsEveryMessageToTheWireListener(Network network) {
        AtomicInteger received = new AtomicInteger();
        AtomicInteger sent = new AtomicInteger();
        try (Rig rig = network.open()) {
            RpcRdmaServer.Builder builder = RpcRdmaServer.builder(rig.serverDevice(), new TestProgram())
                    .address(rig.listenAddress())
                    .time(rig.time())
                    .worker(rig.worker())
                    .wireListener((direction, connection, message, offset, length) -> {
                        assertThat(message.byteSize()).isGreaterThanOrEqualTo(offset + length);
                        (direction == Direction.SENT ? sent : received).addAndGet(length);
                    });
            if (rig.isSimulated()) {
                builder.handlerExecutor(rig.worker());
            }
            RpcRdmaServer server = start(builder);
            try (RawConnection client = new RawRequester(rig).connect(server.localAddress())) {
                client.send(nullCall(XID));
                client.send(new byte[5]);
                client.send(Words.header(XID, 2, 1, 0).noChunks());
                rig.await("both are answered", () -> client.messageCount() == 2);
                assertThat(received).hasValue(68 + 5 + 28);
                assertThat(sent).hasValue(52 + 28);
                assertThat(server.counters().get(ServerCounter.RECEIVES)).isEqualTo(3);
                var end = server.shutdown(ServerFixture.GRACE);
                rig.await("the server is closed", end::isDone);
            }
        }
    }
}
