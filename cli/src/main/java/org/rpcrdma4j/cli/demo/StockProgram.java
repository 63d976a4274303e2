// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.demo;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.CompletionHandler;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.dcache.oncrpc4j.rpc.OncRpcProgram;
import org.dcache.oncrpc4j.rpc.RpcCall;
import org.dcache.oncrpc4j.rpc.RpcDispatchable;
import org.dcache.oncrpc4j.xdr.XdrVoid;

/**
 * An oncrpc4j program that serves the demonstration's files: READ, WRITE and COMMIT, which move and keep the same bytes as those of NFS. It
 * does less than NFS: the files are open all the time, nobody's rights are looked at, and replies carry no attributes.
 */
final class StockProgram implements RpcDispatchable, AutoCloseable {
    /** From the range for use by whoever defines one. */
    static final OncRpcProgram PROGRAM = new OncRpcProgram(0x2a72_6a05, 1);

    static final int NULL = 0;
    static final int READ = 1;
    static final int WRITE = 2;
    static final int COMMIT = 3;

    private final List<FileChannel> channels = new ArrayList<>();
    /** Memory for results, used again when it was sent. */
    private final Queue<ByteBuffer> buffers = new ConcurrentLinkedQueue<>();

    /** Opens, or creates, the files of a directory. */
    StockProgram(Path directory, DemoFiles files) throws IOException {
        for (int file = 0; file < DemoFiles.COUNT; file++) {
            channels.add(FileChannel.open(
                    directory.resolve(files.name(file)),
                    StandardOpenOption.CREATE,
                    StandardOpenOption.READ,
                    StandardOpenOption.WRITE));
        }
    }

    @Override
    public void dispatchOncRpcCall(RpcCall call) throws IOException {
        switch (call.getProcedure()) {
            case NULL -> call.reply(XdrVoid.XDR_VOID);
            case READ -> read(call);
            case WRITE -> write(call);
            case COMMIT -> {
                StockMessages.Range range = new StockMessages.Range();
                call.retrieveCall(range);
                channels.get(range.file).force(true);
                call.reply(XdrVoid.XDR_VOID);
            }
            default -> call.failProcedureUnavailable();
        }
    }

    private void read(RpcCall call) throws IOException {
        StockMessages.Range range = new StockMessages.Range();
        call.retrieveCall(range);
        ByteBuffer kept = buffers.poll();
        ByteBuffer buffer = kept == null ? ByteBuffer.allocateDirect(DemoFiles.BLOCK_BYTES) : kept;
        buffer.clear().limit(range.count);
        while (buffer.hasRemaining() && channels.get(range.file).read(buffer, range.offset + buffer.position()) >= 0) {}
        call.registerSendOnceListener(new Release(buffer));
        call.reply(new StockMessages.Content(buffer.flip()));
    }

    private void write(RpcCall call) throws IOException {
        StockMessages.Data data = new StockMessages.Data();
        call.retrieveCall(data);
        ByteBuffer bytes = data.bytes;
        long end = data.offset + bytes.remaining();
        while (bytes.hasRemaining()) {
            channels.get(data.file).write(bytes, end - bytes.remaining());
        }
        call.reply(XdrVoid.XDR_VOID);
    }

    private final class Release implements CompletionHandler<Integer, InetSocketAddress> {
        private final ByteBuffer buffer;

        Release(ByteBuffer buffer) {
            this.buffer = buffer;
        }

        @Override
        public void completed(Integer bytes, InetSocketAddress to) {
            buffers.add(buffer);
        }

        @Override
        public void failed(Throwable failure, InetSocketAddress to) {
            // Somebody may still read it: not used again.
        }
    }

    @Override
    public void close() throws IOException {
        for (FileChannel channel : channels) {
            channel.close();
        }
    }
}
