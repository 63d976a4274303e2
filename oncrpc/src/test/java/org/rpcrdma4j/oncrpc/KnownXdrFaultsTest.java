// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.dcache.oncrpc4j.grizzly.GrizzlyMemoryManager;
import org.dcache.oncrpc4j.rpc.OncRpcAcceptedException;
import org.dcache.oncrpc4j.rpc.RpcAccepsStatus;
import org.dcache.oncrpc4j.rpc.RpcCall;
import org.dcache.oncrpc4j.xdr.Xdr;
import org.dcache.oncrpc4j.xdr.XdrAble;
import org.dcache.oncrpc4j.xdr.XdrDecodingStream;
import org.dcache.oncrpc4j.xdr.XdrEncodingStream;
import org.dcache.oncrpc4j.xdr.XdrInt;
import org.dcache.oncrpc4j.xdr.XdrVoid;
import org.glassfish.grizzly.Buffer;
import org.glassfish.grizzly.memory.BuffersBuffer;
import org.glassfish.grizzly.memory.ByteBufferWrapper;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.oncrpc.SampleTypes.Bytes;

/**
 * Faults of oncrpc4j 3.4.2 with what is encoded and decoded, that a transport can have or avoid: each test is named after one; where it
 * is cheap, it shows the fault too.
 */
class KnownXdrFaultsTest {

    @Test
    void theReplyIsNotWrittenOverTheRequest() throws Exception {
        byte[] one = SampleProgram.pattern(64);
        byte[] two = SampleProgram.pattern(5000);
        String expected =
                SampleProgram.checksum(ByteBuffer.wrap(one)) + " " + SampleProgram.checksum(ByteBuffer.wrap(two));
        for (Wire wire : Wire.values()) {
            try (SampleService service = new SampleService(wire)) {
                long[] sums = new long[2];
                SampleService.call(service.connect())
                        .call(SampleProgram.TWO_VIEWS, new TwoBuffers(one, two), new TwoSums(sums));
                String came = sums[0] + " " + sums[1];
                if (wire == Wire.TCP) {
                    assertThat(came).as("stock: it is").isNotEqualTo(expected);
                } else {
                    assertThat(came).isEqualTo(expected);
                }
            }
        }
    }

    @Test
    void anItemInAPieceOfItsOwnIsDecodedWithoutACopy() throws Exception {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment head =
                    MemorySegment.ofBuffer(ByteBuffer.allocate(8).putInt(0, 1).putInt(4, 1 << 16));
            MemorySegment item = arena.allocate(1 << 16, 8);
            MemorySegment tail = MemorySegment.ofArray(new byte[4]);
            Buffer composite = BuffersBuffer.create(
                    GrizzlyMemoryManager.getDefaultMemoryManager(),
                    new ByteBufferWrapper(head.asByteBuffer()),
                    new ByteBufferWrapper(item.asByteBuffer()),
                    new ByteBufferWrapper(tail.asByteBuffer()));
            Xdr stock = new Xdr(composite, GrizzlyMemoryManager.getDefaultMemoryManager());
            stock.beginDecoding();
            stock.xdrDecodeInt();
            assertThat(stock.xdrDecodeByteBuffer().isDirect())
                    .as("stock copies")
                    .isFalse();

            ReceivedXdr ours = new ReceivedXdr(List.of(head, item, tail));
            ours.beginDecoding();
            ours.xdrDecodeInt();
            ByteBuffer view = ours.xdrDecodeByteBuffer();
            assertThat(MemorySegment.ofBuffer(view).address()).isEqualTo(item.address());
            assertThat(view.remaining()).isEqualTo(1 << 16);
            assertThat(ours.xdrDecodeInt()).isZero();
        }
    }

    @Test
    void aReplyThatCannotBeEncodedIsAnsweredNevertheless() throws Exception {
        try (SampleService service = new SampleService(Wire.TCP)) {
            RpcCall call = SampleService.call(service.connect());
            assertThatThrownBy(() -> call.call(
                            SampleProgram.BROKEN_REPLY, XdrVoid.XDR_VOID, new XdrInt(), 300, TimeUnit.MILLISECONDS))
                    .as("stock: nobody answers")
                    .isInstanceOf(TimeoutException.class);
        }
        try (SampleService service = new SampleService(Wire.RDMA)) {
            RpcCall call = SampleService.call(service.connect());
            assertThatThrownBy(() -> call.call(SampleProgram.BROKEN_REPLY, XdrVoid.XDR_VOID, new XdrInt()))
                    .isInstanceOf(OncRpcAcceptedException.class)
                    .hasMessage(RpcAccepsStatus.toString(RpcAccepsStatus.SYSTEM));
            assertThat(service.rdma().counters().get(ServiceCounter.ENCODING_FAILURES))
                    .isEqualTo(1);
            service.awaitAllAnswered();
        }
    }

    @Test
    void anErrorOfTheProgramIsAnswered() throws Exception {
        try (SampleService service = new SampleService(Wire.RDMA)) {
            assertThatThrownBy(() -> SampleService.call(service.connect())
                            .call(SampleProgram.FAIL, new XdrInt(8), XdrVoid.XDR_VOID))
                    .isInstanceOf(OncRpcAcceptedException.class)
                    .hasMessage(RpcAccepsStatus.toString(RpcAccepsStatus.SYSTEM));
            assertThat(service.rdma().counters().get(ServiceCounter.PROGRAM_FAILURES))
                    .isEqualTo(1);
        }
    }

    /** A result whose decoding throws what oncrpc4j does not expect leaves a stock caller waiting for ever. */
    @Test
    void aResultThatThrowsWhileItIsDecodedFailsItsCall() throws Exception {
        XdrAble broken = new XdrAble() {
            @Override
            public void xdrEncode(XdrEncodingStream stream) {}

            @Override
            public void xdrDecode(XdrDecodingStream stream) {
                throw new ArithmeticException("on purpose");
            }
        };
        try (SampleService service = new SampleService(Wire.RDMA)) {
            assertThatThrownBy(() ->
                            SampleService.call(service.connect()).call(SampleProgram.ECHO_INT, new XdrInt(1), broken))
                    .hasRootCauseInstanceOf(ArithmeticException.class);
        }
    }

    /** A length of 2 GiB in a few bytes: stock oncrpc4j allocates them first. */
    @Test
    void lengthsAreHeldAgainstTheBytesAtHandBeforeMemoryIsTaken() throws Exception {
        byte[] message = {0x7f, -1, -1, -4, 1, 2, 3, 4};
        List<Decoding> all = List.of(
                XdrDecodingStream::xdrDecodeDynamicOpaque,
                XdrDecodingStream::xdrDecodeString,
                XdrDecodingStream::xdrDecodeByteBuffer,
                XdrDecodingStream::xdrDecodeIntVector,
                XdrDecodingStream::xdrDecodeLongVector,
                XdrDecodingStream::xdrDecodeByteVector,
                XdrDecodingStream::xdrDecodeShortVector,
                XdrDecodingStream::xdrDecodeFloatVector,
                XdrDecodingStream::xdrDecodeDoubleVector);
        for (Decoding decoding : all) {
            ReceivedXdr ours = new ReceivedXdr(List.of(MemorySegment.ofArray(message)));
            ours.beginDecoding();
            assertThatThrownBy(() -> decoding.decode(ours)).isInstanceOf(IOException.class);
        }
        Bytes none = new Bytes();
        ReceivedXdr empty = new ReceivedXdr(List.of(MemorySegment.ofArray(new byte[4])));
        empty.beginDecoding();
        none.xdrDecode(empty);
        assertThat(none.value).isEmpty();
    }

    @FunctionalInterface
    private interface Decoding {
        Object decode(XdrDecodingStream stream) throws IOException;
    }

    private static final class TwoBuffers implements XdrAble {
        private final byte[] one;
        private final byte[] two;

        TwoBuffers(byte[] one, byte[] two) {
            this.one = one;
            this.two = two;
        }

        @Override
        public void xdrEncode(XdrEncodingStream stream) throws IOException {
            stream.xdrEncodeDynamicOpaque(one);
            stream.xdrEncodeDynamicOpaque(two);
        }

        @Override
        public void xdrDecode(XdrDecodingStream stream) {}
    }

    private static final class TwoSums implements XdrAble {
        private final long[] sums;

        TwoSums(long[] sums) {
            this.sums = sums;
        }

        @Override
        public void xdrEncode(XdrEncodingStream stream) {}

        @Override
        public void xdrDecode(XdrDecodingStream stream) throws IOException {
            for (int i = 0; i < 16; i++) {
                stream.xdrDecodeInt();
            }
            sums[0] = stream.xdrDecodeLong();
            sums[1] = stream.xdrDecodeLong();
        }
    }
}
