// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.together;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rpcrdma4j.transport.client.PendingReply;
import org.rpcrdma4j.transport.client.RpcRdmaClient;
import org.rpcrdma4j.transport.client.TransportException;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.transport.rpc.AcceptStatus;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.server.RequestHandler;
import org.rpcrdma4j.transport.server.RpcRdmaServer;
import org.rpcrdma4j.transport.server.ServerOptions;
import org.rpcrdma4j.transport.server.ServerRequest;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/**
 * Connections that are closed by whoever and whenever, with calls under way: each call ends once, with its whole result or an error, each
 * connection ends once, and nothing is left of either.
 */
class CloseRacesTest {

    private static final Duration GRACE = Duration.ofSeconds(20);

    /** Who closes, and when. */
    private enum Way {
        CLIENT,
        CLIENT_TWICE,
        CLIENT_IN_A_CALLBACK,
        CLIENT_WHILE_CONNECTING,
        SERVER,
        SERVER_TWICE,
        SERVER_ABORTS,
        SERVER_IN_ITS_HANDLER,
        SERVER_WHILE_CONNECTING,
        BOTH,
        BOTH_AND_SERVER_ABORTS,
        ABORT_DURING_SHUTDOWN
    }

    private final long seed = Long.getLong("rpcrdma.seed", System.nanoTime());
    private final SplittableRandom random = new SplittableRandom(seed);
    private final ClosingHandler handler = new ClosingHandler();
    private final AtomicInteger replies = new AtomicInteger();
    private final AtomicInteger failures = new AtomicInteger();

    /** The block program, until it is told to close its server in the middle of a call. */
    private static final class ClosingHandler implements RequestHandler {
        private final BlockProgram program = new BlockProgram();
        private volatile boolean closes;
        private volatile RpcRdmaServer server;

        @SuppressWarnings("NullAway.Init")
        ClosingHandler() {}

        @Override
        public void onRequest(ServerRequest request) throws XdrException {
            if (closes) {
                end(server);
                XdrWriter out = new XdrWriter();
                ReplyHeader.of(request.xid(), AcceptStatus.SYSTEM_ERR).encode(out);
                request.reply(out);
            } else {
                program.onRequest(request);
            }
        }
    }

    @Test
    @Timeout(value = 30, unit = TimeUnit.MINUTES)
    void whoeverClosesWheneverEachCallAndConnectionEndsOnceAndNothingIsLeft() throws Exception {
        int rounds = OneServer.rounds(1000);
        int each = Way.values().length;
        try (OneServer one = new OneServer(Map.of(), handler, ServerOptions.DEFAULT);
                Arena arena = Arena.ofShared()) {
            MemorySegment target = arena.allocate(8 * 30_000);
            for (int i = 0; i < rounds; i++) {
                if (i > 0) {
                    one.startAnother();
                }
                Way way = Way.values()[i % each];
                try {
                    round(one, way, target);
                } catch (AssertionError | ExecutionException | TimeoutException e) {
                    throw new AssertionError("round " + i + ", " + way + ", -Drpcrdma.seed=" + seed + ": " + one, e);
                }
            }
        }
        System.out.println(rounds + " rounds: " + replies + " replies, " + failures + " failed calls");
        assertThat(replies.get()).isPositive();
        assertThat(failures.get()).isPositive();
    }

    private void round(OneServer one, Way way, MemorySegment memory) throws Exception {
        handler.server = one.server;
        handler.closes = false;
        AtomicInteger ends = new AtomicInteger();
        RpcRdmaClient client = one.client()
                .callTimeout(Duration.ofSeconds(10))
                .connectAttempts(2)
                .build();
        if (way != Way.CLIENT_WHILE_CONNECTING && way != Way.SERVER_WHILE_CONNECTING) {
            client.call(OneServer.nothing(client));
        }
        handler.closes = way == Way.SERVER_IN_ITS_HANDLER;
        List<PendingReply> pending = new ArrayList<>();
        List<MemorySegment> targets = new ArrayList<>();
        int calls = 1 + random.nextInt(8);
        for (int i = 0; i < calls; i++) {
            boolean fetches = random.nextBoolean();
            MemorySegment target = memory.asSlice(30_000L * i, fetches ? 1 + random.nextInt(30_000) : 0);
            target.fill((byte) 0);
            targets.add(target);
            PendingReply reply = client.send(fetches ? OneServer.fetch(client, target) : OneServer.nothing(client));
            var _ = reply.whenComplete((answer, failure) -> {
                ends.incrementAndGet();
                if (way == Way.CLIENT_IN_A_CALLBACK) {
                    end(client);
                }
            });
            pending.add(reply);
        }
        LockSupport.parkNanos((long) random.nextInt(3) * random.nextInt(400_000));
        close(one, way, client);
        CompletableFuture<Void> clientEnd = client.closeAsync();
        CompletableFuture<Void> serverEnd = one.server.shutdown(GRACE);
        clientEnd.get(60, TimeUnit.SECONDS);
        serverEnd.get(60, TimeUnit.SECONDS);
        for (int i = 0; i < calls; i++) {
            requireEnd(pending.get(i), targets.get(i));
        }
        OneServer.await("each call's end is told", OneServer.PATIENCE, () -> ends.get() == calls, client);
        one.awaitNoConnections();
        one.awaitBalance();
        assertThat(client.counters().get(ClientCounter.DISCONNECTS))
                .isEqualTo(client.counters().get(ClientCounter.CONNECTS));
        assertThat(one.count(ServerCounter.POST_ERRORS)).isZero();
    }

    private void close(OneServer one, Way way, RpcRdmaClient client) throws Exception {
        RpcRdmaServer server = one.server;
        switch (way) {
            case CLIENT, CLIENT_WHILE_CONNECTING -> end(client);
            case CLIENT_TWICE -> together(() -> end(client), () -> end(client));
            case SERVER, SERVER_WHILE_CONNECTING -> end(server);
            case SERVER_TWICE -> together(() -> end(server), () -> end(server));
            case SERVER_ABORTS -> server.abort();
            case BOTH -> together(() -> end(client), () -> end(server));
            case BOTH_AND_SERVER_ABORTS -> together(() -> end(client), server::abort);
            case ABORT_DURING_SHUTDOWN -> together(() -> end(server), server::abort);
            case CLIENT_IN_A_CALLBACK, SERVER_IN_ITS_HANDLER -> {}
        }
    }

    private static void end(RpcRdmaClient client) {
        var _ = client.closeAsync();
    }

    private static void end(RpcRdmaServer server) {
        var _ = server.shutdown(GRACE);
    }

    /** Runs both at the same moment, as nearly as two threads can. */
    private static void together(Runnable one, Runnable other) throws Exception {
        CyclicBarrier barrier = new CyclicBarrier(2);
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread thread = Thread.ofPlatform().start(() -> {
            try {
                barrier.await(10, TimeUnit.SECONDS);
                other.run();
                done.complete(null);
            } catch (InterruptedException | BrokenBarrierException | TimeoutException | RuntimeException e) {
                done.completeExceptionally(e);
            }
        });
        barrier.await(10, TimeUnit.SECONDS);
        one.run();
        done.get(30, TimeUnit.SECONDS);
        thread.join();
    }

    private void requireEnd(PendingReply reply, MemorySegment target) {
        assertThat(reply).as("the call has ended when its client is closed").isDone();
        if (!reply.isCompletedExceptionally()) {
            replies.incrementAndGet();
            if (reply.join().message().byteSize() > 24 && target.byteSize() > 0) {
                assertThat(OneServer.isWhole(reply.join(), target))
                        .as("a reply is whole")
                        .isTrue();
            }
            return;
        }
        failures.incrementAndGet();
        assertThat(reply.exceptionNow())
                .isInstanceOfSatisfying(
                        TransportException.class,
                        failure -> assertThat(failure.kind())
                                .isIn(TransportException.Kind.CLOSED, TransportException.Kind.CONNECTION_LOST));
    }
}
