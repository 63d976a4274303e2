// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.demo;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.dcache.oncrpc4j.xdr.Xdr;
import org.dcache.oncrpc4j.xdr.XdrAble;
import org.dcache.oncrpc4j.xdr.XdrDecodingStream;
import org.dcache.oncrpc4j.xdr.XdrEncodingStream;

/** Arguments and results of {@link StockProgram}, as one writes them for oncrpc4j if copies matter. */
final class StockMessages {
    private StockMessages() {}

    /** Data at a place of a file: the arguments of WRITE. */
    static final class Data implements XdrAble {
        int file;
        long offset;
        ByteBuffer bytes = ByteBuffer.allocate(0);

        Data() {}

        Data(int file, long offset, ByteBuffer bytes) {
            this.file = file;
            this.offset = offset;
            this.bytes = bytes;
        }

        @Override
        public void xdrEncode(XdrEncodingStream out) throws IOException {
            out.xdrEncodeInt(file);
            out.xdrEncodeLong(offset);
            encodeWithoutCopy(out, bytes);
        }

        @Override
        public void xdrDecode(XdrDecodingStream in) throws IOException {
            file = in.xdrDecodeInt();
            offset = in.xdrDecodeLong();
            bytes = in.xdrDecodeByteBuffer();
        }
    }

    /** A place of a file: the arguments of READ, and of COMMIT, which looks at the file alone. */
    static final class Range implements XdrAble {
        int file;
        long offset;
        int count;

        Range() {}

        Range(int file, long offset, int count) {
            this.file = file;
            this.offset = offset;
            this.count = count;
        }

        @Override
        public void xdrEncode(XdrEncodingStream out) throws IOException {
            out.xdrEncodeInt(file);
            out.xdrEncodeLong(offset);
            out.xdrEncodeInt(count);
        }

        @Override
        public void xdrDecode(XdrDecodingStream in) throws IOException {
            file = in.xdrDecodeInt();
            offset = in.xdrDecodeLong();
            count = in.xdrDecodeInt();
        }
    }

    /** Bytes: the result of READ. */
    static final class Content implements XdrAble {
        ByteBuffer bytes;

        Content() {
            this(ByteBuffer.allocate(0));
        }

        Content(ByteBuffer bytes) {
            this.bytes = bytes;
        }

        @Override
        public void xdrEncode(XdrEncodingStream out) throws IOException {
            encodeWithoutCopy(out, bytes);
        }

        @Override
        public void xdrDecode(XdrDecodingStream in) throws IOException {
            bytes = in.xdrDecodeByteBuffer();
        }
    }

    /** The bytes go to the socket from where they are; the interface knows only the call that copies. */
    private static void encodeWithoutCopy(XdrEncodingStream out, ByteBuffer bytes) throws IOException {
        if (out instanceof Xdr xdr) {
            xdr.xdrEncodeShallowByteBuffer(bytes.duplicate());
        } else {
            out.xdrEncodeByteBuffer(bytes.duplicate());
        }
    }
}
