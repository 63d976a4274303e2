// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.dcache.oncrpc4j.rpc.IoStrategy;
import org.dcache.oncrpc4j.rpc.OncRpcProgram;
import org.dcache.oncrpc4j.rpc.RpcAuthTypeNone;
import org.dcache.oncrpc4j.rpc.RpcAuthTypeUnix;
import org.dcache.oncrpc4j.rpc.RpcCall;
import org.dcache.oncrpc4j.rpc.RpcDispatchable;
import org.dcache.oncrpc4j.rpc.RpcTransport;
import org.dcache.oncrpc4j.xdr.XdrInt;
import org.dcache.oncrpc4j.xdr.XdrString;
import org.dcache.oncrpc4j.xdr.XdrVoid;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.oncrpc.SampleTypes.Bytes;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.client.RpcRdmaClient;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.spi.RdmaDevices;

/** The service: its threads, its callers' identities, calls that nobody can read, calls in the opposite direction, and many at once. */
class ServiceTest {

    private static final OncRpcProgram CALLBACK = new OncRpcProgram(0x2000_0201, 1);

    /** The words of the reply to a message of these words. */
    private static List<Integer> answer(SampleService service, int... words) throws IOException {
        ByteBuffer message = ByteBuffer.allocate(4 * words.length);
        for (int word : words) {
            message.putInt(word);
        }
        List<Integer> reply = new ArrayList<>();
        try (RdmaDevice device = RdmaDevices.open("iwarp", Map.of());
                RpcRdmaClient client =
                        RpcRdmaClient.builder(device, service.address()).build()) {
            MemorySegment came =
                    client.call(CallMessage.builder(message.flip()).build()).message();
            ByteBuffer bytes = came.asByteBuffer();
            while (bytes.remaining() >= 4) {
                reply.add(bytes.getInt());
            }
        }
        return reply;
    }

    @Test
    void anotherRpcVersionIsRefusedWithTheOneThereIs() throws IOException {
        try (SampleService service = new SampleService(Wire.RDMA)) {
            // XID, CALL, version 3, program, version, procedure, two empty AUTH_NONE: MSG_DENIED, RPC_MISMATCH, 2 to 2.
            assertThat(answer(service, 7, 0, 3, SampleProgram.PROGRAM.getNumber(), 1, 0, 0, 0, 0, 0))
                    .containsExactly(7, 1, 1, 0, 2, 2);
        }
    }

    @Test
    void aCredentialThatCannotBeDecodedIsAnswered() throws IOException {
        try (SampleService service = new SampleService(Wire.RDMA)) {
            // AUTH_SYS with a machine name of 2 GiB: MSG_DENIED, AUTH_ERROR, AUTH_BADCRED.
            assertThat(answer(
                            service,
                            8,
                            0,
                            2,
                            SampleProgram.PROGRAM.getNumber(),
                            1,
                            0,
                            1,
                            8,
                            5,
                            Integer.MAX_VALUE,
                            0,
                            0))
                    .containsExactly(8, 1, 1, 1, 1);
            service.awaitAllAnswered();
        }
    }

    @Test
    void withoutASessionManagerRpcsecGssIsRefused() throws IOException {
        try (SampleService service = new SampleService(Wire.RDMA)) {
            // Version 1, DATA, sequence 1, service none, empty handle: MSG_DENIED, AUTH_ERROR, AUTH_REJECTEDCRED.
            assertThat(answer(service, 9, 0, 2, SampleProgram.PROGRAM.getNumber(), 1, 0, 6, 20, 1, 0, 1, 1, 0, 0, 0))
                    .containsExactly(9, 1, 1, 1, 2);
        }
    }

    @Test
    void programsRunAsTheirCallers() throws IOException {
        try (SampleService service = new SampleService(Wire.RDMA, builder -> builder.withSubjectPropagation())) {
            XdrString subject = new XdrString();
            SampleService.call(service.connect(), new RpcAuthTypeUnix(4711, 815, new int[] {9}, 1, "here"))
                    .call(SampleProgram.SUBJECT, XdrVoid.XDR_VOID, subject);
            assertThat(subject.stringValue()).contains("4711").contains("815");
            assertThatThrownBy(() -> SampleService.call(service.connect())
                            .call(SampleProgram.FAIL, new XdrInt(2), XdrVoid.XDR_VOID))
                    .as("its exceptions are mapped as ever")
                    .hasMessage("GARBAGE_ARGS");
        }
    }

    @Test
    void theInterceptorSeesEachCall() throws IOException {
        AtomicInteger seen = new AtomicInteger();
        try (SampleService service =
                new SampleService(Wire.RDMA, builder -> builder.withCallInterceptor(call -> seen.incrementAndGet()))) {
            service.connect();
            assertThat(seen).hasValue(1);
        }
    }

    @Test
    void programsRunOnTheBuildersThreadsOrOnTheServersOwn() throws IOException {
        ConcurrentLinkedQueue<String> names = new ConcurrentLinkedQueue<>();
        try (ExecutorService pool = Executors.newSingleThreadExecutor(task -> new Thread(task, "my worker"))) {
            try (SampleService service = new SampleService(
                    Wire.RDMA,
                    builder -> builder.withWorkerThreadExecutionService(pool)
                            .withCallInterceptor(
                                    call -> names.add(Thread.currentThread().getName())))) {
                service.connect();
            }
            try (SampleService service = new SampleService(
                    Wire.RDMA,
                    builder -> builder.withIoStrategy(IoStrategy.SAME_THREAD)
                            .withCallInterceptor(
                                    call -> names.add(Thread.currentThread().getName())))) {
                service.connect();
            }
            try (SampleService service = new SampleService(
                    Wire.RDMA,
                    builder -> builder.withWorkerThreadExecutionService(null)
                            .withWorkerThreadPoolSize(2)
                            .withCallInterceptor(
                                    call -> names.add(Thread.currentThread().getName())))) {
                service.connect();
            }
            assertThat(names.poll()).isEqualTo("my worker");
            assertThat(names.poll()).isNotNull().doesNotContain("my worker").doesNotContain("sample");
            assertThat(names.poll()).startsWith("sample");
            assertThat(pool.isShutdown()).as("the caller's own pool").isFalse();
        }
    }

    @Test
    void aServerCallsItsClientOverTheSameConnection() throws Exception {
        CompletableFuture<RpcTransport> peer = new CompletableFuture<>();
        RpcDispatchable answering = call -> {
            switch (call.getProcedure()) {
                case 1 -> {
                    XdrString text = new XdrString();
                    call.retrieveCall(text);
                    call.reply(new XdrString("client got " + text.stringValue()));
                }
                case 2 -> call.reply(new Bytes(new byte[10_000]));
                default -> call.failProcedureUnavailable();
            }
        };
        try (SampleService service = new SampleService(
                Wire.RDMA,
                builder -> builder.withCallInterceptor(
                        call -> peer.complete(call.getTransport().getPeerTransport())))) {
            SampleService.connect(service.client(builder -> builder.rpcService(CALLBACK, answering)));
            RpcTransport back = peer.get(30, TimeUnit.SECONDS);
            assertThat(back.isOpen()).isTrue();
            RpcCall call = new RpcCall(CALLBACK.getNumber(), CALLBACK.getVersion(), new RpcAuthTypeNone(), back);
            XdrString result = new XdrString();
            for (int i = 0; i < 10; i++) {
                call.call(1, new XdrString("call " + i), result, 30, TimeUnit.SECONDS);
                assertThat(result.stringValue()).isEqualTo("client got call " + i);
            }
            assertThatThrownBy(() -> call.call(9, XdrVoid.XDR_VOID, XdrVoid.XDR_VOID))
                    .hasMessage("PROC_UNAVAIL");
            assertThatThrownBy(() -> call.call(2, XdrVoid.XDR_VOID, XdrVoid.XDR_VOID))
                    .as("a reply that does not fit inline")
                    .hasMessage("SYSTEM");
            assertThatThrownBy(() -> call.call(1, new XdrString("x".repeat(9000)), result))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("bytes");
            assertThat(back.getReplyQueue().getPendingRequests()).isEmpty();
        }
    }

    @Test
    void manyThreadsWithManyCallObjectsGetEachItsOwnReply() throws Exception {
        try (SampleService service = new SampleService(Wire.RDMA_BOUND);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            RdmaRpcTransport transport = service.connectRdma();
            List<CompletableFuture<Void>> all = new ArrayList<>();
            for (int thread = 0; thread < 16; thread++) {
                int own = thread;
                all.add(CompletableFuture.runAsync(() -> callMany(transport, own), threads));
            }
            for (CompletableFuture<Void> one : all) {
                one.get(50, TimeUnit.SECONDS);
            }
            assertThat(transport.openCalls()).isZero();
            service.awaitAllAnswered();
        }
    }

    private static void callMany(RpcTransport transport, int own) {
        try {
            for (int i = 0; i < 60; i++) {
                RpcCall call = SampleService.call(transport);
                int value = own * 1000 + i;
                XdrInt result = new XdrInt();
                call.call(SampleProgram.ECHO_INT, new XdrInt(value), result, 40, TimeUnit.SECONDS);
                assertThat(result.intValue()).isEqualTo(value);
                if (i % 10 == 0) {
                    Bytes bytes = new Bytes();
                    call.call(SampleProgram.ECHO_BYTES, new Bytes(SampleProgram.pattern(20_000 + value)), bytes);
                    assertThat(bytes.value).isEqualTo(SampleProgram.pattern(20_000 + value));
                }
            }
        } catch (IOException | TimeoutException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void thePortIsThatOfNfsOverRdmaUnlessSet() throws IOException {
        try (SampleService service = new SampleService(Wire.RDMA)) {
            assertThat(service.rdma().localAddress().getAddress()).isEqualTo(InetAddress.getLoopbackAddress());
            assertThat(service.rdma().toString()).contains("oncrpc4j programs");
        }
    }
}
