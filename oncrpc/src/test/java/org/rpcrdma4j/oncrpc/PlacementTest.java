// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.CompletionHandler;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.dcache.oncrpc4j.rpc.RpcCall;
import org.dcache.oncrpc4j.rpc.RpcReply;
import org.dcache.oncrpc4j.rpc.RpcTransport;
import org.dcache.oncrpc4j.xdr.Xdr;
import org.dcache.oncrpc4j.xdr.XdrLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.oncrpc.SampleTypes.ReadArguments;
import org.rpcrdma4j.oncrpc.SampleTypes.ReadResult;
import org.rpcrdma4j.oncrpc.SampleTypes.Style;
import org.rpcrdma4j.oncrpc.SampleTypes.WriteArguments;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.event.ServerCounter;

/** Payload goes from where it lies to where it is wanted: which memory it is, and what the counters say. */
class PlacementTest {

    private static final int MIB = 1 << 20;

    private static long address(ByteBuffer buffer) {
        return MemorySegment.ofBuffer(buffer).address();
    }

    @Test
    void markedNativeMemoryIsReadByTheServerFromWhereItLies() throws Exception {
        try (SampleService service = new SampleService(Wire.RDMA_BOUND);
                Arena arena = Arena.ofShared()) {
            MemorySegment data = arena.allocate(MIB, 4096).copyFrom(MemorySegment.ofArray(SampleProgram.pattern(MIB)));
            RdmaRpcTransport transport = service.connectRdma();
            XdrLong sum = new XdrLong();
            SampleService.call(transport).call(SampleProgram.WRITE, WriteArguments.marked(data), sum);
            assertThat(sum.longValue()).isEqualTo(SampleProgram.checksum(data.asByteBuffer()) + 3);
            assertThat(count(transport, ClientCounter.PULLUP_COPIES))
                    .as("nothing of the payload is copied")
                    .isLessThan(MIB);
            ByteBuffer seen = Objects.requireNonNull(service.program.lastWritten, "nothing was written");
            assertThat(seen.isDirect()).as("the program sees the chunk itself").isTrue();
        }
    }

    private static long count(RdmaRpcTransport transport, ClientCounter counter) {
        return transport.client().counters().get(counter);
    }

    @Test
    void aResultLiesInTheMemoryThatItsCallerNamed() throws Exception {
        try (SampleService service = new SampleService(Wire.RDMA_BOUND);
                Arena arena = Arena.ofShared()) {
            RdmaRpcTransport transport = service.connectRdma();
            for (int procedure : new int[] {
                SampleProgram.READ, SampleProgram.READ_BUFFER, SampleProgram.READ_SHALLOW, SampleProgram.READ_MARKED
            }) {
                MemorySegment target = arena.allocate(MIB, 4096);
                PlacedArguments arguments =
                        PlacedArguments.of(new ReadArguments(3, MIB)).into(target);
                ReadResult result = new ReadResult();
                SampleService.call(transport).call(procedure, arguments, result);
                assertThat(arguments.placedBytes()).isEqualTo(MIB);
                assertThat(address(result.data)).isEqualTo(target.address());
                assertThat(target.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(SampleProgram.filePart(3, MIB));
                assertThat(result.after).isEqualTo(MIB);
            }
            assertThat(service.rdma().server().counters().get(ServerCounter.WRITES))
                    .isEqualTo(4);
            assertThat(service.rdma().server().counters().get(ServerCounter.NOMSG_REPLIES))
                    .isZero();
        }
    }

    @Test
    void heapMemoryCanBeNamedToo() throws Exception {
        try (SampleService service = new SampleService(Wire.RDMA_BOUND)) {
            ByteBuffer target = ByteBuffer.allocate(5000);
            ReadResult result = new ReadResult();
            SampleService.call(service.connect())
                    .call(
                            SampleProgram.READ,
                            PlacedArguments.of(new ReadArguments(1, 4999)).into(target),
                            result);
            assertThat(result.bytes()).isEqualTo(SampleProgram.filePart(1, 4999));
            assertThat(target.slice(0, 4999)).isEqualTo(ByteBuffer.wrap(SampleProgram.filePart(1, 4999)));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5, 100, 2000, 70_001})
    void oddLengthsArePlacedWithoutTheirPads(int length) throws Exception {
        try (SampleService service = new SampleService(Wire.RDMA_BOUND);
                Arena arena = Arena.ofShared()) {
            RpcTransport transport = service.connect();
            MemorySegment target = arena.allocate(length + 8L);
            target.fill((byte) 9);
            ReadResult result = new ReadResult();
            SampleService.call(transport)
                    .call(
                            SampleProgram.READ_BUFFER,
                            PlacedArguments.of(new ReadArguments(0, length)).into(target.asSlice(0, length)),
                            result);
            assertThat(result.bytes()).isEqualTo(SampleProgram.filePart(0, length));
            assertThat(result.after).isEqualTo(length);
            assertThat(target.asSlice(length).toArray(ValueLayout.JAVA_BYTE)).containsOnly(9);
        }
    }

    @Test
    void withoutALeaseResultsAreCopiedAndMemoryGoesBack() throws Exception {
        try (SampleService service = new SampleService(Wire.RDMA_BOUND)) {
            RdmaOncRpcClient client = service.client(builder -> builder);
            RpcTransport transport = client.connect();
            for (Style style : List.of(Style.ARRAY, Style.BUFFER)) {
                ReadResult result = new ReadResult(style);
                SampleService.call(transport).call(SampleProgram.READ, new ReadArguments(0, MIB), result);
                assertThat(result.bytes()).isEqualTo(SampleProgram.filePart(0, MIB));
                assertThat(result.data.isDirect()).isFalse();
                service.await("memory is back", () -> client.leasedBuffers() == 0);
            }
        }
    }

    @Test
    void withALeaseResultsAreViewsUntilItIsClosed() throws Exception {
        try (SampleService service = new SampleService(Wire.RDMA_BOUND)) {
            RdmaOncRpcClient client = service.client(builder -> builder);
            RpcTransport transport = client.connect();
            RpcCall call = SampleService.call(transport);
            ReadResult one = new ReadResult();
            ReadResult two = new ReadResult();
            try (ReplyLease lease = new ReplyLease()) {
                call.call(
                        SampleProgram.READ,
                        PlacedArguments.of(new ReadArguments(0, MIB)).lease(lease),
                        one);
                call.call(
                        SampleProgram.READ,
                        PlacedArguments.of(new ReadArguments(9, MIB)).lease(lease),
                        two);
                assertThat(one.data.isDirect() && two.data.isDirect()).isTrue();
                assertThat(one.bytes()).isEqualTo(SampleProgram.filePart(0, MIB));
                assertThat(two.bytes()).isEqualTo(SampleProgram.filePart(9, MIB));
                assertThat(client.leasedBuffers()).isEqualTo(2);
            }
            assertThat(client.leasedBuffers()).isZero();
            ReplyLease closed = new ReplyLease();
            closed.close();
            call.call(
                    SampleProgram.READ,
                    PlacedArguments.of(new ReadArguments(0, 10)).lease(closed),
                    one);
            assertThat(client.leasedBuffers())
                    .as("of a lease that was closed before")
                    .isZero();
        }
    }

    /** oncrpc4j lets a callback keep the reply and decode it whenever it likes. */
    @Test
    void aReplyThatIsDecodedLaterIsStillThere() throws Exception {
        try (SampleService service = new SampleService(Wire.RDMA_BOUND)) {
            RdmaOncRpcClient client = service.client(builder -> builder);
            RpcTransport transport = client.connect();
            CompletableFuture<RpcReply> kept = new CompletableFuture<>();
            SampleService.call(transport)
                    .call(SampleProgram.READ, new ReadArguments(5, MIB), new CompletionHandler<>() {
                        @Override
                        public void completed(RpcReply reply, RpcTransport from) {
                            kept.complete(reply);
                        }

                        @Override
                        public void failed(Throwable failure, RpcTransport from) {
                            kept.completeExceptionally(failure);
                        }
                    });
            RpcReply reply = kept.get(30, TimeUnit.SECONDS);
            for (int i = 0; i < 5; i++) {
                SampleService.call(transport).call(SampleProgram.READ, new ReadArguments(77, MIB), new ReadResult());
            }
            ReadResult result = new ReadResult();
            reply.getReplyResult(result);
            assertThat(result.bytes()).isEqualTo(SampleProgram.filePart(5, MIB));
            service.await("it is let go", () -> client.leasedBuffers() == 0);
        }
    }

    @Test
    void theMarkerSurvivesThreeItemsInOneMessage() {
        byte[] bytes = SampleProgram.pattern(3000);
        List<MemorySegment> memory = new ArrayList<>();
        Xdr xdr = new Xdr(64);
        xdr.beginEncoding();
        try (Arena arena = Arena.ofShared()) {
            for (int i = 0; i < 3; i++) {
                MemorySegment item = arena.allocate(1000 + i);
                item.copyFrom(MemorySegment.ofArray(bytes).asSlice(1000L * i, Math.min(1000 + i, 3000 - 1000 * i)));
                memory.add(item);
                xdr.xdrEncodeShallowByteBuffer(RdmaPayload.of(item));
                xdr.xdrEncodeInt(i);
            }
            xdr.endEncoding();
            MessagePieces pieces = MessagePieces.of(xdr.asBuffer());
            long position = 4;
            for (int i = 0; i < 3; i++) {
                assertThat(pieces.isPayload(position)).as("item %s", i).isTrue();
                List<MemorySegment> lies = pieces.range(position, position + 1000 + i);
                assertThat(lies).hasSize(1);
                assertThat(lies.getFirst().address()).isEqualTo(memory.get(i).address());
                position += CheckedXdr.padded(1000 + i) + 8;
            }
            assertThat(pieces.bytes()).isEqualTo(position - 4);
            assertThat(xdr.getBytes()).hasSize((int) pieces.bytes());
        }
    }

    @Test
    void aResultIsPlacedOnlyIfABindingNamesIt() throws Exception {
        try (SampleService service = new SampleService(Wire.RDMA)) {
            assertThatThrownBy(() -> SampleService.call(service.connect())
                            .call(
                                    SampleProgram.READ,
                                    PlacedArguments.of(new ReadArguments(0, 10)).lease(new ReplyLease()),
                                    new ReadResult()))
                    .hasMessageContaining("no binding names a result");
        }
    }

    @Test
    void placedArgumentsAreOrdinaryOnesOverTcp() throws Exception {
        try (SampleService service = new SampleService(Wire.TCP)) {
            ByteBuffer target = ByteBuffer.allocate(100);
            PlacedArguments arguments =
                    PlacedArguments.of(new ReadArguments(0, 100)).into(target);
            ReadResult result = new ReadResult();
            SampleService.call(service.connect()).call(SampleProgram.READ, arguments, result);
            assertThat(result.bytes()).isEqualTo(SampleProgram.filePart(0, 100));
            assertThat(arguments.placedBytes()).isZero();
        }
    }
}
