// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.transport.rpc.ProgramTable.Outcome;
import org.rpcrdma4j.transport.xdr.Pieces;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** Calls that come again (RFC 5531, Section 5). */
class ReplyCacheTest {

    private static final int PROGRAM = 0x2000_0077;
    /** Returns how often it ran, and its argument as an item. */
    private static final int COUNT = 1;

    private static final int PLAIN = 2;
    private static final int FAIL = 3;
    private static final int LONG = 4;
    /** Runs until the gate is open. */
    private static final int SLOW = 5;

    private static final Credential ANNA = new Credential.Sys(1, "host", 1000, 100, List.of());
    private static final Credential BERT = new Credential.Sys(1, "host", 1001, 100, List.of());

    private final AtomicInteger runs = new AtomicInteger();
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch gate = new CountDownLatch(1);
    private final RpcProgram program = RpcProgram.program(PROGRAM, "counter")
            .once(1, COUNT, request -> {
                MemorySegment argument = request.arguments().readOpaque(1 << 20);
                request.endOfArguments();
                request.results().writeInt(runs.incrementAndGet());
                request.results().writeItem(argument);
                request.results().writeInt(7);
            })
            .procedure(1, PLAIN, request -> request.results().writeInt(runs.incrementAndGet()))
            .once(1, FAIL, request -> {
                runs.incrementAndGet();
                throw new IllegalStateException("on purpose");
            })
            .once(1, LONG, request -> {
                runs.incrementAndGet();
                request.results().writeOpaque(new byte[ReplyCache.MAX_REPLY_BYTES]);
            })
            .once(1, SLOW, request -> {
                runs.incrementAndGet();
                begun.countDown();
                assertThat(gate.await(30, TimeUnit.SECONDS)).isTrue();
                request.results().writeInt(42);
            })
            .build();

    private record From(
            InetSocketAddress remoteAddress, @Nullable Consumer<XdrWriter> later) implements CallContext {

        @Override
        public MemorySegment allocate(long bytes) {
            throw new IllegalStateException("the connection has ended");
        }

        @Override
        public void whenReleased(Runnable task) {
            task.run();
        }

        @Override
        public @Nullable Consumer<XdrWriter> answerLater() {
            return later;
        }
    }

    private static From host(int number, int port) {
        try {
            InetAddress address = InetAddress.getByAddress(new byte[] {10, 0, (byte) (number >> 8), (byte) number});
            return new From(new InetSocketAddress(address, port), null);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    private ProgramTable table(ReplyCache cache) {
        return new ProgramTable(List.of(program), cache);
    }

    private static byte[] call(int xid, int procedure, Credential credential, byte... argument) {
        XdrWriter out = new XdrWriter();
        new CallHeader(xid, PROGRAM, 1, procedure, credential).encode(out);
        if (procedure == COUNT) {
            out.writeOpaque(argument);
        }
        return out.toByteArray();
    }

    private static byte[] answer(ProgramTable table, From from, byte... message) {
        return answer(table, from, List.of(MemorySegment.ofArray(message)));
    }

    private static byte[] answer(ProgramTable table, From from, List<MemorySegment> message) {
        XdrWriter reply = new XdrWriter();
        assertThat(table.dispatch(new RpcRequest(new XdrReader(message), reply, from)))
                .isEqualTo(Outcome.REPLIED);
        return reply.toByteArray();
    }

    @Test
    void aCallThatComesAgainFromAnyPortIsAnsweredWithTheSameBytesAndRunsOnce() {
        ReplyCache cache = new ReplyCache();
        ProgramTable table = table(cache);
        byte[] call = call(5, COUNT, ANNA, (byte) 1, (byte) 2, (byte) 3, (byte) 4, (byte) 5);
        byte[] first = answer(table, host(1, 700), call);
        for (int port = 700; port < 703; port++) {
            assertThat(answer(table, host(1, port), call)).isEqualTo(first);
        }
        assertThat(runs).hasValue(1);
        assertThat(cache.statistics().misses()).isEqualTo(1);
        assertThat(cache.statistics().hits()).isEqualTo(3);
        assertThat(cache.statistics().calls()).isEqualTo(1);
        assertThat(cache.statistics().bytes()).isEqualTo(first.length);
        assertThat(cache.toString()).contains("hits=3");
    }

    @Test
    void aCallIsKnownHoweverItsMessageIsCut() {
        ProgramTable table = table(new ReplyCache());
        byte[] argument = new byte[2000];
        byte[] call = call(5, COUNT, ANNA, argument);
        byte[] first = answer(table, host(1, 1), call);
        for (int cut = 0; cut < call.length; cut += 13) {
            assertThat(answer(table, host(1, 1), Pieces.at(call, cut))).isEqualTo(first);
        }
        assertThat(runs).hasValue(1);
    }

    @Test
    void theItemsOfARecordedReplyAreItemsAgain() {
        ProgramTable table = table(new ReplyCache());
        byte[] call = call(5, COUNT, ANNA, (byte) 9, (byte) 8, (byte) 7);
        for (int i = 0; i < 2; i++) {
            XdrWriter reply = new XdrWriter();
            table.dispatch(new RpcRequest(new XdrReader(MemorySegment.ofArray(call)), reply, host(1, i)));
            assertThat(reply.items()).isEqualTo(1);
            assertThat(reply.itemPosition(0)).isEqualTo(32);
            List<MemorySegment> item = new ArrayList<>();
            reply.itemPieces(0, item);
            assertThat(item).hasSize(1);
            assertThat(item.getFirst().mismatch(MemorySegment.ofArray(new byte[] {9, 8, 7})))
                    .isEqualTo(-1);
            assertThat(reply.part(1).byteSize()).isEqualTo(4);
        }
    }

    @Test
    void whatDiffersInHostXidProcedureCallerOrArgumentsIsAnotherCall() {
        ProgramTable table = table(new ReplyCache());
        byte[] argument = new byte[100];
        answer(table, host(1, 1), call(5, COUNT, ANNA, argument));
        answer(table, host(2, 1), call(5, COUNT, ANNA, argument));
        answer(table, host(1, 1), call(6, COUNT, ANNA, argument));
        answer(table, host(1, 1), call(5, COUNT, BERT, argument));
        answer(table, host(1, 1), call(5, COUNT, ANNA, new byte[104]));
        argument[99] = 1;
        answer(table, host(1, 1), call(5, COUNT, ANNA, argument));
        assertThat(runs).hasValue(6);
    }

    @Test
    void procedureThatMayRunTwiceAndATableWithoutCacheRunEveryCall() {
        ProgramTable cached = table(new ReplyCache());
        answer(cached, host(1, 1), call(5, PLAIN, ANNA));
        answer(cached, host(1, 1), call(5, PLAIN, ANNA));
        ProgramTable without = new ProgramTable(List.of(program));
        answer(without, host(1, 1), call(5, COUNT, ANNA));
        answer(without, host(1, 1), call(5, COUNT, ANNA));
        assertThat(runs).hasValue(4);
    }

    @Test
    void theFailureOfACallIsRecordedToo() throws Exception {
        ProgramTable table = table(new ReplyCache());
        byte[] first = answer(table, host(1, 1), call(5, FAIL, ANNA));
        assertThat(ReplyHeader.decode(new XdrReader(MemorySegment.ofArray(first))))
                .isEqualTo(ReplyHeader.of(5, AcceptStatus.SYSTEM_ERR));
        assertThat(answer(table, host(1, 2), call(5, FAIL, ANNA))).isEqualTo(first);
        assertThat(runs).hasValue(1);
    }

    @Test
    void aCallerThatIsRefusedGetsNoRecordedReply() throws Exception {
        ReplyCache cache = new ReplyCache();
        ProgramTable open = table(cache);
        ProgramTable closed = new ProgramTable(
                List.of(RpcProgram.program(PROGRAM, "closed")
                        .authenticator((call, credential) -> AuthStatus.AUTH_TOOWEAK)
                        .once(1, COUNT, request -> request.results().writeInt(1))
                        .build()),
                cache);
        byte[] call = call(5, COUNT, ANNA, (byte) 1);
        answer(open, host(1, 1), call);
        assertThat(ReplyHeader.decode(new XdrReader(MemorySegment.ofArray(answer(closed, host(1, 1), call)))))
                .isEqualTo(new ReplyHeader.AuthError(5, AuthStatus.AUTH_TOOWEAK));
    }

    @Test
    void longRepliesAreCountedAndNotKept() {
        ReplyCache cache = new ReplyCache();
        ProgramTable table = table(cache);
        answer(table, host(1, 1), call(5, LONG, ANNA));
        answer(table, host(1, 1), call(5, LONG, ANNA));
        assertThat(runs).hasValue(2);
        assertThat(cache.statistics().tooLong()).isEqualTo(2);
        assertThat(cache.statistics().calls()).isZero();
        assertThat(cache.statistics().bytes()).isZero();
    }

    @Test
    void duplicatesOfARunningCallWaitAndGetItsReply() throws Exception {
        ReplyCache cache = new ReplyCache();
        ProgramTable table = table(cache);
        byte[] call = call(5, SLOW, ANNA);
        CompletableFuture<byte[]> first = CompletableFuture.supplyAsync(() -> answer(table, host(1, 1), call));
        assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
        List<byte[]> later = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            From from = new From(host(1, 2 + i).remoteAddress(), reply -> later.add(reply.toByteArray()));
            XdrWriter reply = new XdrWriter();
            assertThat(table.dispatch(new RpcRequest(new XdrReader(MemorySegment.ofArray(call)), reply, from)))
                    .isEqualTo(Outcome.ANSWERED_LATER);
            assertThat(reply.position()).isZero();
        }
        CompletableFuture<byte[]> blocked = CompletableFuture.supplyAsync(() -> answer(table, host(1, 9), call));
        assertThat(later).isEmpty();
        gate.countDown();
        byte[] reply = first.get(30, TimeUnit.SECONDS);
        assertThat(blocked.get(30, TimeUnit.SECONDS)).isEqualTo(reply);
        assertThat(later).hasSize(5).allSatisfy(bytes -> assertThat(bytes).isEqualTo(reply));
        assertThat(runs).hasValue(1);
        assertThat(cache.statistics().failedWaits()).isZero();
    }

    @Test
    void aDuplicateThatWaitsTooLongOrIsOneTooManyFails() throws Exception {
        ReplyCache cache = new ReplyCache(10, 1000, 1);
        ProgramTable table = table(cache);
        byte[] call = call(5, SLOW, ANNA);
        CompletableFuture<byte[]> first = CompletableFuture.supplyAsync(() -> answer(table, host(1, 1), call));
        assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
        ReplyHeader failure = ReplyHeader.of(5, AcceptStatus.SYSTEM_ERR);
        assertThat(ReplyHeader.decode(new XdrReader(MemorySegment.ofArray(answer(table, host(1, 1), call)))))
                .isEqualTo(failure);
        List<byte[]> later = new ArrayList<>();
        for (int i = 0; i <= ReplyCache.MAX_WAITING; i++) {
            table.dispatch(new RpcRequest(
                    new XdrReader(MemorySegment.ofArray(call)),
                    new XdrWriter(),
                    new From(host(1, 1).remoteAddress(), reply -> later.add(reply.toByteArray()))));
        }
        assertThat(later).hasSize(1);
        assertThat(ReplyHeader.decode(new XdrReader(MemorySegment.ofArray(later.getFirst()))))
                .isEqualTo(failure);
        assertThat(cache.statistics().failedWaits()).isEqualTo(2);
        gate.countDown();
        first.get(30, TimeUnit.SECONDS);
        assertThat(later).hasSize(1 + ReplyCache.MAX_WAITING);
        assertThat(runs).hasValue(1);
    }

    @Test
    void runningCallsAreNotPushedOutByAFloodAndOthersDoNotCount() throws Exception {
        ReplyCache cache = new ReplyCache(64, 1 << 20);
        ProgramTable table = table(cache);
        byte[] slow = call(5, SLOW, ANNA);
        CompletableFuture<byte[]> first = CompletableFuture.supplyAsync(() -> answer(table, host(1, 1), slow));
        assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
        byte[] mine = answer(table, host(1, 1), call(6, COUNT, ANNA));
        for (int i = 0; i < 100_000; i++) {
            table.dispatch(new RpcRequest(
                    new XdrReader(MemorySegment.ofArray(call(100 + i, PLAIN, BERT))), new XdrWriter(), host(1, 1)));
        }
        assertThat(cache.statistics().calls()).isEqualTo(2);
        assertThat(answer(table, host(1, 1), call(6, COUNT, ANNA))).isEqualTo(mine);
        for (int i = 0; i < 1000; i++) {
            answer(table, host(1, 1), call(100 + i, COUNT, BERT));
            assertThat(cache.statistics().calls()).isLessThanOrEqualTo(64);
        }
        int before = runs.get();
        List<byte[]> later = new ArrayList<>();
        table.dispatch(new RpcRequest(
                new XdrReader(MemorySegment.ofArray(slow)),
                new XdrWriter(),
                new From(host(1, 1).remoteAddress(), reply -> later.add(reply.toByteArray()))));
        gate.countDown();
        assertThat(first.get(30, TimeUnit.SECONDS)).isEqualTo(later.getFirst());
        assertThat(runs).hasValue(before);
    }

    @Test
    void oneHostCannotPushOutWhatOthersNeed() {
        ReplyCache cache = new ReplyCache(100, 1 << 20);
        ProgramTable table = table(cache);
        for (int host = 2; host < 10; host++) {
            for (int xid = 0; xid < 5; xid++) {
                answer(table, host(host, 1), call(xid, COUNT, ANNA));
            }
        }
        for (int xid = 0; xid < 5000; xid++) {
            answer(table, host(1, 1), call(xid, COUNT, ANNA));
        }
        long hits = cache.statistics().hits();
        int before = runs.get();
        for (int host = 2; host < 10; host++) {
            for (int xid = 0; xid < 5; xid++) {
                answer(table, host(host, 2), call(xid, COUNT, ANNA));
            }
        }
        assertThat(runs).hasValue(before);
        assertThat(cache.statistics().hits() - hits).isEqualTo(40);
        // The newest of the flood are there too.
        answer(table, host(1, 1), call(4999, COUNT, ANNA));
        assertThat(runs).hasValue(before);
        assertThat(cache.statistics().evictions()).isEqualTo(5000 - 60);
    }

    @Test
    void theReplyThatWasUsedLongestAgoGoesFirstAndBytesAreBounded() {
        ReplyCache cache = new ReplyCache(1000, 3000);
        ProgramTable table = table(cache);
        byte[] argument = new byte[800];
        for (int xid = 0; xid < 3; xid++) {
            answer(table, host(1, 1), call(xid, COUNT, ANNA, argument));
        }
        answer(table, host(1, 1), call(0, COUNT, ANNA, argument));
        answer(table, host(1, 1), call(3, COUNT, ANNA, argument));
        assertThat(cache.statistics().calls()).isEqualTo(3);
        assertThat(cache.statistics().bytes()).isLessThanOrEqualTo(3000);
        assertThat(runs).hasValue(4);
        answer(table, host(1, 1), call(0, COUNT, ANNA, argument));
        assertThat(runs).hasValue(4);
        answer(table, host(1, 1), call(1, COUNT, ANNA, argument));
        assertThat(runs).hasValue(5);
        // A reply that the whole cache could not hold pushes nothing out.
        answer(table, host(1, 1), call(9, COUNT, ANNA, new byte[3500]));
        assertThat(cache.statistics().calls()).isEqualTo(3);
    }

    @Test
    void aCallBeyondTheRunningOnesRunsWithoutBeingRemembered() throws Exception {
        ReplyCache cache = new ReplyCache(1, 1000);
        ProgramTable table = table(cache);
        CompletableFuture<byte[]> first =
                CompletableFuture.supplyAsync(() -> answer(table, host(1, 1), call(5, SLOW, ANNA)));
        assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
        answer(table, host(2, 1), call(6, COUNT, ANNA));
        answer(table, host(2, 1), call(6, COUNT, ANNA));
        assertThat(runs).hasValue(3);
        assertThat(cache.statistics().notAdmitted()).isEqualTo(2);
        gate.countDown();
        first.get(30, TimeUnit.SECONDS);
        answer(table, host(1, 1), call(5, SLOW, ANNA));
        assertThat(runs).hasValue(3);
    }

    /** Every connection sends every call, in an order of its own; some meet the call while it runs. */
    @Test
    void callsThatComeByManyConnectionsAtOnceRunOnceEach() throws Exception {
        int connections = 6;
        int calls = 1500;
        ProgramTable table = table(new ReplyCache());
        List<CompletableFuture<List<byte[]>>> all = new ArrayList<>();
        for (int connection = 0; connection < connections; connection++) {
            From from = host(1, connection);
            int first = connection % 2 == 0 ? 0 : calls - 1;
            int step = connection % 2 == 0 ? 1 : -1;
            all.add(CompletableFuture.supplyAsync(() -> {
                List<byte[]> replies = new ArrayList<>();
                for (int i = 0; i < calls; i++) {
                    replies.add(answer(table, from, call(first + step * i, COUNT, ANNA, (byte) (first + step * i))));
                }
                return step > 0 ? replies : replies.reversed();
            }));
        }
        List<byte[]> expected = all.getFirst().get(60, TimeUnit.SECONDS);
        for (CompletableFuture<List<byte[]>> replies : all) {
            assertThat(replies.get(60, TimeUnit.SECONDS)).containsExactlyElementsOf(expected);
        }
        assertThat(runs).hasValue(calls);
    }

    @Test
    void aCacheThatHoldsNoCallIsRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> new ReplyCache(0, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> new ReplyCache(1, -1));
    }
}
