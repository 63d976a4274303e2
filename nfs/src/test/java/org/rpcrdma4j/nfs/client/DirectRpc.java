// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.client.RpcClient;
import org.rpcrdma4j.transport.client.TransportException;
import org.rpcrdma4j.transport.rpc.ProgramTable;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** Brings calls to programs in the same process, as a transport would, and can run a call as often as a lossy one does. */
final class DirectRpc implements RpcClient {

    private final ProgramTable programs;
    private final ExecutorService threads = Executors.newFixedThreadPool(4);
    private final AtomicInteger lastXid = new AtomicInteger();

    /** How often each call is run: more than once as if replies had been lost. */
    volatile int runs = 1;

    /** Whether results go to targets, as over RDMA; otherwise they stay in the message. */
    volatile boolean places = true;

    /** Whether calls fail as those do that a server does not answer. */
    volatile boolean isDead;

    DirectRpc(ProgramTable programs) {
        this.programs = programs;
    }

    @Override
    public int nextXid() {
        return lastXid.incrementAndGet();
    }

    @Override
    public CompletableFuture<Reply> send(CallMessage message) {
        // As of every client, it is over only when the message's memory is the caller's again: here a call given up is
        // run to its end.
        CompletableFuture<Reply> future = new CompletableFuture<>() {
            @Override
            public boolean cancel(boolean mayInterruptIfRunning) {
                return false;
            }
        };
        threads.execute(() -> {
            if (isDead) {
                future.completeExceptionally(
                        new TransportException(TransportException.Kind.TIMED_OUT, true, "no reply in time"));
                return;
            }
            try {
                XdrWriter out = new XdrWriter();
                int times = runs;
                for (int i = 0; i < times; i++) {
                    out = new XdrWriter();
                    programs.dispatch(reader(message), out);
                }
                future.complete(reply(message, out, times));
            } catch (Throwable e) {
                future.completeExceptionally(e);
            }
        });
        return future;
    }

    private static XdrReader reader(CallMessage message) {
        List<MemorySegment> pieces = new ArrayList<>();
        pieces.add(message.head());
        pieces.addAll(message.item());
        pieces.add(
                MemorySegment.ofArray(new byte[(int) (XdrReader.padded(message.itemBytes()) - message.itemBytes())]));
        pieces.add(message.tail());
        return new XdrReader(pieces);
    }

    private Reply reply(CallMessage message, XdrWriter out, int times) {
        List<MemorySegment> target = message.target();
        if (!places || target == null || out.items() == 0 || out.itemLength(0) == 0) {
            return Reply.of(MemorySegment.ofArray(out.toByteArray()), 0, times);
        }
        List<MemorySegment> item = new ArrayList<>();
        out.itemPieces(0, item);
        long at = 0;
        for (MemorySegment piece : item) {
            target.getFirst().asSlice(at, piece.byteSize()).copyFrom(piece);
            at += piece.byteSize();
        }
        MemorySegment head = out.part(0);
        MemorySegment tail = out.part(1);
        MemorySegment whole = MemorySegment.ofArray(new byte[(int) (head.byteSize() + tail.byteSize())]);
        whole.copyFrom(head);
        whole.asSlice(head.byteSize()).copyFrom(tail);
        return Reply.of(whole, at, times);
    }

    @Override
    public Reply call(CallMessage message) throws TransportException {
        try {
            return send(message).get();
        } catch (ExecutionException | InterruptedException e) {
            throw new TransportException(TransportException.Kind.CONNECTION_LOST, true, "direct call failed", e);
        }
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
    }

    @Override
    public void close() {
        threads.shutdown();
    }
}
