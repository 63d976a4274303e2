// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import java.io.File;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32;
import javax.security.auth.Subject;
import org.dcache.oncrpc4j.rpc.OncRpcAcceptedException;
import org.dcache.oncrpc4j.rpc.OncRpcException;
import org.dcache.oncrpc4j.rpc.OncRpcProgram;
import org.dcache.oncrpc4j.rpc.RpcAccepsStatus;
import org.dcache.oncrpc4j.rpc.RpcAuthError;
import org.dcache.oncrpc4j.rpc.RpcAuthException;
import org.dcache.oncrpc4j.rpc.RpcAuthStat;
import org.dcache.oncrpc4j.rpc.RpcAuthTypeUnix;
import org.dcache.oncrpc4j.rpc.RpcCall;
import org.dcache.oncrpc4j.rpc.RpcDispatchable;
import org.dcache.oncrpc4j.xdr.Xdr;
import org.dcache.oncrpc4j.xdr.XdrAble;
import org.dcache.oncrpc4j.xdr.XdrDecodingStream;
import org.dcache.oncrpc4j.xdr.XdrEncodingStream;
import org.dcache.oncrpc4j.xdr.XdrInt;
import org.dcache.oncrpc4j.xdr.XdrLong;
import org.dcache.oncrpc4j.xdr.XdrString;
import org.dcache.oncrpc4j.xdr.XdrVoid;
import org.glassfish.grizzly.FileTransfer;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.oncrpc.SampleTypes.Buffered;
import org.rpcrdma4j.oncrpc.SampleTypes.Bytes;
import org.rpcrdma4j.oncrpc.SampleTypes.ReadArguments;
import org.rpcrdma4j.oncrpc.SampleTypes.ReadResult;
import org.rpcrdma4j.oncrpc.SampleTypes.Style;
import org.rpcrdma4j.oncrpc.SampleTypes.WriteArguments;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.ulb.ItemSink;
import org.rpcrdma4j.transport.ulb.ReplyBound;
import org.rpcrdma4j.transport.ulb.UpperLayerBinding;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;

/** A program as one writes it for oncrpc4j: echoes, something like a file, and everything that can go wrong. Knows no transport. */
final class SampleProgram implements RpcDispatchable {

    static final OncRpcProgram PROGRAM = new OncRpcProgram(0x2000_0200, 1);

    static final int NULL = 0;
    static final int ECHO_INT = 1;
    static final int ECHO_STRING = 2;
    static final int ECHO_BYTES = 3;
    static final int ECHO_BUFFER = 4;
    static final int READ = 5;
    static final int WRITE = 6;
    static final int IDENTITY = 7;
    static final int WAIT = 8;
    static final int FAIL = 9;
    static final int READ_BUFFER = 10;
    static final int READ_SHALLOW = 11;
    static final int READ_MARKED = 12;
    static final int READ_FILE = 13;
    static final int BROKEN_REPLY = 14;
    static final int TWO_VIEWS = 15;
    static final int SUBJECT = 16;
    static final int LATER = 17;
    static final int READ_LATE = 18;

    static final Bindings BINDINGS = Bindings.none(1 << 20).with(PROGRAM.getNumber(), 1, 1, new Binding());

    /** Most bytes that can be read from the file. */
    static final int FILE_BYTES = 2 << 20;

    private static final byte[] FILE = pattern(FILE_BYTES);

    private final MemorySegment nativeFile = Arena.ofAuto().allocate(FILE_BYTES, 4096);
    final Semaphore gate = new Semaphore(0);
    final Semaphore waiting = new Semaphore(0);
    final Semaphore answeredLate = new Semaphore(0);
    volatile @Nullable File file;
    volatile @Nullable ByteBuffer lastWritten;

    SampleProgram() {
        nativeFile.copyFrom(MemorySegment.ofArray(FILE));
    }

    static byte[] pattern(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (i * 31 + (i >> 11));
        }
        return bytes;
    }

    static byte[] filePart(long offset, int count) {
        return Arrays.copyOfRange(FILE, (int) offset, (int) offset + count);
    }

    /** The file's memory of those results that are not copied. */
    MemorySegment nativeFile() {
        return nativeFile;
    }

    static long checksum(ByteBuffer bytes) {
        CRC32 crc = new CRC32();
        crc.update(bytes.duplicate());
        return crc.getValue();
    }

    @Override
    public void dispatchOncRpcCall(RpcCall call) throws OncRpcException, IOException {
        switch (call.getProcedure()) {
            case NULL -> {
                call.retrieveCall(XdrVoid.XDR_VOID);
                call.reply(XdrVoid.XDR_VOID);
            }
            case ECHO_INT -> echo(call, new XdrInt());
            case ECHO_STRING -> echo(call, new XdrString());
            case ECHO_BYTES -> echo(call, new Bytes());
            case ECHO_BUFFER -> echo(call, new Buffered());
            case READ -> read(call, Style.ARRAY);
            case READ_BUFFER -> read(call, Style.BUFFER);
            case READ_SHALLOW -> read(call, Style.SHALLOW);
            case READ_MARKED -> read(call, Style.MARKED);
            case READ_FILE -> readFile(call);
            case WRITE -> write(call);
            case IDENTITY -> call.reply(new XdrString(identity(call)));
            case SUBJECT -> call.reply(new XdrString(String.valueOf(Subject.current())));
            case WAIT -> await(call);
            case FAIL -> fail(call);
            case BROKEN_REPLY -> call.reply(new Broken());
            case TWO_VIEWS -> twoViews(call);
            case LATER -> later(call);
            case READ_LATE -> {
                waitAtGate();
                read(call, Style.MARKED);
                answeredLate.release();
            }
            default -> call.failProcedureUnavailable();
        }
    }

    private static void echo(RpcCall call, XdrAble value) throws IOException {
        call.retrieveCall(value);
        call.reply(value);
    }

    private void read(RpcCall call, Style style) throws IOException {
        ReadArguments wanted = new ReadArguments();
        call.retrieveCall(wanted);
        ReadResult result = new ReadResult(style);
        result.status = 17;
        result.eof = wanted.offset + wanted.count >= FILE_BYTES;
        result.after = wanted.count;
        result.data = style == Style.ARRAY || style == Style.BUFFER
                ? ByteBuffer.wrap(filePart(wanted.offset, wanted.count))
                : nativeFile.asSlice(wanted.offset, wanted.count).asByteBuffer();
        call.reply(result);
    }

    private void readFile(RpcCall call) throws IOException {
        ReadArguments wanted = new ReadArguments();
        call.retrieveCall(wanted);
        call.reply(new FilePart(String.valueOf(file), wanted));
    }

    private void write(RpcCall call) throws IOException {
        WriteArguments arguments = new WriteArguments();
        call.retrieveCall(arguments);
        lastWritten = arguments.data;
        call.reply(new XdrLong(checksum(arguments.data) + arguments.offset + arguments.stable));
    }

    private static String identity(RpcCall call) {
        return call.getCredential() instanceof RpcAuthTypeUnix unix
                ? unix.uid() + ":" + unix.gid() + ":" + Arrays.toString(unix.gids())
                : "flavour " + call.getCredential().type();
    }

    private void await(RpcCall call) throws IOException {
        XdrInt value = new XdrInt();
        call.retrieveCall(value);
        waitAtGate();
        call.reply(value);
    }

    private void waitAtGate() {
        waiting.release();
        try {
            if (!gate.tryAcquire(50, TimeUnit.SECONDS)) {
                throw new IllegalStateException("nobody opened the gate");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Procedures may answer from another thread, after they have returned. */
    private static void later(RpcCall call) throws IOException {
        XdrInt value = new XdrInt();
        call.retrieveCall(value);
        var _ = CompletableFuture.runAsync(() -> call.reply(value));
    }

    private static void fail(RpcCall call) throws IOException {
        XdrInt how = new XdrInt();
        call.retrieveCall(how);
        switch (how.intValue()) {
            case 0 -> throw new RpcAuthException("no", new RpcAuthError(RpcAuthStat.AUTH_TOOWEAK));
            case 1 -> throw new OncRpcAcceptedException(RpcAccepsStatus.SYSTEM);
            case 2 -> throw new IOException("io");
            case 3 -> throw new IllegalStateException("runtime");
            case 4 -> call.failProgramMismatch(3, 4);
            case 5 -> call.failRpcGarbage();
            case 6 -> call.failRpcSystem();
            case 7 -> call.retrieveCall(new Bytes());
            case 8 -> throw new StackOverflowError("error");
            default -> call.failProcedureUnavailable();
        }
    }

    /** Decodes two buffers, and answers with a word in front of them: views must outlive the encoding. */
    private static void twoViews(RpcCall call) throws IOException {
        List<ByteBuffer> views = new ArrayList<>();
        call.retrieveCall(new XdrAble() {
            @Override
            public void xdrEncode(XdrEncodingStream stream) {}

            @Override
            public void xdrDecode(XdrDecodingStream stream) throws OncRpcException, IOException {
                views.add(stream.xdrDecodeByteBuffer());
                views.add(stream.xdrDecodeByteBuffer());
            }
        });
        call.reply(new XdrAble() {
            @Override
            public void xdrEncode(XdrEncodingStream stream) throws OncRpcException, IOException {
                for (int i = 0; i < 16; i++) {
                    stream.xdrEncodeInt(-1);
                }
                stream.xdrEncodeLong(checksum(views.get(0)));
                stream.xdrEncodeLong(checksum(views.get(1)));
            }

            @Override
            public void xdrDecode(XdrDecodingStream stream) {}
        });
    }

    /** A result that cannot be encoded. */
    private static final class Broken implements XdrAble {
        @Override
        public void xdrEncode(XdrEncodingStream stream) throws OncRpcException {
            stream.xdrEncodeInt(1);
            throw new OncRpcAcceptedException(RpcAccepsStatus.SYSTEM);
        }

        @Override
        public void xdrDecode(XdrDecodingStream stream) {}
    }

    /** Status, then a part of a file, as a file server sends it. */
    private record FilePart(String path, ReadArguments wanted) implements XdrAble {
        @Override
        public void xdrEncode(XdrEncodingStream stream) throws OncRpcException, IOException {
            stream.xdrEncodeInt(17);
            stream.xdrEncodeBoolean(true);
            ((Xdr) stream).xdrEncodeFileChunk(new FileTransfer(new File(path), wanted.offset, wanted.count));
        }

        @Override
        public void xdrDecode(XdrDecodingStream stream) {}
    }

    /** Eligible: WRITE's data, and the data of each READ. */
    private static final class Binding implements UpperLayerBinding {

        private static boolean isRead(CallHeader call) {
            int procedure = call.procedure();
            return procedure == READ || procedure == READ_LATE || (procedure >= READ_BUFFER && procedure <= READ_FILE);
        }

        @Override
        public void argumentItems(CallHeader call, XdrReader arguments, ItemSink sink) throws XdrException {
            if (call.procedure() == WRITE) {
                arguments.skip(8);
                ItemSink.tell(arguments, FILE_BYTES, sink);
            }
        }

        @Override
        public void resultItems(CallHeader call, XdrReader results, ItemSink sink) throws XdrException {
            if (isRead(call)) {
                results.skip(8);
                ItemSink.tell(results, FILE_BYTES, sink);
            }
        }

        @Override
        public ReplyBound replyBound(CallHeader call, XdrReader arguments) throws XdrException {
            if (isRead(call)) {
                arguments.skip(8);
                return ReplyBound.withItem(ReplyHeader.MAX_SUCCESS_LENGTH + 16, arguments.readUnsignedInt());
            }
            return ReplyBound.configured(ReplyHeader.MAX_SUCCESS_LENGTH + (1 << 20));
        }
    }
}
