// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.dcache.oncrpc4j.rpc.OncRpcException;
import org.dcache.oncrpc4j.xdr.Xdr;
import org.dcache.oncrpc4j.xdr.XdrAble;
import org.dcache.oncrpc4j.xdr.XdrDecodingStream;
import org.dcache.oncrpc4j.xdr.XdrEncodingStream;

/** Arguments and results, written as one writes them for oncrpc4j. */
final class SampleTypes {

    private SampleTypes() {}

    /** An opaque as an array. */
    static final class Bytes implements XdrAble {
        byte[] value;

        Bytes() {
            this(new byte[0]);
        }

        Bytes(byte[] value) {
            this.value = value;
        }

        @Override
        public void xdrEncode(XdrEncodingStream stream) throws OncRpcException, IOException {
            stream.xdrEncodeDynamicOpaque(value);
        }

        @Override
        public void xdrDecode(XdrDecodingStream stream) throws OncRpcException, IOException {
            value = stream.xdrDecodeDynamicOpaque();
        }
    }

    /** An opaque as a buffer. */
    static final class Buffered implements XdrAble {
        ByteBuffer value;

        Buffered() {
            this(ByteBuffer.allocate(0));
        }

        Buffered(ByteBuffer value) {
            this.value = value;
        }

        @Override
        public void xdrEncode(XdrEncodingStream stream) throws OncRpcException, IOException {
            stream.xdrEncodeByteBuffer(value.duplicate());
        }

        @Override
        public void xdrDecode(XdrDecodingStream stream) throws OncRpcException, IOException {
            value = stream.xdrDecodeByteBuffer();
        }
    }

    /** What is read. */
    static final class ReadArguments implements XdrAble {
        long offset;
        int count;

        ReadArguments() {}

        ReadArguments(long offset, int count) {
            this.offset = offset;
            this.count = count;
        }

        @Override
        public void xdrEncode(XdrEncodingStream stream) throws OncRpcException, IOException {
            stream.xdrEncodeLong(offset);
            stream.xdrEncodeInt(count);
        }

        @Override
        public void xdrDecode(XdrDecodingStream stream) throws OncRpcException, IOException {
            offset = stream.xdrDecodeLong();
            count = stream.xdrDecodeInt();
        }
    }

    /** How a result's data are encoded. */
    enum Style {
        ARRAY,
        BUFFER,
        SHALLOW,
        MARKED
    }

    /** What was read: status, data, and a word behind them. */
    public static final class ReadResult implements XdrAble {
        int status;
        boolean eof;
        ByteBuffer data = ByteBuffer.allocate(0);
        int after;
        private final Style style;

        public ReadResult() {
            this(Style.BUFFER);
        }

        ReadResult(Style style) {
            this.style = style;
        }

        byte[] bytes() {
            byte[] copy = new byte[data.remaining()];
            data.duplicate().get(copy);
            return copy;
        }

        @Override
        public void xdrEncode(XdrEncodingStream stream) throws OncRpcException, IOException {
            stream.xdrEncodeInt(status);
            stream.xdrEncodeBoolean(eof);
            switch (style) {
                case ARRAY -> stream.xdrEncodeDynamicOpaque(bytes());
                case BUFFER -> stream.xdrEncodeByteBuffer(data.duplicate());
                case SHALLOW -> ((Xdr) stream).xdrEncodeShallowByteBuffer(data.duplicate());
                case MARKED -> ((Xdr) stream).xdrEncodeShallowByteBuffer(RdmaPayload.of(data));
            }
            stream.xdrEncodeInt(after);
        }

        @Override
        public void xdrDecode(XdrDecodingStream stream) throws OncRpcException, IOException {
            status = stream.xdrDecodeInt();
            eof = stream.xdrDecodeBoolean();
            data = style == Style.ARRAY
                    ? ByteBuffer.wrap(stream.xdrDecodeDynamicOpaque())
                    : stream.xdrDecodeByteBuffer();
            after = stream.xdrDecodeInt();
        }
    }

    /** What is written: offset, data, and a word behind them. */
    static final class WriteArguments implements XdrAble {
        long offset;
        ByteBuffer data = ByteBuffer.allocate(0);
        int stable;
        private final Style style;

        WriteArguments() {
            this(Style.BUFFER, 0, ByteBuffer.allocate(0), 0);
        }

        WriteArguments(Style style, long offset, ByteBuffer data, int stable) {
            this.style = style;
            this.offset = offset;
            this.data = data;
            this.stable = stable;
        }

        static WriteArguments marked(MemorySegment data) {
            return new WriteArguments(Style.MARKED, 1, data.asByteBuffer(), 2);
        }

        @Override
        public void xdrEncode(XdrEncodingStream stream) throws OncRpcException, IOException {
            stream.xdrEncodeLong(offset);
            switch (style) {
                case ARRAY -> {
                    byte[] copy = new byte[data.remaining()];
                    data.duplicate().get(copy);
                    stream.xdrEncodeDynamicOpaque(copy);
                }
                case BUFFER -> stream.xdrEncodeByteBuffer(data.duplicate());
                case SHALLOW -> ((Xdr) stream).xdrEncodeShallowByteBuffer(data.duplicate());
                case MARKED -> ((Xdr) stream).xdrEncodeShallowByteBuffer(RdmaPayload.of(data));
            }
            stream.xdrEncodeInt(stable);
        }

        @Override
        public void xdrDecode(XdrDecodingStream stream) throws OncRpcException, IOException {
            offset = stream.xdrDecodeLong();
            data = stream.xdrDecodeByteBuffer();
            stable = stream.xdrDecodeInt();
        }
    }
}
