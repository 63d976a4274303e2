// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.client.PendingReply;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.client.RpcRdmaClient;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.Words;

/** Server and client of this library together. */
class ServerWithClientTest {

    private static final Duration LONG = Duration.ofSeconds(60);

    private static RpcRdmaClient client(ServerFixture fixture) {
        return builder(fixture).build();
    }

    private static RpcRdmaClient.Builder builder(ServerFixture fixture) {
        RpcRdmaClient.Builder builder = RpcRdmaClient.builder(fixture.rig.clientDevice(), fixture.address())
                .maxPayloadBytes(16 << 20)
                .maxSegments(32)
                .time(fixture.rig.time())
                .worker(fixture.rig.worker());
        if (fixture.rig.isSimulated()) {
            builder.callbacks(Runnable::run);
        }
        return builder;
    }

    private static void close(ServerFixture fixture, RpcRdmaClient client) {
        CompletableFuture<Void> end = client.closeAsync();
        fixture.await("the client is closed", end::isDone);
    }

    private static Reply await(ServerFixture fixture, PendingReply pending) {
        fixture.await("the call has ended", pending::isDone);
        return pending.join();
    }

    private static MemorySegment head(RpcRdmaClient client, int procedure, int... arguments) {
        return MemorySegment.ofArray(
                TestProgram.call(client.nextXid(), procedure).u32(arguments).toBytes());
    }

    @ParameterizedTest
    @EnumSource
    void carriesNullCallsAtFullDepth(Network network) {
        try (ServerFixture fixture = new ServerFixture(network)) {
            RpcRdmaClient client = client(fixture);
            List<PendingReply> pending = new ArrayList<>();
            for (int i = 0; i < 1000; i++) {
                pending.add(client.send(CallMessage.builder(head(client, TestProgram.NULL))
                        .timeout(LONG)
                        .build()));
            }
            for (PendingReply reply : pending) {
                assertThat(await(fixture, reply).message().byteSize()).isEqualTo(24);
            }
            close(fixture, client);
            assertThat(fixture.count(ServerCounter.CALLS)).isEqualTo(1000);
            assertThat(fixture.count(ServerCounter.BAD_CALLS)).isZero();
            assertThat(fixture.count(ServerCounter.CREDIT_OVERRUNS)).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void carriesPayloadsOfEverySizeBothWays(Network network) {
        ServerOptions options =
                ServerOptions.builder().maxPayloadBytes(16 << 20).build();
        try (ServerFixture fixture = new ServerFixture(network, options);
                Arena arena = Arena.ofShared()) {
            RpcRdmaClient client = client(fixture);
            for (int size : new int[] {1, 67, 4096, 4097, 65_536, 1 << 20, 16 << 20}) {
                byte[] data = TestProgram.result(size);
                MemorySegment memory = arena.allocate(size, 4096).copyFrom(MemorySegment.ofArray(data));
                Reply stored = await(
                        fixture,
                        client.send(CallMessage.builder(head(client, TestProgram.STORE, 1, size))
                                .item(memory)
                                .tail(MemorySegment.ofArray(
                                        new Words().u32(TestProgram.MARK).toBytes()))
                                .timeout(LONG)
                                .build()));
                assertThat(stored.message().byteSize()).isEqualTo(28);
                assertThat(Arrays.equals(fixture.program.stored.getLast(), data))
                        .isTrue();
                fixture.program.stored.clear();
                memory.fill((byte) 0);
                Reply fetched = await(
                        fixture,
                        client.send(CallMessage.builder(head(client, TestProgram.FETCH, 1, size))
                                .target(memory)
                                .timeout(LONG)
                                .build()));
                assertThat(fetched.placedBytes()).isEqualTo(size);
                assertThat(Arrays.equals(memory.toArray(ValueLayout.JAVA_BYTE), data))
                        .isTrue();
            }
            assertThat(client.counters().get(ClientCounter.REMOTE_INVALIDATIONS))
                    .isPositive();
            close(fixture, client);
        }
    }

    @ParameterizedTest
    @EnumSource
    void carriesLongCallsAndLongReplies(Network network) {
        try (ServerFixture fixture = new ServerFixture(network)) {
            RpcRdmaClient client = client(fixture);
            for (int size : new int[] {100, 4000, 4001, 50_003, 1_000_000}) {
                Words call =
                        TestProgram.call(client.nextXid(), TestProgram.ECHO).opaque(TestProgram.result(size));
                Reply reply = await(
                        fixture,
                        client.send(CallMessage.builder(MemorySegment.ofArray(call.toBytes()))
                                .maxReplyBytes(size + 64)
                                .timeout(LONG)
                                .build()));
                assertThat(reply.message().toArray(ValueLayout.JAVA_BYTE))
                        .isEqualTo(Words.reply(reply.xid(), 0)
                                .opaque(TestProgram.result(size))
                                .toBytes());
            }
            assertThat(fixture.count(ServerCounter.NOMSG_REPLIES)).isPositive();
            close(fixture, client);
        }
    }

    @ParameterizedTest
    @EnumSource
    void losesNoReplyWhenTheServerEndsUnderLoad(Network network) {
        // U59: what is answered arrives whole; what is not is reported as failed.
        ServerFixture fixture = new ServerFixture(network);
        RpcRdmaClient client = client(fixture);
        try (Arena arena = Arena.ofShared()) {
            List<PendingReply> pending = new ArrayList<>();
            List<MemorySegment> targets = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                MemorySegment target = arena.allocate(30_000, 8);
                targets.add(target);
                pending.add(client.send(CallMessage.builder(head(client, TestProgram.FETCH, 1, 30_000))
                        .target(target)
                        .timeout(Duration.ofSeconds(3))
                        .build()));
            }
            fixture.await("some are answered", () -> pending.get(20).isDone());
            CompletableFuture<Void> end = fixture.server.shutdown(ServerFixture.GRACE);
            fixture.await("the server is closed", end::isDone);
            fixture.rig.advance(Duration.ofSeconds(10));
            fixture.await("all calls have ended", () -> pending.stream().allMatch(PendingReply::isDone));
            byte[] data = TestProgram.result(30_000);
            int answered = 0;
            for (int i = 0; i < 200; i++) {
                if (!pending.get(i).isCompletedExceptionally()) {
                    answered++;
                    assertThat(pending.get(i).join().placedBytes()).isEqualTo(30_000);
                    assertThat(Arrays.equals(targets.get(i).toArray(ValueLayout.JAVA_BYTE), data))
                            .isTrue();
                }
            }
            assertThat((long) answered).isEqualTo(fixture.count(ServerCounter.REPLIES));
            close(fixture, client);
        }
        fixture.close();
    }

    @ParameterizedTest
    @EnumSource
    void callsBackWhileForwardCallsGoOn(Network network) {
        HeldRequests held = new HeldRequests();
        try (ServerFixture fixture = new ServerFixture(network.open(), ServerOptions.DEFAULT, held)) {
            RpcRdmaClient client = builder(fixture)
                    .reverseHandler(
                            call -> call.reply(MemorySegment.ofArray(Words.reply(call.xid(), 0)
                                    .u32(TestProgram.MARK)
                                    .toBytes())),
                            4)
                    .build();
            List<PendingReply> forward = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                forward.add(client.send(CallMessage.builder(head(client, TestProgram.NULL))
                        .timeout(LONG)
                        .build()));
            }
            fixture.await("a forward call is there", () -> held.size() > 0);
            ServerRequest first = held.take();
            ReverseClient reverse = first.reverse();
            reverse.enable();
            List<CompletableFuture<MemorySegment>> back = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                back.add(reverse.call(
                        MemorySegment.ofArray(
                                Words.call(0, 0x4000_0000, 1, 1).u32(i).toBytes()),
                        LONG));
            }
            fixture.await("all reverse calls are answered", () -> back.stream().allMatch(CompletableFuture::isDone));
            for (CompletableFuture<MemorySegment> reply : back) {
                assertThat(reply.join().byteSize()).isEqualTo(28);
            }
            HeldRequests.answer(first);
            fixture.await("all forward calls are answered", () -> {
                held.answerAll();
                return forward.stream().allMatch(PendingReply::isDone);
            });
            assertThat(forward).allMatch(reply -> !reply.isCompletedExceptionally());
            close(fixture, client);
        }
    }
}
