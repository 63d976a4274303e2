// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.transport.client.TransportException.Kind;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.RawResponder;
import org.rpcrdma4j.transport.raw.Rig;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.cm.ConnectionManager;

/** Want of memory, workers that refuse, listeners that throw: none of them leaves anything behind, and the client lives on. */
class ShortOfMeansTest {

    private static final int ATTEMPTS = 3;

    /** As the given one, but one method throws the first times that it is called. */
    private static <T> T failing(Class<T> type, T target, String method, Supplier<? extends Throwable> fault) {
        AtomicInteger calls = new AtomicInteger();
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, called, args) -> {
            if (called.getName().equals(method) && calls.getAndIncrement() < ATTEMPTS) {
                throw fault.get();
            }
            try {
                return called.invoke(target, args);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }));
    }

    private static RdmaDevice withConnectionManager(RdmaDevice target, ConnectionManager manager) {
        return (RdmaDevice) Proxy.newProxyInstance(
                RdmaDevice.class.getClassLoader(), new Class<?>[] {RdmaDevice.class}, (proxy, called, args) -> {
                    try {
                        return called.getName().equals("connectionManager") ? manager : called.invoke(target, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private static RpcRdmaClient client(RdmaDevice device, Rig rig, RawResponder responder, Executor worker) {
        return RpcRdmaClient.builder(device, responder.address())
                .time(rig.time())
                .worker(worker)
                .callbacks(worker)
                .build();
    }

    private static void assertServedAfterFailures(Rig rig, RawResponder responder, RpcRdmaClient client) {
        responder.onMessage((connection, call) -> ClientFixture.answer(connection, call.xid(), 4));
        PendingReply pending = client.send(
                CallMessage.builder(ClientFixture.head(client.nextXid(), 0)).build());
        rig.await("the call is answered", pending::isDone);
        assertThat(pending.join().message().byteSize()).isEqualTo(24);
        assertThat(client.counters().get(ClientCounter.CONNECT_FAILURES)).isEqualTo(ATTEMPTS);
        CompletableFuture<Void> closed = client.closeAsync();
        rig.await("the client is closed", closed::isDone);
    }

    @Test
    void anAttemptThatIsShortOfMemoryIsMadeAgain() {
        try (Rig rig = Network.SIMULATION.open();
                RawResponder responder = new RawResponder(rig).privateData(ClientFixture.PEER_4096)) {
            RdmaDevice device = failing(
                    RdmaDevice.class,
                    rig.clientDevice(),
                    "createCompletionQueue",
                    () -> new OutOfMemoryError("on purpose"));
            assertServedAfterFailures(rig, responder, client(device, rig, responder, rig.worker()));
        }
    }

    @Test
    void anAttemptThatTheDeviceDoesNotEvenBeginIsMadeAgain() {
        try (Rig rig = Network.SIMULATION.open();
                RawResponder responder = new RawResponder(rig).privateData(ClientFixture.PEER_4096)) {
            ConnectionManager manager = failing(
                    ConnectionManager.class,
                    rig.clientDevice().connectionManager(),
                    "connect",
                    () -> new IllegalStateException("on purpose"));
            RdmaDevice device = withConnectionManager(rig.clientDevice(), manager);
            assertServedAfterFailures(rig, responder, client(device, rig, responder, rig.worker()));
        }
    }

    @Test
    void anAttemptThatTheWorkerRefusesIsMadeAgain() {
        try (Rig rig = Network.SIMULATION.open();
                RawResponder responder = new RawResponder(rig).privateData(ClientFixture.PEER_4096)) {
            Executor worker = failing(
                    Executor.class, rig.worker(), "execute", () -> new RejectedExecutionException("on purpose"));
            assertServedAfterFailures(rig, responder, client(rig.clientDevice(), rig, responder, worker));
        }
    }

    @Test
    void aClientWhoseWorkerIsGoneFailsItsCallsAndCanBeClosed() {
        try (Rig rig = Network.SIMULATION.open();
                RawResponder responder = new RawResponder(rig).privateData(ClientFixture.PEER_4096)) {
            RpcRdmaClient client = client(rig.clientDevice(), rig, responder, task -> {
                throw new RejectedExecutionException("on purpose");
            });
            PendingReply pending = client.send(CallMessage.builder(ClientFixture.head(client.nextXid(), 0))
                    .timeout(Duration.ofSeconds(2))
                    .build());
            rig.await("the call ends", pending::isDone);
            assertThat(((TransportException) pending.exceptionNow()).kind()).isEqualTo(Kind.TIMED_OUT);
            CompletableFuture<Void> closed = client.closeAsync();
            rig.await("the client is closed", closed::isDone);
        }
    }

    @Test
    void aWireListenerThatThrowsHarmsNoCall() {
        AtomicInteger shown = new AtomicInteger();
        try (ClientFixture fixture = new ClientFixture(
                        Network.SIMULATION.open(),
                        builder -> builder.wireListener((direction, connection, message, offset, length) -> {
                            shown.incrementAndGet();
                            throw new IllegalStateException("on purpose");
                        }))
                .answering(4)) {
            for (int i = 0; i < 8; i++) {
                fixture.reply(fixture.client.send(fixture.nullCall().build()));
            }
            assertThat(shown).hasValue(1);
            assertThat(fixture.responder.connectionCount()).isEqualTo(1);
            assertThat(fixture.counter(ClientCounter.RETRANSMISSIONS)).isZero();
        }
    }
}
