// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.demo;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.CompletionHandler;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongConsumer;
import org.dcache.oncrpc4j.rpc.OncRpcClient;
import org.dcache.oncrpc4j.rpc.OncRpcSvc;
import org.dcache.oncrpc4j.rpc.OncRpcSvcBuilder;
import org.dcache.oncrpc4j.rpc.RpcAuthTypeNone;
import org.dcache.oncrpc4j.rpc.RpcCall;
import org.dcache.oncrpc4j.rpc.RpcReply;
import org.dcache.oncrpc4j.rpc.RpcTransport;
import org.dcache.oncrpc4j.rpc.net.IpProtocolType;
import org.dcache.oncrpc4j.xdr.XdrAble;
import org.dcache.oncrpc4j.xdr.XdrVoid;

/** The same transfer through stock oncrpc4j over TCP: its service, its client, one connection. Used by one thread at a time. */
final class StockTransfer implements FileTransfer, AutoCloseable {
    private static final long LIMIT_SECONDS = 60;

    private final DemoFiles files;
    private final StockProgram program;
    private final ExecutorService workers;
    private final OncRpcSvc service;
    private final OncRpcClient client;
    private final RpcCall calls;
    private final Deque<ByteBuffer> buffers = new ArrayDeque<>();

    /** Serves files of a directory, and connects. */
    StockTransfer(Path directory, DemoFiles files) throws IOException {
        this.files = files;
        program = new StockProgram(directory, files);
        workers = Executors.newFixedThreadPool(
                Math.max(8, 4 * Runtime.getRuntime().availableProcessors()));
        service = new OncRpcSvcBuilder()
                .withTCP()
                .withTcpNoDelay(true)
                .withPort(0)
                .withBindAddress(InetAddress.getLoopbackAddress().getHostAddress())
                .withoutAutoPublish()
                .withServiceName("demo")
                .withSameThreadIoStrategy()
                .withWorkerThreadExecutionService(workers)
                .withRpcService(StockProgram.PROGRAM, program)
                .build();
        service.start();
        InetSocketAddress address = service.getInetSocketAddress(IpProtocolType.TCP);
        client = OncRpcClient.newBuilder()
                .withTCP()
                .withTcpNoDelay(true)
                .withServiceName("demo client")
                .build(InetAddress.getLoopbackAddress(), address.getPort());
        calls = new RpcCall(
                StockProgram.PROGRAM.getNumber(),
                StockProgram.PROGRAM.getVersion(),
                new RpcAuthTypeNone(),
                client.connect(LIMIT_SECONDS, TimeUnit.SECONDS));
        for (int i = 0; i < IN_FLIGHT; i++) {
            buffers.add(ByteBuffer.allocateDirect(DemoFiles.BLOCK_BYTES));
        }
    }

    /** A call that has been sent. */
    private record Pending<R extends XdrAble>(long offset, int length, ByteBuffer buffer, Answer<R> answer) {}

    /** The answer to a call, when it has come. */
    private static final class Answer<R extends XdrAble> extends CompletableFuture<R>
            implements CompletionHandler<RpcReply, RpcTransport> {
        private final R result;

        Answer(R result) {
            this.result = result;
        }

        @Override
        public void completed(RpcReply reply, RpcTransport from) {
            try {
                reply.getReplyResult(result);
                complete(result);
            } catch (IOException | RuntimeException e) {
                completeExceptionally(e);
            }
        }

        @Override
        public void failed(Throwable failure, RpcTransport from) {
            completeExceptionally(failure);
        }

        R await() throws IOException {
            try {
                return get(2 * LIMIT_SECONDS, TimeUnit.SECONDS);
            } catch (ExecutionException e) {
                throw new IOException("a call over oncrpc4j's TCP failed: " + e.getCause(), e);
            } catch (TimeoutException e) {
                throw new IOException("a call over oncrpc4j's TCP was not answered", e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted", e);
            }
        }
    }

    private <R extends XdrAble> Answer<R> send(int procedure, XdrAble arguments, R result) throws IOException {
        Answer<R> answer = new Answer<>(result);
        calls.call(procedure, arguments, answer, LIMIT_SECONDS, TimeUnit.SECONDS);
        return answer;
    }

    @Override
    public void write(int round, int from, int to, LongConsumer progress) throws IOException {
        for (int file = from; file < to; file++) {
            Deque<Pending<XdrVoid>> underWay = new ArrayDeque<>();
            for (long at = 0; at < files.length(file); at += DemoFiles.BLOCK_BYTES) {
                if (underWay.size() == IN_FLIGHT) {
                    finishWrite(underWay.removeFirst(), progress);
                }
                int length = files.pieceBytes(file, at);
                ByteBuffer buffer = buffers.removeFirst().clear().limit(length);
                files.fill(round, file, at, MemorySegment.ofBuffer(buffer));
                StockMessages.Data data = new StockMessages.Data(file, at, buffer);
                underWay.addLast(new Pending<>(at, length, buffer, send(StockProgram.WRITE, data, XdrVoid.XDR_VOID)));
            }
            while (!underWay.isEmpty()) {
                finishWrite(underWay.removeFirst(), progress);
            }
            send(StockProgram.COMMIT, new StockMessages.Range(file, 0, 0), XdrVoid.XDR_VOID)
                    .await();
        }
    }

    private void finishWrite(Pending<XdrVoid> call, LongConsumer progress) throws IOException {
        call.answer.await();
        buffers.addLast(call.buffer);
        progress.accept(call.length);
    }

    @Override
    public void read(int round, int from, int to, LongConsumer progress) throws IOException {
        for (int file = from; file < to; file++) {
            Deque<Pending<StockMessages.Content>> underWay = new ArrayDeque<>();
            long length = files.length(file);
            for (long at = 0; at < length || !underWay.isEmpty(); ) {
                if (at < length && underWay.size() < IN_FLIGHT) {
                    int piece = files.pieceBytes(file, at);
                    StockMessages.Range range = new StockMessages.Range(file, at, piece);
                    underWay.addLast(new Pending<>(
                            at,
                            piece,
                            ByteBuffer.allocate(0),
                            send(StockProgram.READ, range, new StockMessages.Content())));
                    at += piece;
                } else {
                    finishRead(round, file, underWay.removeFirst(), progress);
                }
            }
        }
    }

    private void finishRead(int round, int file, Pending<StockMessages.Content> call, LongConsumer progress)
            throws IOException {
        MemorySegment found = MemorySegment.ofBuffer(call.answer.await().bytes);
        String where = "read over oncrpc4j's TCP";
        files.verify(round, file, call.offset, found, where);
        if (found.byteSize() != call.length) {
            throw DataMismatchException.length(
                    files.name(file), files.length(file), call.offset + found.byteSize(), where);
        }
        progress.accept(call.length);
    }

    @Override
    public void close() throws IOException {
        try {
            client.close();
            service.stop();
        } finally {
            workers.shutdownNow();
            program.close();
        }
    }
}
