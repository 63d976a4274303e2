// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.transport.rpc.AcceptStatus;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.server.RequestHandler;
import org.rpcrdma4j.transport.server.ReverseCallException;
import org.rpcrdma4j.transport.server.ReverseClient;
import org.rpcrdma4j.transport.server.RpcRdmaServer;
import org.rpcrdma4j.transport.server.ServerOptions;
import org.rpcrdma4j.transport.server.ServerRequest;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** RFC 8167: the product's server calls a client that makes every byte itself, while that calls the server. */
class ReverseRequesterTest {

    private static final int CREDITS = 8;
    private static final int REVERSE_CREDITS = 2;
    private static final int CALLBACK = 0x4000_0000;
    private static final Duration LONG = Duration.ofMinutes(5);

    /** Answers NULL, keeps HOLD. */
    private static final class Handler implements RequestHandler {
        private final ArrayDeque<ServerRequest> held = new ArrayDeque<>();
        private @Nullable ReverseClient reverse;

        @Override
        public void onRequest(ServerRequest request) throws XdrException {
            CallHeader call = (CallHeader) CallHeader.decode(new XdrReader(request.message()));
            synchronized (this) {
                reverse = request.reverse();
                if (call.procedure() == Toy.HOLD) {
                    held.add(request);
                    return;
                }
            }
            answer(request);
        }

        private static void answer(ServerRequest request) {
            XdrWriter out = new XdrWriter();
            ReplyHeader.of(request.xid(), AcceptStatus.SUCCESS).encode(out);
            request.reply(out);
        }

        synchronized int held() {
            return held.size();
        }

        void answerHeld() {
            List<ServerRequest> all;
            synchronized (this) {
                all = List.copyOf(held);
                held.clear();
            }
            all.forEach(Handler::answer);
        }

        synchronized ReverseClient reverse() {
            if (reverse == null) {
                throw new AssertionError("no call yet");
            }
            return reverse;
        }
    }

    /** A server and one client that takes calls. */
    private static final class Scene implements AutoCloseable {
        private final Rig rig;
        private final Handler handler = new Handler();
        private final RpcRdmaServer server;
        private final RawConnection client;
        private final ReverseClient reverse;
        private int nextXid = 0x0f0d_0000;

        Scene(Rig rig, String privateData) {
            this.rig = rig;
            try {
                server = RpcRdmaServer.builder(rig.serverDevice(), handler)
                        .address(rig.listenAddress())
                        .options(ServerOptions.builder()
                                .credits(CREDITS)
                                .reverseCredits(REVERSE_CREDITS)
                                .build())
                        .handlerExecutor(rig.worker())
                        .worker(rig.worker())
                        .time(rig.time())
                        .start();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            rig.watch(() -> String.join(System.lineSeparator(), server.describe()));
            client = new RawRequester(rig).privateData(privateData).connect(server.localAddress());
            forward(Toy.NULL);
            rig.await("the first reply", () -> client.messageCount() == 1);
            reverse = handler.reverse();
            reverse.enable();
        }

        int forward(int procedure) {
            int xid = nextXid++;
            client.send(Words.inline(xid, CREDITS).add(Words.call(xid, Toy.PROGRAM, 1, procedure)));
            return xid;
        }

        CompletableFuture<MemorySegment> call(int bytes, Duration timeout) {
            return reverse.call(
                    MemorySegment.ofArray(Words.call(1, CALLBACK, 1, 0)
                            .raw(new byte[bytes - 40])
                            .toBytes()),
                    timeout);
        }

        /** The reverse calls so far. */
        List<RawMessage> calls() {
            return client.messages().stream()
                    .filter(message -> message.procedure() == Words.RDMA_MSG)
                    .filter(message -> message.rpc().word(1) == 0)
                    .toList();
        }

        RawMessage awaitCall(int number) {
            rig.await("reverse call " + number, () -> calls().size() > number);
            return calls().get(number);
        }

        List<RawMessage> replies() {
            return client.messages().stream()
                    .filter(message -> message.procedure() == Words.RDMA_MSG)
                    .filter(message -> message.rpc().word(1) == 1)
                    .toList();
        }

        void reply(int xid, int credits, int... results) {
            client.send(Words.inline(xid, credits).add(Words.reply(xid, 0).u32(results)));
        }

        @Override
        public void close() {
            handler.answerHeld();
            client.close();
            var end = server.shutdown(Duration.ofSeconds(5));
            rig.await("the server ends", end::isDone);
            rig.close();
        }
    }

    private static final String BOTH_4096 = "f6ab0e18 01000303";
    private static final String TAKES_1024_SENDS_4096 = "f6ab0e18 01000300";

    @ParameterizedTest
    @EnumSource
    void forwardCallsRunAtFullDepthWhileTheReverseDirectionHasNoCredit(Network network) {
        try (Scene scene = new Scene(network.open(), BOTH_4096)) {
            var stalled = scene.call(40, LONG);
            var waiting = scene.call(40, LONG);
            RawMessage call = scene.awaitCall(0);
            for (int round = 0; round < 5; round++) {
                int before = scene.replies().size();
                for (int i = 0; i < CREDITS; i++) {
                    scene.forward(Toy.NULL);
                }
                scene.rig.await("all are answered", () -> scene.replies().size() == before + CREDITS);
            }
            // RFC 8167, Section 4.1: the credits of the two directions are apart.
            assertThat(scene.replies()).allMatch(reply -> reply.credits() == CREDITS);
            assertThat(scene.calls()).hasSize(1);
            assertThat(stalled).isNotDone();
            scene.reply(call.xid(), 1);
            scene.reply(scene.awaitCall(1).xid(), 1);
            scene.rig.await("both are answered", () -> stalled.isDone() && waiting.isDone());
            assertThat(stalled).isCompleted();
            assertThat(waiting).isCompleted();
        }
    }

    @ParameterizedTest
    @EnumSource
    void reverseCallsGoOnWhileAllForwardCreditsAreTaken(Network network) {
        try (Scene scene = new Scene(network.open(), BOTH_4096)) {
            for (int i = 0; i < CREDITS; i++) {
                scene.forward(Toy.HOLD);
            }
            scene.rig.await("all are held", () -> scene.handler.held() == CREDITS);
            for (int i = 0; i < 20; i += 2) {
                var one = scene.call(40, LONG);
                var other = scene.call(40, LONG);
                // RFC 8167, Section 4.3.2: the replies find Receives though each forward call has taken one.
                scene.reply(scene.awaitCall(i).xid(), REVERSE_CREDITS);
                scene.reply(scene.awaitCall(i + 1).xid(), REVERSE_CREDITS);
                scene.rig.await("both are answered", () -> one.isDone() && other.isDone());
                assertThat(one).isCompleted();
                assertThat(other).isCompleted();
            }
            assertThat(scene.client.hasEnded()).isFalse();
            scene.handler.answerHeld();
            scene.rig.await("the forward replies", () -> scene.replies().size() == 1 + CREDITS);
        }
    }

    @ParameterizedTest
    @EnumSource
    void theSizesOfTheReverseDirectionAreThoseOfTheForwardDirectionSwapped(Network network) {
        try (Scene scene = new Scene(network.open(), TAKES_1024_SENDS_4096)) {
            // RFC 8167, Section 4.2: a reverse call is sent where a forward reply would be.
            assertThat(scene.reverse.maxCallBytes()).isEqualTo(1024 - 28);
            var tooLong = scene.call(1024 - 24, LONG);
            assertThat(tooLong).isCompletedExceptionally();
            var longest = scene.call(1024 - 28, LONG);
            RawMessage call = scene.awaitCall(0);
            assertThat(call.length()).isEqualTo(1024);
            scene.reply(call.xid(), 1, new int[(4096 - 28 - 24) / 4]);
            scene.rig.await("the reply is known", longest::isDone);
            assertThat(longest.join().byteSize()).isEqualTo(4096 - 28);
            assertThat(scene.client.hasEnded()).isFalse();
        }
    }

    /** Replies that come, come late, or never; RDMA_ERROR; grants of 0 and of too much; all in any order, and forward calls beside them. */
    @ParameterizedTest
    @EnumSource
    void eachCallEndsOnceByItsOwnReplyErrorOrDeadlineWhateverTheClientDoes(Network network) {
        long seed = Long.getLong("rpcrdma.seed", System.nanoTime());
        SplittableRandom random = new SplittableRandom(seed);
        int rounds = Integer.getInteger("rpcrdma.rounds", network == Network.SIMULATION ? 200 : 30);
        Rig rig = network.open();
        rig.watch(() -> "-Drpcrdma.seed=" + seed);
        try (Scene scene = new Scene(rig, BOTH_4096)) {
            List<Integer> late = new ArrayList<>();
            int seen = 0;
            for (int round = 0; round < rounds; round++) {
                boolean timesOut = random.nextInt(6) == 0;
                var result = scene.call(40 + 4 * random.nextInt(100), timesOut ? Duration.ofMillis(500) : LONG);
                // Calls without reply keep their credits, and the grant told last may be one: this one waits for the
                // late replies.
                while (!late.isEmpty()) {
                    scene.reply(late.removeLast(), random.nextInt(4));
                }
                int xid = scene.awaitCall(seen++).xid();
                if (random.nextBoolean()) {
                    scene.forward(Toy.NULL);
                }
                if (timesOut) {
                    rig.advance(Duration.ofSeconds(1));
                    rig.await("its deadline ends it", result::isDone);
                    assertKind(result, ReverseCallException.Kind.TIMED_OUT);
                    late.add(xid);
                } else if (random.nextInt(3) == 0) {
                    scene.client.send(Words.errorChunk(xid, 1, random.nextInt(20)));
                    rig.await("RDMA_ERROR ends it", result::isDone);
                    assertKind(result, ReverseCallException.Kind.REFUSED);
                } else {
                    scene.reply(xid, random.nextInt(20), xid, round);
                    rig.await("its reply ends it", result::isDone);
                    assertThat(result.join().toArray(ValueLayout.JAVA_BYTE))
                            .isEqualTo(Words.reply(xid, 0).u32(xid, round).toBytes());
                    // Once more, and for nobody: makes no difference.
                    scene.reply(random.nextBoolean() ? xid : random.nextInt(), REVERSE_CREDITS);
                }
            }
            for (int xid : late) {
                scene.reply(xid, 1);
            }
            var last = scene.call(40, LONG);
            scene.reply(scene.awaitCall(seen).xid(), 1);
            rig.await("the last one is answered", last::isDone);
            assertThat(last).isCompleted();
            assertThat(scene.client.hasEnded()).isFalse();
            assertThat(scene.server.counters().get(ServerCounter.REVERSE_CALLS)).isEqualTo(rounds + 1);
        }
    }

    private static void assertKind(CompletableFuture<?> result, ReverseCallException.Kind kind) {
        assertThat(result).isCompletedExceptionally();
        assertThat(result.exceptionNow())
                .isInstanceOfSatisfying(
                        ReverseCallException.class,
                        failure -> assertThat(failure.kind()).isEqualTo(kind));
    }

    /** RFC 8167, Section 5.4: the server cannot connect; its calls end with the connection, and the client's new one has calls of its own. */
    @ParameterizedTest
    @EnumSource
    void callsEndWithTheirConnectionAndTheNextConnectionBeginsAnew(Network network) {
        try (Scene scene = new Scene(network.open(), BOTH_4096)) {
            var out = scene.call(40, LONG);
            var waiting = scene.call(40, LONG);
            scene.awaitCall(0);
            scene.client.breakOff();
            scene.rig.await("both end", () -> out.isDone() && waiting.isDone());
            assertKind(out, ReverseCallException.Kind.CONNECTION_LOST);
            assertKind(waiting, ReverseCallException.Kind.CONNECTION_LOST);
            try (RawConnection next =
                    new RawRequester(scene.rig).privateData(BOTH_4096).connect(scene.server.localAddress())) {
                next.send(Words.inline(1, CREDITS).add(Words.call(1, Toy.PROGRAM, 1, Toy.NULL)));
                scene.rig.await("the reply", () -> next.messageCount() == 1);
                ReverseClient reverse = scene.handler.reverse();
                assertThat(reverse).isNotSameAs(scene.reverse);
                var before = reverse.call(
                        MemorySegment.ofArray(Words.call(1, CALLBACK, 1, 0).toBytes()), LONG);
                scene.rig.await("it is refused", before::isDone);
                assertKind(before, ReverseCallException.Kind.NOT_ENABLED);
                reverse.enable();
                var after = reverse.call(
                        MemorySegment.ofArray(Words.call(1, CALLBACK, 1, 0).toBytes()), LONG);
                scene.rig.await("the call", () -> next.messageCount() == 2);
                int xid = next.message(1).xid();
                next.send(Words.inline(xid, 1).add(Words.reply(xid, 0)));
                scene.rig.await("the reply is known", after::isDone);
                assertThat(after).isCompleted();
            }
        }
    }
}
