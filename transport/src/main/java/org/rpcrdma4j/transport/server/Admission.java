// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.connection.Endpoint;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.transport.server.RequestSlot.ErrorReply;
import org.rpcrdma4j.transport.server.RequestSlot.State;
import org.rpcrdma4j.transport.wire.TransportHeader;

/**
 * Lets calls in, in their order: each gets its send buffer, and memory is reserved for all that it may need, before anything is done for
 * it. So no call that was begun is stopped for want of what another one holds. Then its Read chunks are pulled.
 *
 * <p>In the monitor.
 */
final class Admission {

    /** What a reply may take beside its payload. */
    private static final long REPLY_OVERHEAD = 64 * 1024;

    private final ServerConnection connection;
    private final ServerContext context;
    private final Endpoint endpoint;
    private final ConnectionMemory memory;
    private final ReadQueue reads;
    private final Counters<ServerCounter> counters;
    private final long maxPayloadBytes;
    private final long maxBytes;
    /** Calls that wait for a send buffer or memory. */
    private final ArrayDeque<RequestSlot> waiting = new ArrayDeque<>();

    private final MemoryBudget.Share share;
    private long reservedBytes;

    Admission(
            ServerConnection connection,
            ServerContext context,
            Endpoint endpoint,
            ConnectionMemory memory,
            ReadQueue reads) {
        this.connection = connection;
        this.context = context;
        this.endpoint = endpoint;
        this.memory = memory;
        this.reads = reads;
        this.counters = context.counters();
        maxPayloadBytes = context.options().maxPayloadBytes();
        maxBytes = context.options().connectionMemoryBytes();
        share = context.budget().share(connection.view().remoteAddress().getAddress(), this::wake);
    }

    /** Most bytes that are reserved for one call: with less memory than that, it would wait for ever. */
    static long mostBytes(long maxPayloadBytes) {
        return CallAssembler.mostPullBytes(maxPayloadBytes) + mostResultBytes(maxPayloadBytes);
    }

    private static long mostResultBytes(long maxPayloadBytes) {
        return maxPayloadBytes + REPLY_OVERHEAD;
    }

    /** Takes a call that was checked, or is to be answered with an error: now, or when its turn comes. */
    void add(RequestSlot slot) {
        if (!waiting.isEmpty() || !admit(slot)) {
            waiting.add(slot);
        }
    }

    /** Calls that wait try again: a send buffer or memory has come back. */
    void retry() {
        while (!waiting.isEmpty() && !connection.isEnding() && admit(waiting.element())) {
            waiting.remove();
        }
    }

    private void wake() {
        connection.monitor().run(this::retry);
    }

    private boolean admit(RequestSlot slot) {
        if (slot.sendBuffer == RequestSlot.NONE) {
            slot.sendBuffer = endpoint.takeSendBuffer();
            if (slot.sendBuffer < 0) {
                slot.sendBuffer = RequestSlot.NONE;
                return false;
            }
        }
        if (slot.error != ErrorReply.NONE) {
            connection.sendError(slot);
            return true;
        }
        if (!slot.usesChunks) {
            connection.ready(slot);
            return true;
        }
        CallAssembler assembler = slot.assembler(maxPayloadBytes);
        TransportHeader header = slot.header;
        long results = header.writeList().segments().totalLength()
                + header.replyChunk().totalLength();
        long wanted = assembler.pullBytes() + Math.min(results, mostResultBytes(maxPayloadBytes));
        if (!reserve(slot, wanted)) {
            return false;
        }
        if (assembler.pullBytes() == 0) {
            connection.complete(slot);
        } else {
            pull(slot, assembler.pullBytes());
        }
        return true;
    }

    /** Reserves what the slot may need; fails without change. */
    private boolean reserve(RequestSlot slot, long bytes) {
        if (bytes > maxBytes - reservedBytes || !share.reserveOrWait(bytes)) {
            return false;
        }
        slot.reservedBytes += bytes;
        reservedBytes += bytes;
        return true;
    }

    /** Reserves more for a slot that needs it, without waiting. */
    boolean reserveMore(RequestSlot slot, long bytes) {
        if (bytes > maxBytes - reservedBytes || !share.reserveMore(bytes)) {
            return false;
        }
        slot.reservedBytes += bytes;
        reservedBytes += bytes;
        return true;
    }

    void unreserve(RequestSlot slot) {
        if (slot.reservedBytes > 0) {
            reservedBytes -= slot.reservedBytes;
            wakeOthersIf(share.release(slot.reservedBytes));
            slot.reservedBytes = 0;
        }
    }

    private void wakeOthersIf(boolean somebodyWaits) {
        if (somebodyWaits) {
            connection.monitor().afterwards(context.budget()::wakeWaiters);
        }
    }

    private void pull(RequestSlot slot, long bytes) {
        slot.state = State.PULLING;
        connection.watch(slot);
        PooledBuffer buffer = memory.takeFree(bytes);
        if (buffer != null) {
            startPull(slot, buffer);
            return;
        }
        int generation = slot.generation;
        connection.onWorker(() -> {
            PooledBuffer made = memory.take(bytes);
            connection.monitor().run(() -> onBufferMade(slot, generation, made));
        });
    }

    private void onBufferMade(RequestSlot slot, int generation, @Nullable PooledBuffer made) {
        if (slot.generation != generation || connection.isEnding()) {
            if (made != null) {
                memory.giveBack(made);
            }
        } else if (made == null) {
            counters.increment(ServerCounter.RDMA_PREPARE_FAILURES);
            slot.error = ErrorReply.ERR_CHUNK;
            connection.sendError(slot);
        } else {
            startPull(slot, made);
        }
    }

    private void startPull(RequestSlot slot, PooledBuffer buffer) {
        slot.pulled = buffer;
        slot.pullBegan = context.time().nanoTime();
        counters.increment(ServerCounter.READS);
        reads.add(slot);
    }

    /** The connection ends: what has not reached a handler is dropped. */
    void stop() {
        waiting.clear();
        wakeOthersIf(share.leave());
    }
}
