// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.loopback;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.RdmaReadRequest;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.WorkCompletion.Operation;

/**
 * A stream of RDMA Writes or Reads, some in flight, each completion bringing about the next post on the device's thread. A run of Writes
 * ends with a Send, so that it is over when the server has all.
 */
public final class RdmaStream implements ByteStream {
    static final int IN_FLIGHT = 8;
    private static final int MESSAGE_BYTES = 8;

    private final Arena arena = Arena.ofShared();
    private final Link link;
    private final MemoryRegion near;
    private final MemoryRegion far;
    private final SendQueueRequest[] requests = new SendQueueRequest[IN_FLIGHT];
    private final SendRequest last;
    private final ReceiveRequest receive;
    private final boolean reads;
    private final ArrayDeque<Integer> free = new ArrayDeque<>();
    private int left;
    private int running;
    private CompletableFuture<@Nullable Void> done = new CompletableFuture<>();

    private RdmaStream(Link link, boolean reads) {
        this.link = link;
        this.reads = reads;
        MemorySegment memory = arena.allocate(2L * IN_FLIGHT * PIECE_BYTES, 4096);
        memory.fill((byte) 0x5A);
        long half = (long) IN_FLIGHT * PIECE_BYTES;
        near = link.client().domain().register(memory.asSlice(0, half), Access.LOCAL_WRITE);
        far = link.server().domain().register(memory.asSlice(half, half), Access.REMOTE_READ_WRITE);
        for (int i = 0; i < IN_FLIGHT; i++) {
            long at = (long) i * PIECE_BYTES;
            requests[i] = reads
                    ? new RdmaReadRequest()
                            .id(i)
                            .sge(near, at, PIECE_BYTES)
                            .source(far.remoteKey(), far.remoteAddress() + at)
                    : new RdmaWriteRequest()
                            .id(i)
                            .sge(near, at, PIECE_BYTES)
                            .target(far.remoteKey(), far.remoteAddress() + at);
            free.add(i);
        }
        last = new SendRequest().signaled(false).sge(near, 0, MESSAGE_BYTES);
        receive = new ReceiveRequest().sge(far, 0, MESSAGE_BYTES);
        link.client().deliverTo(this::onClient);
        link.server().deliverTo(this::onServer);
    }

    /** A stream from client to server. */
    public static RdmaStream writes(RdmaDevice device) throws IOException {
        return new RdmaStream(Link.open(device, end -> {}), false);
    }

    /** A stream from server to client. */
    public static RdmaStream reads(RdmaDevice device) throws IOException {
        return new RdmaStream(Link.open(device, end -> {}), true);
    }

    @Override
    public Sample move(int pieces) {
        CompletableFuture<@Nullable Void> end;
        Sample.Meter meter = new Sample.Meter();
        synchronized (this) {
            done = new CompletableFuture<>();
            end = done;
            left = pieces;
            if (!reads) {
                link.server().queuePair().postReceive(receive).orThrow();
            }
            postMore();
        }
        Await.result(end, reads ? "RDMA Reads" : "RDMA Writes", this::toString);
        return meter.sample((long) pieces * PIECE_BYTES);
    }

    private void postMore() {
        while (left > 0 && !free.isEmpty()) {
            SendQueueRequest request = requests[free.remove()];
            left--;
            running++;
            link.client().queuePair().postSend(request).orThrow();
        }
        if (left == 0 && running == 0) {
            if (reads) {
                done.complete(null);
            } else {
                link.client().queuePair().postSend(last).orThrow();
            }
        }
    }

    private synchronized void onClient(WorkCompletion completion) {
        if (!completion.isSuccess()) {
            done.completeExceptionally(new IllegalStateException(completion.toString()));
        } else if (completion.operation() != Operation.SEND) {
            running--;
            free.add((int) completion.id());
            postMore();
        }
    }

    private synchronized void onServer(WorkCompletion completion) {
        if (completion.isSuccess()) {
            done.complete(null);
        } else {
            done.completeExceptionally(new IllegalStateException(completion.toString()));
        }
    }

    @Override
    public synchronized String toString() {
        return left + " pieces to post, " + running + " in flight, "
                + link.client().queuePair();
    }

    @Override
    public void close() {
        link.client().queuePair().abort();
        link.server().queuePair().abort();
        near.close();
        far.close();
        link.close();
        arena.close();
    }
}
