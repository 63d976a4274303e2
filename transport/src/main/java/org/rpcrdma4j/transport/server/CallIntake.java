// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.connection.DisconnectCause;
import org.rpcrdma4j.transport.connection.Endpoint;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.transport.server.RequestSlot.ErrorReply;
import org.rpcrdma4j.transport.server.RequestSlot.State;
import org.rpcrdma4j.transport.wire.HeaderDecoder;
import org.rpcrdma4j.transport.wire.HeaderLimits;
import org.rpcrdma4j.transport.wire.Procedure;
import org.rpcrdma4j.transport.wire.ReadList;
import org.rpcrdma4j.transport.wire.RpcDirection;
import org.rpcrdma4j.transport.wire.Segments;
import org.rpcrdma4j.transport.wire.TransportHeader;

/**
 * The way of a message from its Receive to the handler's queue: decoded and checked in full, before memory is taken for it; admitted
 * when a send buffer and memory are there for all that it may need; its Read chunks pulled; then handed on.
 *
 * <p>In the monitor.
 */
final class CallIntake {

    private static final ValueLayout.OfInt WORD = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /** What a reply may take beside its payload. */
    private static final long REPLY_OVERHEAD = 64 * 1024;

    private final ServerConnection connection;
    private final ServerContext context;
    private final Endpoint endpoint;
    private final ConnectionMemory memory;
    private final ReadQueue reads;
    private final Counters<ServerCounter> counters;
    private final HeaderLimits limits;
    private final long maxPayloadBytes;
    /** Calls that wait for a send buffer or memory, in their order. */
    private final ArrayDeque<RequestSlot> waiting = new ArrayDeque<>();

    private final Runnable wake = this::wake;
    private long reservedBytes;
    private int inFlight;
    private int badInARow;

    CallIntake(
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
        ServerOptions options = context.options();
        maxPayloadBytes = options.maxPayloadBytes();
        limits = new HeaderLimits(
                options.maxReadSegments(),
                options.maxWriteChunks(),
                options.maxSegmentsPerChunk(),
                options.allowEmptyWriteChunk());
    }

    /** A message has come into the buffer, which is given back here or belongs to a slot afterwards. */
    void onMessage(int buffer, int length) {
        RequestSlot slot = connection.takeSlot();
        if (slot == null) {
            overCredit();
            endpoint.releaseReceive(buffer);
            return;
        }
        slot.receiveBuffer = buffer;
        slot.receiveLength = length;
        MemorySegment message = endpoint.receiveMemory(buffer);
        HeaderDecoder.Outcome outcome = HeaderDecoder.decode(message, 0, length, limits, slot.header);
        switch (outcome) {
            case OK -> onHeader(slot, message, length);
            case TOO_SHORT -> tooShort(slot);
            case BAD_VERSION -> {
                if (slot.header.procedureWord() == Procedure.RDMA_ERROR.word()) {
                    // RFC 8166, Section 4.2.4: a Responder drops RDMA_ERROR, whatever its version.
                    drop(slot, ServerCounter.BAD_CALLS_DROPPED);
                } else {
                    answerBad(slot, ErrorReply.ERR_VERS, ServerCounter.BAD_CALLS_VERSION);
                }
            }
            case DONE, BAD_ERROR -> drop(slot, ServerCounter.BAD_CALLS_DROPPED);
            case BAD_PROCEDURE, MSGP -> answerBad(slot, ErrorReply.ERR_CHUNK, ServerCounter.BAD_CALLS_PROCEDURE);
            case BAD_LISTS, BAD_POSITION, NO_CHUNKS, OUTSIDE_LIMITS ->
                answerBad(slot, ErrorReply.ERR_CHUNK, ServerCounter.BAD_CALLS_CHUNKS);
        }
    }

    /** RFC 8166, Section 4.5: dropped without an answer. Who goes on sending such messages speaks something else. */
    private void tooShort(RequestSlot slot) {
        drop(slot, ServerCounter.BAD_CALLS_SHORT);
        if (++badInARow >= context.options().maxBadMessages()) {
            connection.disconnect(DisconnectCause.PROTOCOL_VIOLATION, badInARow + " messages too short for a header");
        }
    }

    private void drop(RequestSlot slot, ServerCounter cause) {
        counters.increment(ServerCounter.BAD_CALLS);
        counters.increment(cause);
        connection.release(slot);
    }

    private void answerBad(RequestSlot slot, ErrorReply error, ServerCounter cause) {
        counters.increment(ServerCounter.BAD_CALLS);
        counters.increment(cause);
        if (begin(slot)) {
            slot.error = error;
            enqueue(slot);
        }
    }

    private void onHeader(RequestSlot slot, MemorySegment message, int length) {
        TransportHeader header = slot.header;
        if (header.procedure() == Procedure.RDMA_ERROR) {
            if (connection.reverseCalls().onError(header.xid())) {
                connection.release(slot);
            } else {
                drop(slot, ServerCounter.BAD_CALLS_DROPPED);
            }
            return;
        }
        int bodyBytes = length - header.length();
        if (header.procedure() == Procedure.RDMA_MSG) {
            RpcDirection direction = HeaderDecoder.direction(header, message, 0, length);
            if (direction == RpcDirection.REPLY) {
                onReverseReply(slot, message.asSlice(header.length(), bodyBytes));
                return;
            }
            // RFC 8166, Section 4.5.2: a header XID that is not the RPC message's.
            if (direction == RpcDirection.UNKNOWN || message.get(WORD, header.length()) != header.xid()) {
                answerBad(slot, ErrorReply.ERR_CHUNK, ServerCounter.BAD_CALLS_MESSAGE);
                return;
            }
        }
        onCall(slot, message, bodyBytes);
    }

    /** RFC 8167, Section 5.1: the direction word decides. Chunks are not taken in this direction. */
    private void onReverseReply(RequestSlot slot, MemorySegment body) {
        TransportHeader header = slot.header;
        boolean inline = header.hasNoChunks() && body.get(WORD, 0) == header.xid();
        if (inline && connection.reverseCalls().onReply(header.xid(), header.credits(), body)) {
            connection.release(slot);
            return;
        }
        counters.increment(ServerCounter.REVERSE_BAD_XIDS);
        connection.release(slot);
    }

    private void onCall(RequestSlot slot, MemorySegment message, int bodyBytes) {
        TransportHeader header = slot.header;
        if (context.fatalXids()
                .take(connection.remoteAddress(), header.xid(), context.time().nanoTime())) {
            answerBad(slot, ErrorReply.ERR_CHUNK, ServerCounter.BAD_CALLS_CHUNKS);
            return;
        }
        badInARow = 0;
        boolean chunks = !header.hasNoChunks();
        if (chunks) {
            noteInvalidateKey(slot);
        }
        if (chunks || header.procedure() == Procedure.RDMA_NOMSG) {
            CallAssembler assembler = slot.assembler(maxPayloadBytes);
            if (!assembler.plan(header, bodyBytes)) {
                answerBad(slot, ErrorReply.ERR_CHUNK, ServerCounter.BAD_CALLS_CHUNKS);
                return;
            }
            slot.reservedBytes = 0;
            countSegments(header);
        } else {
            slot.message.add(message.asSlice(header.length(), bodyBytes));
        }
        if (begin(slot)) {
            slot.usesChunks = chunks;
            counters.increment(ServerCounter.CALLS);
            enqueue(slot);
        }
    }

    private void countSegments(TransportHeader header) {
        counters.add(ServerCounter.READ_SEGMENTS, header.readList().size());
        counters.add(ServerCounter.WRITE_SEGMENTS, header.writeList().segments().size());
        counters.add(ServerCounter.REPLY_SEGMENTS, header.replyChunk().size());
    }

    /**
     * The call takes one of the client's credits. RFC 8166, Section 3.3.1: who uses more than were granted may be disconnected; one Receive
     * more than that is kept posted to see it.
     */
    private boolean begin(RequestSlot slot) {
        slot.state = State.RECEIVED;
        inFlight++;
        if (inFlight > connection.credits()) {
            overCredit();
        }
        if (connection.isEnding()) {
            endCall();
            connection.release(slot);
            return false;
        }
        return true;
    }

    private void overCredit() {
        counters.increment(ServerCounter.CREDIT_OVERRUNS);
        connection.disconnect(
                DisconnectCause.PROTOCOL_VIOLATION,
                "more calls at a time than the " + connection.credits() + " granted");
    }

    /** A call gives its credit back: its reply is about to be posted, or it ended without. */
    void endCall() {
        inFlight--;
    }

    int inFlight() {
        return inFlight;
    }

    /** Whether the whole call names one handle only: then a reply may invalidate it. */
    private static void noteInvalidateKey(RequestSlot slot) {
        TransportHeader header = slot.header;
        ReadList reads = header.readList();
        Segments writes = header.writeList().segments();
        Segments reply = header.replyChunk();
        Segments first = !reads.isEmpty() ? reads.segments() : writes.size() > 0 ? writes : reply;
        if (first.size() == 0) {
            return;
        }
        int handle = first.handle(0);
        slot.invalidateKey = handle;
        slot.hasInvalidateKey = allAre(reads.segments(), handle) && allAre(writes, handle) && allAre(reply, handle);
    }

    private static boolean allAre(Segments segments, int handle) {
        for (int i = 0; i < segments.size(); i++) {
            if (segments.handle(i) != handle) {
                return false;
            }
        }
        return true;
    }

    private void enqueue(RequestSlot slot) {
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
            ready(slot);
            return true;
        }
        CallAssembler assembler = slot.assembler(maxPayloadBytes);
        TransportHeader header = slot.header;
        long results = header.writeList().segments().totalLength()
                + header.replyChunk().totalLength();
        long wanted = assembler.pullBytes() + Math.min(results, maxPayloadBytes + REPLY_OVERHEAD);
        if (!reserve(slot, wanted)) {
            return false;
        }
        if (assembler.pullBytes() == 0) {
            complete(slot);
        } else {
            pull(slot, assembler.pullBytes());
        }
        return true;
    }

    /** Reserves what the slot may need; fails without change. */
    private boolean reserve(RequestSlot slot, long bytes) {
        if (bytes > context.options().connectionMemoryBytes() - reservedBytes
                || !context.budget().reserveOrWait(bytes, wake)) {
            return false;
        }
        slot.reservedBytes += bytes;
        reservedBytes += bytes;
        return true;
    }

    /** Reserves more for a slot that needs it, without waiting. */
    boolean reserveMore(RequestSlot slot, long bytes) {
        if (bytes > context.options().connectionMemoryBytes() - reservedBytes
                || !context.budget().tryReserve(bytes)) {
            return false;
        }
        slot.reservedBytes += bytes;
        reservedBytes += bytes;
        return true;
    }

    void unreserve(RequestSlot slot) {
        if (slot.reservedBytes > 0) {
            reservedBytes -= slot.reservedBytes;
            if (context.budget().release(slot.reservedBytes)) {
                connection.monitor().afterwards(context.budget()::wakeWaiters);
            }
            slot.reservedBytes = 0;
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

    /** All Reads of the call are complete. */
    void onPulled(RequestSlot slot) {
        counters.add(ServerCounter.READ_NANOS, context.time().nanoTime() - slot.pullBegan);
        counters.add(ServerCounter.BYTES_READ, slot.header.readList().segments().totalLength());
        complete(slot);
    }

    private void complete(RequestSlot slot) {
        MemorySegment inline = endpoint.receiveMemory(slot.receiveBuffer)
                .asSlice(slot.header.length(), slot.receiveLength - slot.header.length());
        PooledBuffer buffer = slot.pulled;
        CallAssembler assembler = slot.assembler(maxPayloadBytes);
        assembler.pieces(inline, buffer == null ? MemorySegment.NULL : buffer.memory(), slot.message);
        if (slot.header.procedure() == Procedure.RDMA_NOMSG && !isCall(slot.message, slot.header.xid())) {
            counters.increment(ServerCounter.BAD_CALLS);
            counters.increment(ServerCounter.BAD_CALLS_MESSAGE);
            slot.error = ErrorReply.ERR_CHUNK;
            connection.sendError(slot);
            return;
        }
        ready(slot);
    }

    /** Whether the message begins as a call with that XID. RFC 8167, Section 5.1: a REPLY in chunks would be a reverse one; we take none. */
    private static boolean isCall(List<MemorySegment> message, int xid) {
        return !message.isEmpty()
                && message.getFirst().byteSize() >= 8
                && message.getFirst().get(WORD, 0) == xid
                && message.getFirst().get(WORD, 4) == 0;
    }

    private void ready(RequestSlot slot) {
        slot.state = State.QUEUED;
        connection.monitor().afterwards(slot.dispatch);
    }

    /** The connection ends: what has not reached a handler is dropped. */
    void stop() {
        waiting.clear();
        context.budget().forget(wake);
    }
}
