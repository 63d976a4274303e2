// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.dcache.oncrpc4j.rpc.RpcCall;
import org.dcache.oncrpc4j.rpc.RpcTransport;
import org.dcache.oncrpc4j.xdr.XdrInt;
import org.dcache.oncrpc4j.xdr.XdrVoid;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.oncrpc.SampleTypes.ReadArguments;
import org.rpcrdma4j.oncrpc.SampleTypes.ReadResult;
import org.rpcrdma4j.transport.client.TransportException;
import org.rpcrdma4j.transport.event.ClientCounter;

/** Callers that do not wait any more, servers that answer too late, and connections that end: memory first, then the news. */
class GiveUpTest {

    private static final int LENGTH = 1 << 20;
    private static final byte UNTOUCHED = 0x5a;

    /** A client whose caller gives up a READ into memory of its own, by some means. */
    @FunctionalInterface
    private interface GivingUp {
        void giveUp(SampleService service, RpcCall call, PlacedArguments arguments) throws Exception;
    }

    /** Gives up, uses the memory again at once, and has the server answer then. */
    private static void memoryIsShutAfter(GivingUp how) throws Exception {
        try (SampleService service = new SampleService(Wire.RDMA_BOUND);
                Arena arena = Arena.ofShared()) {
            MemorySegment target = arena.allocate(LENGTH, 4096);
            RdmaRpcTransport transport = service.connectRdma();
            how.giveUp(
                    service,
                    SampleService.call(transport),
                    PlacedArguments.of(new ReadArguments(0, LENGTH)).into(target));
            // ORDER: the caller owns the memory again, and only now the server answers.
            target.fill(UNTOUCHED);
            service.program.gate.release();
            service.program.answeredLate.acquire();
            // Whatever the server wrote or failed to write is over when its reply, or the end of the connection, is
            // seen.
            service.await(
                    "the late answer has come or has ended the connection",
                    () -> !transport.isOpen() || transport.client().counters().get(ClientCounter.LATE_REPLIES) >= 1);
            assertThat(target.elements(ValueLayout.JAVA_BYTE)
                            .allMatch(b -> b.get(ValueLayout.JAVA_BYTE, 0) == UNTOUCHED))
                    .as("memory that its owner has back")
                    .isTrue();
            assertThat(transport.openCalls()).isZero();
        }
    }

    @Test
    void aTimeoutOfTheCallIsTheCallersAndItsMemoryIsShutByThen() throws Exception {
        memoryIsShutAfter((service, call, arguments) -> assertThatThrownBy(() ->
                        call.call(SampleProgram.READ_LATE, arguments, new ReadResult(), 300, TimeUnit.MILLISECONDS))
                .isInstanceOf(TimeoutException.class)
                .hasMessage("did not get a response within 300 MILLISECONDS"));
    }

    @Test
    void aFutureThatIsWaitedForOnlySoLongHasItsMemoryShut() throws Exception {
        memoryIsShutAfter((service, call, arguments) -> assertThatThrownBy(
                        () -> call.call(SampleProgram.READ_LATE, arguments, ReadResult.class)
                                .get(300, TimeUnit.MILLISECONDS))
                .isInstanceOf(TimeoutException.class));
    }

    @Test
    void aCancelledFutureHasItsMemoryShut() throws Exception {
        memoryIsShutAfter((service, call, arguments) -> {
            CompletableFuture<ReadResult> future = call.call(SampleProgram.READ_LATE, arguments, ReadResult.class);
            service.program.waiting.acquire();
            assertThat(future.cancel(true)).isTrue();
        });
    }

    @Test
    void anInterruptedCallerHasItsMemoryShut() throws Exception {
        memoryIsShutAfter((service, call, arguments) -> {
            AtomicReference<Throwable> end = new AtomicReference<>();
            Thread caller = Thread.ofPlatform().start(() -> {
                try {
                    call.call(SampleProgram.READ_LATE, arguments, new ReadResult());
                } catch (IOException e) {
                    end.set(e);
                }
            });
            service.program.waiting.acquire();
            caller.interrupt();
            caller.join();
            assertThat(end.get()).isInstanceOf(InterruptedIOException.class);
        });
    }

    @Test
    void aCallWithoutTimeoutEndsToo() throws Exception {
        try (SampleService service = new SampleService(Wire.RDMA)) {
            RdmaRpcTransport transport =
                    SampleService.connect(service.client(builder -> builder.callTimeout(Duration.ofMillis(500))));
            RpcCall call = SampleService.call(transport);
            CompletableFuture<XdrInt> other =
                    RpcFutures.call(call, SampleProgram.WAIT, new XdrInt(1), new XdrInt(), 0, TimeUnit.SECONDS);
            assertThatThrownBy(() -> call.call(SampleProgram.WAIT, new XdrInt(1), new XdrInt()))
                    .isInstanceOfAny(SocketTimeoutException.class, EOFException.class);
            assertThatThrownBy(() -> other.get(30, TimeUnit.SECONDS)).hasCauseInstanceOf(SocketTimeoutException.class);
        }
    }

    @Test
    void aTransportThatReconnectsOutlivesItsConnection() throws Exception {
        try (SampleService service = new SampleService(Wire.RDMA)) {
            RdmaRpcTransport transport = SampleService.connect(service.client(
                    builder -> builder.callTimeout(Duration.ofMillis(1500)).reconnect(2)));
            RpcCall call = SampleService.call(transport);
            // Silence for as long as calls are given is the end of a connection.
            assertThatThrownBy(() -> call.call(SampleProgram.WAIT, new XdrInt(1), new XdrInt()))
                    .isInstanceOf(SocketTimeoutException.class);
            XdrInt result = new XdrInt();
            call.call(SampleProgram.ECHO_INT, new XdrInt(7), result, 30, TimeUnit.SECONDS);
            assertThat(result.intValue()).isEqualTo(7);
            assertThat(transport.isOpen()).isTrue();
            assertThat(transport.client().counters().get(ClientCounter.RECONNECTS))
                    .isPositive();
        }
    }

    @Test
    void aCutConnectionFailsItsCallsOnceAndEndsItsTransport() throws Exception {
        try (SampleService service = new SampleService(Wire.RDMA)) {
            RdmaRpcTransport transport = service.connectRdma();
            RpcCall call = SampleService.call(transport);
            List<CompletableFuture<XdrInt>> all = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                all.add(RpcFutures.call(
                        call, SampleProgram.WAIT, new XdrInt(i), new XdrInt(), i % 2 * 40L, TimeUnit.SECONDS));
            }
            service.program.waiting.acquire(10);
            service.rdma().server().abort();
            for (CompletableFuture<XdrInt> one : all) {
                assertThatThrownBy(() -> one.get(30, TimeUnit.SECONDS))
                        .isInstanceOf(ExecutionException.class)
                        .hasCauseInstanceOf(EOFException.class);
            }
            service.await("the transport has ended", () -> !transport.isOpen());
            assertThat(transport.openCalls()).isZero();
            assertThat(transport.getReplyQueue().getPendingRequests()).isEmpty();
            assertThatThrownBy(() -> call.call(SampleProgram.NULL, XdrVoid.XDR_VOID, XdrVoid.XDR_VOID))
                    .isInstanceOf(EOFException.class)
                    .hasMessageContaining("connection has ended");
            assertThat(transport.toString()).contains("ended");
        }
    }

    @Test
    void aServerThatIsNotThereIsTold() throws Exception {
        try (SampleService service = new SampleService(Wire.RDMA)) {
            RdmaOncRpcClient client = service.client(builder -> builder);
            service.rdma().server().close();
            assertThatThrownBy(client::connect).isInstanceOf(ConnectException.class);
        }
    }

    @Test
    void aServerThatRefusesToCarryTheReplyIsTold() throws Exception {
        try (SampleService service = new SampleService(Wire.RDMA)) {
            RdmaRpcTransport transport =
                    SampleService.connect(service.client(builder -> builder.defaultReplyBytes(8192)));
            assertThatThrownBy(() -> SampleService.call(transport)
                            .call(SampleProgram.READ, new ReadArguments(0, 100_000), new ReadResult()))
                    .isInstanceOfSatisfying(
                            TransportException.class,
                            e -> assertThat(e.kind()).isEqualTo(TransportException.Kind.PEER_ERROR_CHUNK));
            ReadResult result = new ReadResult();
            SampleService.call(transport)
                    .call(
                            SampleProgram.READ,
                            PlacedArguments.of(new ReadArguments(0, 100_000)).maxReplyBytes(101_000),
                            result);
            assertThat(result.bytes()).isEqualTo(SampleProgram.filePart(0, 100_000));
        }
    }

    @Test
    void theClientsSideOfTheOppositeDirectionSaysWhatItIsFor() throws Exception {
        try (SampleService service = new SampleService(Wire.RDMA)) {
            RpcTransport peer = service.connect().getPeerTransport();
            assertThatThrownBy(
                            () -> SampleService.call(peer).call(SampleProgram.NULL, XdrVoid.XDR_VOID, XdrVoid.XDR_VOID))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("peer transport");
            assertThat(peer.getReplyQueue().getPendingRequests()).isEmpty();
        }
    }
}
