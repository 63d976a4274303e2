// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.rpcrdma4j.transport.rpc.CountedProgram.ANNA;
import static org.rpcrdma4j.transport.rpc.CountedProgram.BERT;
import static org.rpcrdma4j.transport.rpc.CountedProgram.COUNT;
import static org.rpcrdma4j.transport.rpc.CountedProgram.FAIL;
import static org.rpcrdma4j.transport.rpc.CountedProgram.LONG;
import static org.rpcrdma4j.transport.rpc.CountedProgram.PLAIN;
import static org.rpcrdma4j.transport.rpc.CountedProgram.PROGRAM;
import static org.rpcrdma4j.transport.rpc.CountedProgram.SLOW;
import static org.rpcrdma4j.transport.rpc.CountedProgram.answer;
import static org.rpcrdma4j.transport.rpc.CountedProgram.call;
import static org.rpcrdma4j.transport.rpc.CountedProgram.host;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.transport.rpc.CountedProgram.From;
import org.rpcrdma4j.transport.rpc.ProgramTable.Outcome;
import org.rpcrdma4j.transport.xdr.Pieces;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** Calls that come again (RFC 5531, Section 5). */
class ReplyCacheTest {

    private final CountedProgram counted = new CountedProgram();

    @Test
    void aCallThatComesAgainFromAnyPortIsAnsweredWithTheSameBytesAndRunsOnce() {
        ReplyCache cache = new ReplyCache();
        ProgramTable table = counted.table(cache);
        byte[] call = call(5, COUNT, ANNA, (byte) 1, (byte) 2, (byte) 3, (byte) 4, (byte) 5);
        byte[] first = answer(table, host(1, 700), call);
        for (int port = 700; port < 703; port++) {
            assertThat(answer(table, host(1, port), call)).isEqualTo(first);
        }
        assertThat(counted.runs).hasValue(1);
        assertThat(cache.statistics().misses()).isEqualTo(1);
        assertThat(cache.statistics().hits()).isEqualTo(3);
        assertThat(cache.statistics().calls()).isEqualTo(1);
        assertThat(cache.statistics().bytes()).isEqualTo(first.length);
        assertThat(cache.toString()).contains("hits=3");
    }

    @Test
    void aCallIsKnownHoweverItsMessageIsCut() {
        ProgramTable table = counted.table(new ReplyCache());
        byte[] argument = new byte[2000];
        byte[] call = call(5, COUNT, ANNA, argument);
        byte[] first = answer(table, host(1, 1), call);
        for (int cut = 0; cut < call.length; cut += 13) {
            assertThat(answer(table, host(1, 1), Pieces.at(call, cut))).isEqualTo(first);
        }
        assertThat(counted.runs).hasValue(1);
    }

    @Test
    void theItemsOfARecordedReplyAreItemsAgain() {
        ProgramTable table = counted.table(new ReplyCache());
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
        ProgramTable table = counted.table(new ReplyCache());
        byte[] argument = new byte[100];
        answer(table, host(1, 1), call(5, COUNT, ANNA, argument));
        answer(table, host(2, 1), call(5, COUNT, ANNA, argument));
        answer(table, host(1, 1), call(6, COUNT, ANNA, argument));
        answer(table, host(1, 1), call(5, COUNT, BERT, argument));
        answer(table, host(1, 1), call(5, COUNT, ANNA, new byte[104]));
        argument[99] = 1;
        answer(table, host(1, 1), call(5, COUNT, ANNA, argument));
        assertThat(counted.runs).hasValue(6);
    }

    @Test
    void procedureThatMayRunTwiceAndATableWithoutCacheRunEveryCall() {
        ProgramTable cached = counted.table(new ReplyCache());
        answer(cached, host(1, 1), call(5, PLAIN, ANNA));
        answer(cached, host(1, 1), call(5, PLAIN, ANNA));
        ProgramTable without = new ProgramTable(List.of(counted.program));
        answer(without, host(1, 1), call(5, COUNT, ANNA));
        answer(without, host(1, 1), call(5, COUNT, ANNA));
        assertThat(counted.runs).hasValue(4);
    }

    @Test
    void theFailureOfACallIsRecordedToo() throws Exception {
        ProgramTable table = counted.table(new ReplyCache());
        byte[] first = answer(table, host(1, 1), call(5, FAIL, ANNA));
        assertThat(ReplyHeader.decode(new XdrReader(MemorySegment.ofArray(first))))
                .isEqualTo(ReplyHeader.of(5, AcceptStatus.SYSTEM_ERR));
        assertThat(answer(table, host(1, 2), call(5, FAIL, ANNA))).isEqualTo(first);
        assertThat(counted.runs).hasValue(1);
    }

    @Test
    void aCallerThatIsRefusedGetsNoRecordedReply() throws Exception {
        ReplyCache cache = new ReplyCache();
        ProgramTable open = counted.table(cache);
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
        ProgramTable table = counted.table(cache);
        answer(table, host(1, 1), call(5, LONG, ANNA));
        answer(table, host(1, 1), call(5, LONG, ANNA));
        assertThat(counted.runs).hasValue(2);
        assertThat(cache.statistics().tooLong()).isEqualTo(2);
        assertThat(cache.statistics().calls()).isZero();
        assertThat(cache.statistics().bytes()).isZero();
    }

    @Test
    void duplicatesOfARunningCallWaitAndGetItsReply() throws Exception {
        ReplyCache cache = new ReplyCache();
        ProgramTable table = counted.table(cache);
        byte[] call = call(5, SLOW, ANNA);
        CompletableFuture<byte[]> first = CompletableFuture.supplyAsync(() -> answer(table, host(1, 1), call));
        assertThat(counted.begun.await(30, TimeUnit.SECONDS)).isTrue();
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
        counted.gate.countDown();
        byte[] reply = first.get(30, TimeUnit.SECONDS);
        assertThat(blocked.get(30, TimeUnit.SECONDS)).isEqualTo(reply);
        assertThat(later).hasSize(5).allSatisfy(bytes -> assertThat(bytes).isEqualTo(reply));
        assertThat(counted.runs).hasValue(1);
        assertThat(cache.statistics().failedWaits()).isZero();
    }

    @Test
    void aDuplicateThatWaitsTooLongOrIsOneTooManyFails() throws Exception {
        ReplyCache cache = new ReplyCache(10, 1000, 1);
        ProgramTable table = counted.table(cache);
        byte[] call = call(5, SLOW, ANNA);
        CompletableFuture<byte[]> first = CompletableFuture.supplyAsync(() -> answer(table, host(1, 1), call));
        assertThat(counted.begun.await(30, TimeUnit.SECONDS)).isTrue();
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
        counted.gate.countDown();
        first.get(30, TimeUnit.SECONDS);
        assertThat(later).hasSize(1 + ReplyCache.MAX_WAITING);
        assertThat(counted.runs).hasValue(1);
    }

    @Test
    void runningCallsAreNotPushedOutByAFloodAndOthersDoNotCount() throws Exception {
        ReplyCache cache = new ReplyCache(64, 1 << 20);
        ProgramTable table = counted.table(cache);
        byte[] slow = call(5, SLOW, ANNA);
        CompletableFuture<byte[]> first = CompletableFuture.supplyAsync(() -> answer(table, host(1, 1), slow));
        assertThat(counted.begun.await(30, TimeUnit.SECONDS)).isTrue();
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
        int before = counted.runs.get();
        List<byte[]> later = new ArrayList<>();
        table.dispatch(new RpcRequest(
                new XdrReader(MemorySegment.ofArray(slow)),
                new XdrWriter(),
                new From(host(1, 1).remoteAddress(), reply -> later.add(reply.toByteArray()))));
        counted.gate.countDown();
        assertThat(first.get(30, TimeUnit.SECONDS)).isEqualTo(later.getFirst());
        assertThat(counted.runs).hasValue(before);
    }

    @Test
    void oneHostCannotPushOutWhatOthersNeed() {
        ReplyCache cache = new ReplyCache(100, 1 << 20);
        ProgramTable table = counted.table(cache);
        for (int host = 2; host < 10; host++) {
            for (int xid = 0; xid < 5; xid++) {
                answer(table, host(host, 1), call(xid, COUNT, ANNA));
            }
        }
        for (int xid = 0; xid < 5000; xid++) {
            answer(table, host(1, 1), call(xid, COUNT, ANNA));
        }
        long hits = cache.statistics().hits();
        int before = counted.runs.get();
        for (int host = 2; host < 10; host++) {
            for (int xid = 0; xid < 5; xid++) {
                answer(table, host(host, 2), call(xid, COUNT, ANNA));
            }
        }
        assertThat(counted.runs).hasValue(before);
        assertThat(cache.statistics().hits() - hits).isEqualTo(40);
        // The newest of the flood are there too.
        answer(table, host(1, 1), call(4999, COUNT, ANNA));
        assertThat(counted.runs).hasValue(before);
        assertThat(cache.statistics().evictions()).isEqualTo(5000 - 60);
    }

    @Test
    void theReplyThatWasUsedLongestAgoGoesFirstAndBytesAreBounded() {
        ReplyCache cache = new ReplyCache(1000, 3000);
        ProgramTable table = counted.table(cache);
        byte[] argument = new byte[800];
        for (int xid = 0; xid < 3; xid++) {
            answer(table, host(1, 1), call(xid, COUNT, ANNA, argument));
        }
        answer(table, host(1, 1), call(0, COUNT, ANNA, argument));
        answer(table, host(1, 1), call(3, COUNT, ANNA, argument));
        assertThat(cache.statistics().calls()).isEqualTo(3);
        assertThat(cache.statistics().bytes()).isLessThanOrEqualTo(3000);
        assertThat(counted.runs).hasValue(4);
        answer(table, host(1, 1), call(0, COUNT, ANNA, argument));
        assertThat(counted.runs).hasValue(4);
        answer(table, host(1, 1), call(1, COUNT, ANNA, argument));
        assertThat(counted.runs).hasValue(5);
        // A reply that the whole cache could not hold pushes nothing out.
        answer(table, host(1, 1), call(9, COUNT, ANNA, new byte[3500]));
        assertThat(cache.statistics().calls()).isEqualTo(3);
    }

    @Test
    void aCallBeyondTheRunningOnesRunsWithoutBeingRemembered() throws Exception {
        ReplyCache cache = new ReplyCache(1, 1000);
        ProgramTable table = counted.table(cache);
        CompletableFuture<byte[]> first =
                CompletableFuture.supplyAsync(() -> answer(table, host(1, 1), call(5, SLOW, ANNA)));
        assertThat(counted.begun.await(30, TimeUnit.SECONDS)).isTrue();
        answer(table, host(2, 1), call(6, COUNT, ANNA));
        answer(table, host(2, 1), call(6, COUNT, ANNA));
        assertThat(counted.runs).hasValue(3);
        assertThat(cache.statistics().notAdmitted()).isEqualTo(2);
        counted.gate.countDown();
        first.get(30, TimeUnit.SECONDS);
        answer(table, host(1, 1), call(5, SLOW, ANNA));
        assertThat(counted.runs).hasValue(3);
    }

    /** Every connection sends every call, in an order of its own; some meet the call while it runs. */
    @Test
    void callsThatComeByManyConnectionsAtOnceRunOnceEach() throws Exception {
        int connections = 6;
        int calls = 1500;
        ProgramTable table = counted.table(new ReplyCache());
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
        assertThat(counted.runs).hasValue(calls);
    }

    @Test
    void aCacheThatHoldsNoCallIsRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> new ReplyCache(0, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> new ReplyCache(1, -1));
    }
}
