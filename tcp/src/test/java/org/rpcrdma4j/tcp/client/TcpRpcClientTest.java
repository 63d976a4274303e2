// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.tcp.TestPrograms;
import org.rpcrdma4j.tcp.server.TcpRpcServer;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.client.TransportException;
import org.rpcrdma4j.transport.rpc.RpcException;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.ulb.ResultLimits;
import org.rpcrdma4j.transport.xdr.XdrReader;

class TcpRpcClientTest {

    private final TestPrograms programs = new TestPrograms();
    private TcpRpcServer server;
    private TcpRpcClient client;

    @BeforeEach
    void start() throws IOException {
        server = TcpRpcServer.builder(programs.table()).start();
        client = TcpRpcClient.builder(server.localAddress())
                .bindings(Bindings.nfs(ResultLimits.DEFAULT))
                .build();
    }

    @AfterEach
    void stop() {
        programs.gate.countDown();
        client.close();
        server.close();
    }

    private Reply await(CompletableFuture<Reply> pending)
            throws InterruptedException, ExecutionException, TimeoutException {
        try {
            return pending.get(30, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new TimeoutException(client + ", " + server.describe());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3, 4, 100, 127, 128, 129, 16_384, 100_001, 1 << 20, (1 << 20) + 3})
    void aReadResultGoesToItsTargetAndNothingElseOfTheReplyDoes(int count) throws Exception {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment target = arena.allocate(count + 16L).fill((byte) 0x55);
            CallMessage call = TestPrograms.readCall(client.nextXid(), 12, count)
                    .target(target.asSlice(0, count / 3), target.asSlice(count / 3, count - count / 3 + 8))
                    .build();
            Reply reply = client.call(call);

            assertThat(reply.placedBytes()).isEqualTo(count);
            assertThat(reply.transmissions()).isEqualTo(1);
            assertThat(TestPrograms.isFilled(target.asSlice(0, count), 12)).isTrue();
            assertThat(target.asSlice(count).mismatch(arena.allocate(16).fill((byte) 0x55)))
                    .isEqualTo(-1);
            XdrReader results = TestPrograms.results(reply, call);
            assertThat(results.readInt()).isZero();
            assertThat(results.readBool()).isFalse();
            assertThat(results.readInt()).isEqualTo(count);
            assertThat(results.readBool()).isTrue();
            assertThat(results.readInt()).isEqualTo(count);
            assertThat(results.remaining()).isZero();
            assertThat(client.counters().get(TcpClientCounter.BYTES_PLACED)).isEqualTo(count);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 1000, 300_001, 1 << 20})
    void anItemIsWrittenFromItsPiecesWithItsPad(int count) throws Exception {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment data = arena.allocate(Math.max(1, count)).asSlice(0, count);
            TestPrograms.fill(data, 77);
            MemorySegment heap = MemorySegment.ofArray(new byte[count / 2]).copyFrom(data.asSlice(0, count / 2));
            CallMessage call = TestPrograms.writeCall(client.nextXid(), 77, heap, data.asSlice(count / 2))
                    .build();
            XdrReader results = TestPrograms.results(client.call(call), call);
            results.skip(12);
            assertThat(results.readInt()).isEqualTo(count);
            assertThat(programs.writtenBytes).isEqualTo(count);
            assertThat(programs.writtenRight).isTrue();
        }
    }

    @Test
    void anErrorOfTheRpcLayerLeavesTheTargetAlone() throws Exception {
        CallMessage call = TestPrograms.readCall(client.nextXid(), 0, 5)
                .target(MemorySegment.ofArray(new byte[8]))
                .build();
        call.head().set(java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED, 20, 0x0100_0000);
        Reply reply = client.call(call);
        assertThat(reply.placedBytes()).isZero();
        assertThatThrownBy(() -> TestPrograms.results(reply, call))
                .isInstanceOf(RpcException.ProcedureUnavailable.class);
    }

    @Test
    void aResultThatDoesNotFitItsTargetIsABadReplyAndTheConnectionGoesOn() throws Exception {
        MemorySegment target = MemorySegment.ofArray(new byte[99]);
        assertThatThrownBy(() -> client.call(TestPrograms.readCall(client.nextXid(), 0, 100)
                        .target(target)
                        .build()))
                .isInstanceOfSatisfying(
                        TransportException.class,
                        e -> assertThat(e.kind()).isEqualTo(TransportException.Kind.BAD_REPLY));
        assertThat(client.call(TestPrograms.readCall(client.nextXid(), 0, 99)
                                .target(target)
                                .build())
                        .placedBytes())
                .isEqualTo(99);
        assertThat(client.counters().get(TcpClientCounter.CONNECTS)).isEqualTo(1);
    }

    @Test
    void withoutATargetTheResultStaysInTheMessage() throws Exception {
        CallMessage call = TestPrograms.readCall(client.nextXid(), 3, 50_001).build();
        Reply reply = client.call(call);
        assertThat(reply.placedBytes()).isZero();
        XdrReader results = TestPrograms.results(reply, call);
        results.skip(16);
        assertThat(TestPrograms.isFilled(results.readOpaque(50_001), 3)).isTrue();
    }

    @Test
    void theReplyLiesInTheCallersBufferIfItFits() throws Exception {
        MemorySegment buffer = MemorySegment.ofArray(new byte[2000]);
        Reply reply = client.call(TestPrograms.echoCall(client.nextXid(), new byte[100])
                .replyBuffer(buffer)
                .build());
        assertThat(reply.message().heapBase()).isEqualTo(buffer.heapBase());
        assertThat(reply.messageBytes()).isEqualTo(128);
    }

    @Test
    void manyCallsAreInFlightAndTheirRepliesComeInAnyOrder() throws Exception {
        CompletableFuture<Reply> slow =
                client.send(TestPrograms.waitCall(client.nextXid()).build());
        List<CallMessage> calls = new ArrayList<>();
        List<CompletableFuture<Reply>> replies = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            calls.add(TestPrograms.echoCall(client.nextXid(), new byte[i]).build());
            replies.add(client.send(calls.getLast()));
        }
        for (int i = 0; i < 1000; i++) {
            assertThat(TestPrograms.results(await(replies.get(i)), calls.get(i)).readInt())
                    .isEqualTo(i);
        }
        assertThat(slow).isNotDone();
        programs.gate.countDown();
        await(slow);
    }

    @Test
    void lentResultsAreReleasedOnceTheyWereWritten() throws Exception {
        for (int i = 0; i < 20; i++) {
            CallMessage call = TestPrograms.lentCall(client.nextXid(), 100_001).build();
            XdrReader results = TestPrograms.results(client.call(call), call);
            assertThat(TestPrograms.isFilled(results.readOpaque(100_001), 0)).isTrue();
        }
        client.close();
        server.close();
        assertThat(programs.released).hasValue(20);
    }

    @Test
    void aCallEndsAtItsDeadlineAndItsLateReplyIsPassedOver() throws Exception {
        CallMessage call = TestPrograms.waitCall(client.nextXid())
                .timeout(Duration.ofMillis(50))
                .build();
        assertThatThrownBy(() -> client.call(call)).isInstanceOfSatisfying(TransportException.class, e -> {
            assertThat(e.kind()).isEqualTo(TransportException.Kind.TIMED_OUT);
            assertThat(e.undecided()).isTrue();
        });
        assertThatThrownBy(() -> client.send(call)).isInstanceOf(IllegalArgumentException.class);
        programs.gate.countDown();
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (client.counters().get(TcpClientCounter.UNKNOWN_REPLIES) == 0) {
            assertThat(System.nanoTime()).as("%s", client).isLessThan(end);
            await(client.send(
                    TestPrograms.echoCall(client.nextXid(), new byte[1]).build()));
        }
        CallMessage again = TestPrograms.waitCall(call.xid()).build();
        assertThat(client.call(again).transmissions()).isEqualTo(1);
    }

    @Test
    void aCancelledCallEndsAsCancelled() throws Exception {
        CompletableFuture<Reply> pending =
                client.send(TestPrograms.waitCall(client.nextXid()).build());
        await(client.send(TestPrograms.echoCall(client.nextXid(), new byte[1]).build()));
        assertThat(pending.cancel(true)).isTrue();
        assertThat(pending).isCancelled();
        assertThat(pending.cancel(true)).isFalse();
    }

    @Test
    void aSecondCallOfTheSameXidIsRefused() {
        CallMessage call = TestPrograms.waitCall(client.nextXid()).build();
        var _ = client.send(call);
        assertThatThrownBy(() -> client.send(call)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void memoryOfOneThreadFailsItsCallAlone() throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            CallMessage call = TestPrograms.readCall(client.nextXid(), 0, 5)
                    .target(arena.allocate(8))
                    .build();
            assertThatThrownBy(() -> client.call(call))
                    .isInstanceOfSatisfying(
                            TransportException.class,
                            e -> assertThat(e.kind()).isEqualTo(TransportException.Kind.REGISTRATION_FAILED));
        }
        assertThat(client.call(TestPrograms.echoCall(client.nextXid(), new byte[1])
                                .build())
                        .messageBytes())
                .isEqualTo(32);
    }

    @Test
    void tooLongAMessageIsNotSent() throws Exception {
        try (TcpRpcClient small =
                TcpRpcClient.builder(server.localAddress()).maxRecordBytes(2000).build()) {
            assertThatThrownBy(() ->
                            small.call(TestPrograms.echoCall(1, new byte[2000]).build()))
                    .isInstanceOfSatisfying(
                            TransportException.class,
                            e -> assertThat(e.kind()).isEqualTo(TransportException.Kind.MESSAGE_TOO_LONG));
        }
    }

    @Test
    void withTheQueueFullACallFailsAtOnce() throws Exception {
        try (TcpRpcClient small = TcpRpcClient.builder(server.localAddress())
                .maxInFlight(1)
                .maxQueued(2)
                .build()) {
            List<CompletableFuture<Reply>> all = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                all.add(small.send(TestPrograms.waitCall(small.nextXid()).build()));
            }
            assertThat(all.getLast()).isCompletedExceptionally();
            assertThat(all.subList(0, 2)).noneMatch(CompletableFuture::isDone);
        }
    }

    @Test
    void closingFailsWhatIsUnderWayAndWhatComesLater() throws Exception {
        CompletableFuture<Reply> pending =
                client.send(TestPrograms.waitCall(client.nextXid()).build());
        client.close();
        for (CompletableFuture<Reply> failed : List.of(
                pending, client.send(TestPrograms.waitCall(client.nextXid()).build()))) {
            assertThatThrownBy(() -> await(failed))
                    .hasCauseInstanceOf(TransportException.class)
                    .hasMessageContaining("closed");
        }
        assertThat(client.toString()).contains("0 calls wait, 0 in flight");
    }
}
