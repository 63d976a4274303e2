// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.io.IOException;
import java.lang.reflect.Field;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.CompletionHandler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.dcache.oncrpc4j.rpc.ReplyQueue;
import org.dcache.oncrpc4j.rpc.RpcCall;
import org.dcache.oncrpc4j.rpc.RpcReply;
import org.dcache.oncrpc4j.rpc.RpcTransport;
import org.dcache.oncrpc4j.xdr.Xdr;
import org.dcache.oncrpc4j.xdr.XdrAble;
import org.dcache.oncrpc4j.xdr.XdrDecodingStream;
import org.dcache.oncrpc4j.xdr.XdrEncodingStream;
import org.dcache.oncrpc4j.xdr.XdrInt;
import org.dcache.oncrpc4j.xdr.XdrVoid;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.oncrpc.SampleTypes.ReadArguments;
import org.rpcrdma4j.oncrpc.SampleTypes.ReadResult;

/**
 * Faults of oncrpc4j 3.4.2 in the life of a call, that a transport can have or avoid: each test is named after one; where it is cheap, it
 * shows the fault too.
 */
class KnownCallFaultsTest {

    private static final CompletionHandler<RpcReply, RpcTransport> NOBODY = new CompletionHandler<>() {
        @Override
        public void completed(RpcReply reply, RpcTransport transport) {}

        @Override
        public void failed(Throwable failure, RpcTransport transport) {}
    };

    private static void setNextXid(RpcCall call, int xid) throws ReflectiveOperationException {
        Field generator = RpcCall.class.getDeclaredField("xidGenerator");
        generator.setAccessible(true);
        ((AtomicInteger) generator.get(call)).set(xid - 1);
    }

    @Test
    void twoCallObjectsThatMeetAtOneXidAreToldApart() throws Exception {
        ReplyQueue stock = new ReplyQueue();
        stock.registerKey(7, new InetSocketAddress(1), NOBODY);
        stock.registerKey(7, new InetSocketAddress(1), NOBODY);
        assertThat(stock.getPendingRequests())
                .as("stock: the first one is lost")
                .hasSize(1);

        try (SampleService service = new SampleService(Wire.RDMA)) {
            RdmaRpcTransport transport = service.connectRdma();
            RpcCall first = SampleService.call(transport);
            RpcCall second = SampleService.call(transport);
            setNextXid(first, 0x1234);
            setNextXid(second, 0x1234);
            XdrInt result = new XdrInt();
            CompletableFuture<XdrInt> waits =
                    RpcFutures.call(first, SampleProgram.WAIT, new XdrInt(8), result, 0, TimeUnit.SECONDS);
            service.program.waiting.acquire();
            XdrInt other = new XdrInt();
            assertThatThrownBy(() -> second.call(SampleProgram.ECHO_INT, new XdrInt(9), other))
                    .isInstanceOf(DuplicateXidException.class)
                    .hasMessageContaining("1234");
            second.call(SampleProgram.ECHO_INT, new XdrInt(9), other);
            assertThat(other.intValue()).isEqualTo(9);
            service.program.gate.release();
            assertThat(waits.get(30, TimeUnit.SECONDS).intValue()).isEqualTo(8);
        }
    }

    @Test
    void futuresWithoutTimeoutTellTheirDependents() throws Exception {
        for (Wire wire : Wire.values()) {
            try (SampleService service = new SampleService(wire)) {
                RpcCall call = SampleService.call(service.connect());
                CompletableFuture<XdrInt> stock = call.call(SampleProgram.ECHO_INT, new XdrInt(5), XdrInt.class);
                CompletableFuture<Integer> dependent = stock.thenApply(XdrInt::intValue);
                assertThat(stock.get(30, TimeUnit.SECONDS).intValue()).isEqualTo(5);
                assertThat(dependent).as("stock: dependents are never told").isNotDone();
                assertThat(RpcFutures.call(
                                        call, SampleProgram.ECHO_INT, new XdrInt(6), new XdrInt(), 0, TimeUnit.SECONDS)
                                .thenApply(XdrInt::intValue)
                                .get(30, TimeUnit.SECONDS))
                        .isEqualTo(6);
            }
        }
    }

    @Test
    void aCallThatCannotBeSentLeavesNothingPending() throws Exception {
        try (SampleService service = new SampleService(Wire.RDMA)) {
            RdmaRpcTransport transport = service.connectRdma();
            // No binding knows of the result, so it cannot be placed.
            PlacedArguments unplaceable =
                    PlacedArguments.of(new ReadArguments(0, 10)).into(ByteBuffer.allocate(10));
            assertThatThrownBy(
                            () -> SampleService.call(transport).call(SampleProgram.READ, unplaceable, new ReadResult()))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("no binding");
            XdrAble odd = new XdrAble() {
                @Override
                public void xdrEncode(XdrEncodingStream stream) {
                    ((Xdr) stream).asBuffer().put((byte) 1);
                }

                @Override
                public void xdrDecode(XdrDecodingStream stream) {}
            };
            assertThatThrownBy(() -> SampleService.call(transport).call(SampleProgram.NULL, odd, XdrVoid.XDR_VOID))
                    .isInstanceOf(IOException.class);
            assertThat(transport.getReplyQueue().getPendingRequests()).isEmpty();
            assertThat(transport.openCalls()).isZero();
        }
    }

    @Test
    void callsFailWhenTheLocalSideCloses() throws Exception {
        try (SampleService service = new SampleService(Wire.RDMA)) {
            RdmaOncRpcClient client = service.client(builder -> builder);
            RdmaRpcTransport transport = SampleService.connect(client);
            CompletableFuture<XdrInt> waits = RpcFutures.call(
                    SampleService.call(transport),
                    SampleProgram.WAIT,
                    new XdrInt(1),
                    new XdrInt(),
                    0,
                    TimeUnit.SECONDS);
            service.program.waiting.acquire();
            client.close();
            assertThatThrownBy(() -> waits.get(30, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(EOFException.class);
            assertThat(transport.isOpen()).isFalse();
            assertThat(transport.openCalls()).isZero();
        }
    }

    @Test
    void localAddressesAreThereAndUnique() throws Exception {
        ReplyQueue stock = new ReplyQueue();
        stock.registerKey(1, null, NOBODY);
        assertThatThrownBy(() -> stock.handleDisconnect(new InetSocketAddress(1)))
                .as("stock: no local address, no end")
                .isInstanceOf(NullPointerException.class);

        try (SampleService service = new SampleService(Wire.RDMA)) {
            List<InetSocketAddress> locals = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                RpcTransport transport = service.connect();
                locals.add(transport.getLocalSocketAddress());
                assertThat(transport.getRemoteSocketAddress()).isEqualTo(service.address());
                assertThat(transport.toString())
                        .contains(locals.getLast().toString())
                        .contains(service.address().toString());
            }
            assertThat(locals).doesNotContainNull().doesNotHaveDuplicates();
        }
    }

    @Test
    void aSendListenerThatBlocksHoldsUpNobodyElse() throws Exception {
        try (SampleService service = new SampleService(Wire.RDMA)) {
            RpcTransport transport = service.connect();
            CountDownLatch release = new CountDownLatch(1);
            CountDownLatch blocked = new CountDownLatch(1);
            RpcCall slow = SampleService.call(transport);
            slow.registerSendListener(new CompletionHandler<>() {
                @Override
                public void completed(Integer bytes, InetSocketAddress to) {
                    blocked.countDown();
                    try {
                        assertThat(release.await(30, TimeUnit.SECONDS)).isTrue();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                }

                @Override
                public void failed(Throwable failure, InetSocketAddress to) {}
            });
            Thread caller = Thread.startVirtualThread(() -> {
                try {
                    slow.call(SampleProgram.NULL, XdrVoid.XDR_VOID, XdrVoid.XDR_VOID);
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            assertThat(blocked.await(30, TimeUnit.SECONDS)).isTrue();
            for (int i = 0; i < 20; i++) {
                XdrInt result = new XdrInt();
                SampleService.call(transport).call(SampleProgram.ECHO_INT, new XdrInt(i), result);
                assertThat(result.intValue()).isEqualTo(i);
            }
            release.countDown();
            caller.join();
        }
    }

    @Test
    void noTimeoutIsOverAtOnceHoweverLongItIs() throws Exception {
        try (SampleService service = new SampleService(Wire.RDMA)) {
            RpcCall call = SampleService.call(service.connect());
            for (TimeUnit unit : TimeUnit.values()) {
                XdrInt result = new XdrInt();
                call.call(SampleProgram.ECHO_INT, new XdrInt(1), result, Long.MAX_VALUE, unit);
                assertThat(result.intValue()).isEqualTo(1);
            }
        }
    }

    @Test
    void timeoutsLeaveNoCallsAndNoCallbacksBehind() throws Exception {
        try (SampleService service = new SampleService(Wire.RDMA)) {
            RdmaOncRpcClient client = service.client(
                    builder -> builder.settings(inner -> inner.maxInFlight(4).maxQueued(100)));
            RdmaRpcTransport transport = SampleService.connect(client);
            RpcCall call = SampleService.call(transport);
            List<CompletableFuture<XdrInt>> all = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                all.add(RpcFutures.call(
                        call, SampleProgram.WAIT, new XdrInt(i), new XdrInt(), 200, TimeUnit.MILLISECONDS));
            }
            int timedOut = 0;
            int refused = 0;
            for (CompletableFuture<XdrInt> one : all) {
                Throwable end = one.handle((value, failure) -> failure).get(30, TimeUnit.SECONDS);
                assertThat(end).isNotNull();
                timedOut += end instanceof TimeoutException ? 1 : 0;
                refused += end instanceof IOException
                                && String.valueOf(end.getMessage()).contains("calls wait")
                        ? 1
                        : 0;
            }
            assertThat(timedOut + refused).isEqualTo(500);
            assertThat(refused).as("beyond the bound calls are refused").isPositive();
            assertThat(transport.getReplyQueue().getPendingRequests()).isEmpty();
            assertThat(transport.openCalls()).isZero();
            assertThat(transport.isOpen())
                    .as("callers that gave up do not end the connection")
                    .isTrue();
            service.program.gate.release(1 << 20);
            XdrInt result = new XdrInt();
            call.call(SampleProgram.ECHO_INT, new XdrInt(3), result);
            assertThat(result.intValue()).isEqualTo(3);
        }
    }
}
