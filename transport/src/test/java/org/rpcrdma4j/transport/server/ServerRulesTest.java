// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rpcrdma4j.transport.server.ServerFixture.XID;
import static org.rpcrdma4j.transport.server.ServerFixture.assertNullReply;
import static org.rpcrdma4j.transport.server.ServerFixture.nullCall;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.RawConnection;
import org.rpcrdma4j.transport.raw.RawMessage;
import org.rpcrdma4j.transport.raw.RawRequester;
import org.rpcrdma4j.transport.raw.Segment;
import org.rpcrdma4j.transport.raw.Words;
import org.rpcrdma4j.transport.rpc.ProgramTable;
import org.rpcrdma4j.transport.rpc.RpcProcedure;
import org.rpcrdma4j.transport.rpc.RpcProgram;
import org.rpcrdma4j.verbs.Access;

/** Rules of the RFCs that no other test of the server shows by itself. */
class ServerRulesTest {

    private static final int CALLBACK = 0x4000_0000;
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final int ITEM_POSITION = 48;

    private static Words call(int procedure) {
        return TestProgram.call(XID, procedure);
    }

    private static byte[] sequence(int length) {
        return TestProgram.result(length);
    }

    /** RFC 8166, Section 3.3.3. */
    @ParameterizedTest
    @EnumSource
    void takesMessagesOf1024BytesFromAnyClient(Network network) {
        ServerOptions least =
                ServerOptions.builder().sendBytes(1024).receiveBytes(1024).build();
        for (ServerOptions options : List.of(least, ServerOptions.DEFAULT)) {
            try (ServerFixture fixture = new ServerFixture(network, options)) {
                RawConnection client = fixture.connect(new RawRequester(fixture.rig).receives(16, 1024));
                byte[] echoed = sequence(1024 - 28 - 40 - 4);
                Words message = Words.inline(XID, 8).add(call(TestProgram.ECHO)).opaque(echoed);
                assertThat(message.length()).isEqualTo(1024);
                RawMessage reply = fixture.exchange(client, message);
                assertThat(reply.body())
                        .isEqualTo(Words.reply(XID, 0).opaque(echoed).toBytes());
            }
        }
    }

    /** RFC 8166, Section 8.2.2.3. The words of the credential: version, message, sequence number, service, handle. */
    @ParameterizedTest
    @EnumSource
    void reducesNothingUnderGssIntegrityOrPrivacy(Network network) {
        try (ServerFixture fixture = new ServerFixture(network)) {
            RawConnection client = fixture.connect();
            for (int service = 1; service <= 3; service++) {
                boolean mayReduce = service == 1;
                RawConnection.Exposed room =
                        client.expose(400, Access.REMOTE_WRITE).fill(new byte[400]);
                Words fetch = new Words()
                        .u32(XID, 0, 2, TestProgram.PROGRAM, 1, TestProgram.FETCH)
                        .u32(6, 20, 1, 0, 9, service, 0, 0, 0)
                        .u32(1, 300);
                RawMessage reply = fixture.exchange(
                        client,
                        Words.header(XID, 1, 8, Words.RDMA_MSG)
                                .end()
                                .chunk(room.segment())
                                .end()
                                .end()
                                .add(fetch));
                int placed = mayReduce ? 300 : 0;
                assertThat(reply.writeList().getFirst())
                        .as("service %s", service)
                        .containsExactly(room.part(0, 400).withLength(placed));
                Words results = Words.reply(XID, 0).u32(1, 300);
                assertThat(reply.body())
                        .isEqualTo((mayReduce ? results : results.raw(sequence(300)))
                                .u32(TestProgram.MARK)
                                .toBytes());
                assertThat(Arrays.copyOf(room.bytes(), 300)).isEqualTo(mayReduce ? sequence(300) : new byte[300]);

                RawConnection.Exposed source =
                        client.expose(300, Access.REMOTE_READ).fill(sequence(300));
                Words store = new Words()
                        .u32(XID, 0, 2, TestProgram.PROGRAM, 1, TestProgram.STORE)
                        .u32(6, 20, 1, 0, 9, service, 0, 0, 0)
                        .u32(1, 300, TestProgram.MARK);
                reply = fixture.exchange(
                        client,
                        Words.header(XID, 1, 8, Words.RDMA_MSG)
                                .readSegment(ITEM_POSITION + 20, source.segment())
                                .end()
                                .end()
                                .end()
                                .add(store));
                assertThat(reply.rpc().word(5)).isEqualTo(mayReduce ? 0 : 4);
            }
            assertThat(fixture.program.stored).hasSize(1);
        }
    }

    /** A server whose client has said that it takes calls, and held calls. */
    private static ReverseClient enabled(ServerFixture fixture, RawConnection client, HeldRequests held) {
        client.send(nullCall(XID));
        fixture.await("the call is there", () -> held.size() == 1);
        ServerRequest request = held.take();
        ReverseClient reverse = request.reverse();
        HeldRequests.answer(request);
        fixture.await("the reply is there", () -> client.messageCount() == 1);
        reverse.enable();
        return reverse;
    }

    private static CompletableFuture<MemorySegment> reverseCall(ReverseClient reverse, int bytes) {
        return reverse.call(
                MemorySegment.ofArray(
                        Words.call(99, CALLBACK, 1, 0).raw(new byte[bytes - 40]).toBytes()),
                LONG);
    }

    /** RFC 8167, Section 4.2: what a forward reply may have. */
    @ParameterizedTest
    @EnumSource
    void callsAsLongAsTheClientReceivesInTheReverseDirection(Network network) {
        HeldRequests held = new HeldRequests();
        ServerOptions options =
                ServerOptions.builder().sendBytes(16_384).receiveBytes(1024).build();
        try (ServerFixture fixture = new ServerFixture(network.open(), options, held)) {
            // The client sends up to 1024 bytes and receives up to 8192.
            RawConnection client = fixture.connect(new RawRequester(fixture.rig)
                    .privateData("f6ab0e18 01000007")
                    .receives(16, 8192));
            ReverseClient reverse = enabled(fixture, client, held);
            assertThat(reverse.maxCallBytes()).isEqualTo(8192 - 28);
            CompletableFuture<MemorySegment> result = reverseCall(reverse, 8192 - 28);
            fixture.await("the reverse call is there", () -> client.messageCount() == 2);
            RawMessage call = client.message(1);
            assertThat(call.length()).isEqualTo(8192);
            client.send(
                    Words.inline(call.xid(), 2).add(Words.reply(call.xid(), 0)).u32(new int[(1024 - 28 - 24) / 4]));
            fixture.await("the reverse reply is known", result::isDone);
            assertThat(result.join().byteSize()).isEqualTo(1024 - 28);
        }
    }

    /** RFC 8167, Section 4.3.2. */
    @ParameterizedTest
    @EnumSource
    void hasReceivesForAllCallsAndAllReverseRepliesAtOnce(Network network) {
        HeldRequests held = new HeldRequests();
        ServerOptions options =
                ServerOptions.builder().credits(16).reverseCredits(4).build();
        try (ServerFixture fixture = new ServerFixture(network.open(), options, held)) {
            RawConnection client = fixture.connect();
            ReverseClient reverse = enabled(fixture, client, held);
            CompletableFuture<MemorySegment> first = reverseCall(reverse, 40);
            fixture.await("the first reverse call is there", () -> client.messageCount() == 2);
            int xid = client.message(1).xid();
            client.send(Words.inline(xid, 4).add(Words.reply(xid, 0)));
            fixture.await("it has its reply", first::isDone);
            List<CompletableFuture<MemorySegment>> results = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                results.add(reverseCall(reverse, 40));
            }
            fixture.await("four reverse calls are there", () -> client.messageCount() == 6);
            List<RawMessage> calls = client.messages().subList(2, 6);
            for (int i = 0; i < 16; i++) {
                client.send(nullCall(i));
            }
            calls.forEach(call -> client.send(Words.inline(call.xid(), 4).add(Words.reply(call.xid(), 0))));
            fixture.await("all forward calls are there", () -> held.size() == 16);
            fixture.await(
                    "all reverse replies are known", () -> results.stream().allMatch(CompletableFuture::isDone));
            assertThat(results).noneMatch(CompletableFuture::isCompletedExceptionally);
            held.answerAll();
            fixture.await("all are answered", () -> client.messageCount() == 22);
            assertThat(client.hasEnded()).isFalse();
        }
    }

    private static Segment[] parts(RawConnection.Exposed memory, int length, int count) {
        Segment[] parts = new Segment[count];
        for (int i = 0; i < count; i++) {
            int from = length * i / count;
            parts[i] = memory.part(from, length * (i + 1) / count - from);
        }
        return parts;
    }

    /** RFC 8267, Section 6.4.2: a Long Call, a Read chunk, a Write chunk and a Reply chunk, 16 segments each, in 4096 bytes. */
    @ParameterizedTest
    @EnumSource
    void servesAllThatAnNfsClientMaySendWithoutKnowingBetter(Network network) {
        try (ServerFixture fixture = new ServerFixture(network)) {
            RawConnection client = fixture.connect();
            byte[] item = sequence(9001);
            RawConnection.Exposed source =
                    client.expose(9001, Access.REMOTE_READ).fill(item);
            // The second item is in the stream, and makes the call long.
            byte[] rpc = call(TestProgram.STORE)
                    .u32(2, 9001, TestProgram.MARK)
                    .opaque(sequence(5001))
                    .u32(TestProgram.MARK)
                    .toBytes();
            RawConnection.Exposed stream =
                    client.expose(rpc.length, Access.REMOTE_READ).fill(rpc);
            RawConnection.Exposed room = client.expose(8000, Access.REMOTE_WRITE);
            RawConnection.Exposed rest = client.expose(8000, Access.REMOTE_WRITE);
            Words header = Words.header(XID, 1, 8, Words.RDMA_NOMSG);
            for (Segment segment : parts(stream, rpc.length, 16)) {
                header.readSegment(0, segment);
            }
            for (Segment segment : parts(source, 9001, 16)) {
                header.readSegment(ITEM_POSITION, segment);
            }
            header.end().chunk(parts(room, 8000, 16)).end().chunk(parts(rest, 8000, 16));
            RawMessage reply = fixture.exchange(client, header);
            assertThat(reply.body()).isEqualTo(Words.reply(XID, 0).u32(2).toBytes());
            assertThat(reply.writeList().getFirst()).hasSize(16).allMatch(segment -> segment.length() == 0);
            assertThat(reply.replyChunk()).hasSize(16).allMatch(segment -> segment.length() == 0);
            assertThat(fixture.program.stored).hasSize(2);
            assertThat(fixture.program.stored.getFirst()).isEqualTo(item);

            byte[] fetch = call(TestProgram.FETCH).u32(2, 8000, 7000).toBytes();
            RawConnection.Exposed longFetch =
                    client.expose(fetch.length, Access.REMOTE_READ).fill(fetch);
            header = Words.header(XID, 1, 8, Words.RDMA_NOMSG);
            for (Segment segment : parts(longFetch, fetch.length, 16)) {
                header.readSegment(0, segment);
            }
            header.end().chunk(parts(room, 8000, 16)).end().chunk(parts(rest, 8000, 16));
            reply = fixture.exchange(client, header);
            assertThat(reply.procedure()).isEqualTo(Words.RDMA_NOMSG);
            assertThat(reply.writeList().getFirst()).containsExactly(parts(room, 8000, 16));
            assertThat(room.bytes()).isEqualTo(sequence(8000));
            byte[] expected = Words.reply(XID, 0)
                    .u32(2, 8000, TestProgram.MARK)
                    .opaque(sequence(7000))
                    .u32(TestProgram.MARK)
                    .toBytes();
            assertThat(Arrays.copyOf(rest.bytes(), expected.length)).isEqualTo(expected);
        }
    }

    /** One call that RPC refuses, and the refusal. */
    private record Bad(String name, Words call, Words reply) {}

    private static List<Bad> badCalls(int program) {
        Words denied = new Words().u32(XID, 1, 1);
        Words bytes = new Words().raw(denied.toBytes());
        return List.of(
                new Bad(
                        "RPC version 3",
                        new Words().u32(XID, 0, 3, program, 2, 1, 0, 0, 0, 0),
                        new Words().u32(XID, 1, 1, 0, 2, 2)),
                new Bad("program", Words.call(XID, 1, 2, 1), Words.reply(XID, 1)),
                new Bad(
                        "version",
                        Words.call(XID, program, 3, 1),
                        Words.reply(XID, 2).u32(2, 4)),
                new Bad("procedure", Words.call(XID, program, 2, 0x8000_0000), Words.reply(XID, 3)),
                new Bad("no argument", Words.call(XID, program, 2, 1), Words.reply(XID, 4)),
                new Bad(
                        "argument out of bounds",
                        Words.call(XID, program, 2, 1).opaque(new byte[17]),
                        Words.reply(XID, 4)),
                new Bad("bytes behind", Words.call(XID, program, 2, 1).u32(0, 0), Words.reply(XID, 4)),
                new Bad(
                        "credential of 404 bytes",
                        new Words()
                                .u32(XID, 0, 2, program, 2, 1, 1)
                                .opaque(new byte[404])
                                .u32(0, 0, 0),
                        bytes.u32(1, 1)),
                new Bad(
                        "unknown flavour",
                        new Words().u32(XID, 0, 2, program, 2, 1, 0x7FFF_FFFF, 0, 0, 0, 0),
                        denied.u32(1, 2)));
    }

    /** RFC 5531, Section 9: inline, as Long Call, and with a Reply chunk, which is not needed. */
    @ParameterizedTest
    @EnumSource
    void answersRpcErrorsInEveryForm(Network network) {
        int program = 0x2000_0077;
        AtomicInteger executed = new AtomicInteger();
        RpcProgram.Builder builder = RpcProgram.program(program, "test").version(4);
        builder.procedure(2, 1, RpcProcedure.of(in -> in.readOpaque(16), (bytes, request, results) -> {
            executed.incrementAndGet();
            results.writeOpaque(bytes);
        }));
        ProgramHandler handler = new ProgramHandler(new ProgramTable(List.of(builder.build())));
        try (ServerFixture fixture = new ServerFixture(network.open(), ServerOptions.DEFAULT, handler)) {
            RawConnection client = fixture.connect();
            for (Bad bad : badCalls(program)) {
                byte[] call = bad.call().toBytes();
                RawConnection.Exposed memory =
                        client.expose(call.length, Access.REMOTE_READ).fill(call);
                RawConnection.Exposed room = client.expose(4096, Access.REMOTE_WRITE);
                List<Words> forms = List.of(
                        Words.inline(XID, 8).raw(call),
                        Words.header(XID, 1, 8, Words.RDMA_NOMSG)
                                .readSegment(0, memory.segment())
                                .end()
                                .end()
                                .end(),
                        Words.header(XID, 1, 8, Words.RDMA_MSG)
                                .end()
                                .end()
                                .chunk(room.segment())
                                .raw(call));
                for (Words form : forms) {
                    RawMessage reply = fixture.exchange(client, form);
                    assertThat(reply.xid()).isEqualTo(XID);
                    assertThat(Words.format(reply.body()))
                            .as(bad.name())
                            .isEqualTo(bad.reply().toString());
                }
            }
            assertThat(executed).hasValue(0);
            Words good = Words.call(XID, program, 2, 1).opaque((byte) 1, (byte) 2);
            assertThat(fixture.exchange(client, Words.inline(XID, 8).add(good)).body())
                    .isEqualTo(Words.reply(XID, 0).opaque((byte) 1, (byte) 2).toBytes());
            assertNullReply(fixture.exchange(client, Words.inline(XID, 8).add(Words.call(XID, program, 2, 0))), XID);
        }
    }

    /** RFC 8167, Section 5.1, and RFC 8166, Section 4.2.1: what a program gives is held against what its message must be. */
    @ParameterizedTest
    @EnumSource
    void refusesRepliesOfAnotherXidAndReverseMessagesThatAreNoCall(Network network) {
        HeldRequests held = new HeldRequests();
        try (ServerFixture fixture = new ServerFixture(network.open(), ServerOptions.DEFAULT, held)) {
            RawConnection client = fixture.connect();
            ReverseClient reverse = enabled(fixture, client, held);
            MemorySegment noCall = MemorySegment.ofArray(
                    new Words().u32(99, 1, 2, CALLBACK, 1, 0, 0, 0, 0, 0).toBytes());
            assertThatThrownBy(() -> reverse.call(noCall, LONG)).isInstanceOf(IllegalArgumentException.class);
            client.send(nullCall(7));
            fixture.await("the call is there", () -> held.size() == 1);
            ServerRequest request = held.take();
            MemorySegment other = MemorySegment.ofArray(Words.reply(8, 0).toBytes());
            assertThatThrownBy(() -> request.reply(new ReplyPieces().data(other)))
                    .isInstanceOf(IllegalArgumentException.class);
            fixture.rig.settle();
            assertThat(client.messageCount()).isEqualTo(1);
            HeldRequests.answer(request);
            fixture.await("the call is answered", () -> client.messageCount() == 2);
            assertNullReply(client.message(1), 7);
        }
    }
}
