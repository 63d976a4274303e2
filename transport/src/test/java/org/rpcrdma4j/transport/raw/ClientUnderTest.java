// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.client.RpcRdmaClient;
import org.rpcrdma4j.transport.client.TransportException;
import org.rpcrdma4j.transport.event.ClientCounter;

/** The product's client, connected to a {@link RawResponder}, and what must hold after each case. */
public final class ClientUnderTest implements AutoCloseable {

    /** What the raw server says of itself: 4096 bytes each way, no remote invalidation. */
    public static final String SERVER_DATA = "f6ab0e18 01000303";

    public static final int CREDITS = 32;

    private final Rig rig;
    private final RawResponder responder;
    private final RpcRdmaClient client;
    private final List<Throwable> uncaught = new CopyOnWriteArrayList<>();

    private ClientUnderTest(Rig rig, RawResponder responder, UnaryOperator<RpcRdmaClient.Builder> settings) {
        this.rig = rig;
        this.responder = responder;
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> uncaught.add(failure));
        client = settings.apply(RpcRdmaClient.builder(rig.clientDevice(), responder.address())
                        .time(rig.time())
                        .worker(rig.worker())
                        .callbacks(rig.worker())
                        .badReplyLimit(1000))
                .build();
        rig.watch(client::toString);
        rig.watch(() -> "client counted " + client.counters().snapshot());
    }

    public static ClientUnderTest start(Rig rig, RawResponder responder) {
        return start(rig, responder, builder -> builder);
    }

    public static ClientUnderTest start(
            Rig rig, RawResponder responder, UnaryOperator<RpcRdmaClient.Builder> settings) {
        return new ClientUnderTest(rig, responder, settings);
    }

    public RpcRdmaClient client() {
        return client;
    }

    public long count(ClientCounter counter) {
        return client.counters().get(counter);
    }

    public int newXid() {
        return client.nextXid();
    }

    /** A call and its outcome. */
    public static final class Call {
        private final int xid;
        private final CompletableFuture<Reply> future;
        private final AtomicReference<@Nullable Reply> reply = new AtomicReference<>();
        private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        private final AtomicInteger ends = new AtomicInteger();
        private final AtomicReference<Runnable> atEnd = new AtomicReference<>(() -> {});
        private final CompletableFuture<Reply> watched;

        private Call(int xid, CompletableFuture<Reply> future) {
            this.xid = xid;
            this.future = future;
            watched = future.whenComplete((value, problem) -> {
                reply.set(value);
                failure.set(problem);
                ends.incrementAndGet();
                atEnd.get().run();
            });
        }

        public int xid() {
            return xid;
        }

        public boolean isDone() {
            return ends.get() > 0;
        }

        /** What is done when the call ends, on the thread that ends it. */
        public void onEnd(Runnable task) {
            atEnd.set(task);
        }

        /** How often it has ended. */
        public int ends() {
            return ends.get();
        }

        public void cancel() {
            future.cancel(false);
        }

        public boolean isSuccess() {
            return reply.get() != null;
        }

        /** The reply; fails if there is none. */
        public Reply reply() {
            Reply value = reply.get();
            if (value == null) {
                throw new AssertionError("call " + Integer.toHexString(xid) + " has no reply", failure.get());
            }
            return value;
        }

        /** The RPC reply message, without what was placed. */
        public byte[] message() {
            return reply().message().toArray(ValueLayout.JAVA_BYTE);
        }

        /** How it failed; null if it was cancelled. */
        public TransportException.@Nullable Kind kind() {
            if (failure.get() instanceof TransportException problem) {
                return problem.kind();
            }
            return null;
        }

        public boolean isUndecided() {
            return failure.get() instanceof TransportException problem && problem.undecided();
        }

        @Override
        public String toString() {
            return "call " + Integer.toHexString(xid) + ": " + reply.get() + " " + failure.get()
                    + (watched.isDone() ? "" : ", under way");
        }
    }

    /** Sends a call. */
    public Call send(CallMessage message) {
        Call call = new Call(message.xid(), client.send(message));
        rig.watch(call::toString);
        return call;
    }

    /** Sends a call of the toy program with nothing but inline arguments, for a short reply. */
    public Call send(int xid, int procedure) {
        return send(message(Toy.call(xid, procedure), builder -> {}));
    }

    public static CallMessage message(Words head, Consumer<CallMessage.Builder> settings) {
        CallMessage.Builder builder = CallMessage.builder(MemorySegment.ofArray(head.toBytes()));
        settings.accept(builder);
        return builder.build();
    }

    /** Waits for the call's end. */
    public Call await(Call call) {
        rig.await("the call ends", call::isDone);
        return call;
    }

    /** Waits for the call's failure of this kind. */
    public void awaitFailure(Call call, TransportException.Kind kind) {
        await(call);
        assertThat(call.kind()).as("%s%n%s", call, rig.describe()).isEqualTo(kind);
    }

    /** Waits for the call's inline reply, which has no results. */
    public void awaitSuccess(Call call) {
        await(call);
        assertThat(Words.format(call.message()))
                .isEqualTo(Words.reply(call.xid(), 0).toString());
    }

    /** An RPC call is sent and the script's answer to NULL comes back, on the connection that there is. */
    public void works() {
        awaitSuccess(send(newXid(), Toy.NULL));
        assertThat(uncaught).isEmpty();
    }

    /** More calls than there are credits are answered: none was lost. */
    public void checkUnharmed() {
        for (int i = 0; i < CREDITS + 4; i++) {
            works();
        }
        assertThat(responder.connectionCount()).as("connections").isEqualTo(1);
    }

    /** Ends the client; nothing of it is left. */
    public void finish() {
        CompletableFuture<Void> closed = client.closeAsync();
        rig.await("the client is closed", closed::isDone);
        rig.settle();
        assertThat(rig.clientDevice().ledger().isBalanced())
                .as("%s", rig.clientDevice().ledger())
                .isTrue();
        assertThat(uncaught).isEmpty();
    }

    /** Ends the client of a device that was made to lose regions. */
    public void finishLosingRegions() {
        CompletableFuture<Void> closed = client.closeAsync();
        rig.await("the client is closed", closed::isDone);
        assertThat(uncaught).isEmpty();
    }

    @Override
    public void close() {
        CompletableFuture<Void> closed = client.closeAsync();
        rig.await("the client is closed", closed::isDone);
        Thread.setDefaultUncaughtExceptionHandler(null);
        assertThat(uncaught).isEmpty();
    }
}
