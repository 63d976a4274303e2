// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.connection.DisconnectCause;
import org.rpcrdma4j.transport.connection.Endpoint;
import org.rpcrdma4j.transport.connection.WorkIds;
import org.rpcrdma4j.transport.event.BadMessage;
import org.rpcrdma4j.transport.event.ChunkList;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.transport.event.ServerEvents;
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
 * The way of a message from its Receive to the handler's queue: decoded and checked in full, before memory is taken for it; then {@link
 * Admission} has it wait for what it needs, and has its Read chunks pulled; then handed on.
 *
 * <p>In the monitor.
 */
final class CallIntake {

    private static final ValueLayout.OfInt WORD = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final ServerConnection connection;
    private final ServerContext context;
    private final Endpoint endpoint;
    private final Admission admission;
    private final Counters<ServerCounter> counters;
    private final HeaderLimits limits;
    private final long maxPayloadBytes;
    private final ReplyRoom room;
    /** For each receive buffer: the bytes behind the header of the last call. */
    private @Nullable MemorySegment[] bodies = new MemorySegment[8];

    private int inFlight;
    private int badInARow;

    CallIntake(
            ServerConnection connection,
            ServerContext context,
            ConnectionSizes sizes,
            Endpoint endpoint,
            Admission admission) {
        this.connection = connection;
        this.context = context;
        this.endpoint = endpoint;
        this.admission = admission;
        this.counters = context.counters();
        ServerOptions options = context.options();
        maxPayloadBytes = options.maxPayloadBytes();
        room = new ReplyRoom(sizes.sendThreshold(), context.bindings());
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
                    drop(slot, BadMessage.DROPPED);
                } else {
                    answerBad(slot, ErrorReply.ERR_VERS, BadMessage.VERSION);
                }
            }
            case DONE, BAD_ERROR -> drop(slot, BadMessage.DROPPED);
            case BAD_PROCEDURE, MSGP -> answerBad(slot, ErrorReply.ERR_CHUNK, BadMessage.PROCEDURE);
            case BAD_LISTS, BAD_POSITION, NO_CHUNKS, OUTSIDE_LIMITS ->
                answerBad(slot, ErrorReply.ERR_CHUNK, BadMessage.CHUNKS);
        }
    }

    /** RFC 8166, Section 4.5: dropped without an answer. Who goes on sending such messages speaks something else. */
    private void tooShort(RequestSlot slot) {
        drop(slot, BadMessage.SHORT);
        if (++badInARow >= context.options().maxBadMessages()) {
            connection.disconnect(DisconnectCause.PROTOCOL_VIOLATION, badInARow + " messages too short for a header");
        }
    }

    private void bad(RequestSlot slot, BadMessage cause) {
        cause.countAtServer(counters);
        TransportHeader header = slot.header;
        ServerEvents.badCall(
                connection.label(),
                WorkIds.of(WorkIds.Kind.RECEIVE, 0, slot.receiveBuffer),
                header.xid(),
                cause,
                header.version(),
                header.procedureWord(),
                slot.receiveLength);
    }

    private void drop(RequestSlot slot, BadMessage cause) {
        bad(slot, cause);
        connection.release(slot);
    }

    private void answerBad(RequestSlot slot, ErrorReply error, BadMessage cause) {
        if (connection.isFinishing()) {
            connection.release(slot);
            return;
        }
        bad(slot, cause);
        if (begin(slot)) {
            slot.error = error;
            admission.add(slot);
        }
    }

    private void onHeader(RequestSlot slot, MemorySegment message, int length) {
        TransportHeader header = slot.header;
        if (header.procedure() == Procedure.RDMA_ERROR) {
            if (connection.reverseCalls().onError(header.xid())) {
                connection.release(slot);
            } else {
                drop(slot, BadMessage.DROPPED);
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
                answerBad(slot, ErrorReply.ERR_CHUNK, BadMessage.MESSAGE);
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
        if (connection.isFinishing()) {
            connection.release(slot);
            return;
        }
        TransportHeader header = slot.header;
        if (context.fatalXids()
                .take(
                        connection.view().remoteAddress(),
                        header.xid(),
                        context.time().nanoTime())) {
            answerBad(slot, ErrorReply.ERR_CHUNK, BadMessage.CHUNKS);
            return;
        }
        badInARow = 0;
        boolean isHere = header.procedure() == Procedure.RDMA_MSG;
        if (!room.suffices(header, message, header.length(), isHere ? bodyBytes : 0)) {
            answerBad(slot, ErrorReply.ERR_CHUNK, BadMessage.CHUNKS);
            return;
        }
        boolean chunks = !header.hasNoChunks();
        if (chunks) {
            noteInvalidateKey(slot);
        }
        if (chunks || header.procedure() == Procedure.RDMA_NOMSG) {
            CallAssembler assembler = slot.assembler(maxPayloadBytes);
            if (!assembler.plan(header, bodyBytes)) {
                answerBad(slot, ErrorReply.ERR_CHUNK, BadMessage.CHUNKS);
                return;
            }
            slot.reservedBytes = 0;
            countSegments(header);
        } else {
            slot.message.add(inlineBody(slot.receiveBuffer, message, header.length(), bodyBytes));
        }
        if (begin(slot)) {
            slot.usesChunks = chunks;
            counters.increment(ServerCounter.CALLS);
            ServerEvents.callReceived(
                    connection.label(),
                    WorkIds.of(WorkIds.Kind.RECEIVE, 0, slot.receiveBuffer),
                    header.xid(),
                    header.procedureWord(),
                    header.credits(),
                    header.length(),
                    slot.receiveLength);
            admission.add(slot);
        }
    }

    /** The bytes behind the header. Calls of one size come again and again, so that of each buffer is kept. */
    private MemorySegment inlineBody(int buffer, MemorySegment message, int headerBytes, int bodyBytes) {
        MemorySegment body = buffer < bodies.length ? bodies[buffer] : null;
        if (body == null || body.byteSize() != bodyBytes || body.address() != message.address() + headerBytes) {
            body = message.asSlice(headerBytes, bodyBytes);
            if (buffer >= bodies.length) {
                bodies = Arrays.copyOf(bodies, Math.max(buffer + 1, 2 * bodies.length));
            }
            bodies[buffer] = body;
        }
        return body;
    }

    private void countSegments(TransportHeader header) {
        counters.add(ServerCounter.READ_SEGMENTS, header.readList().size());
        counters.add(ServerCounter.WRITE_SEGMENTS, header.writeList().segments().size());
        counters.add(ServerCounter.REPLY_SEGMENTS, header.replyChunk().size());
        tellSegments(header, ChunkList.READ, header.readList().segments());
        tellSegments(header, ChunkList.WRITE, header.writeList().segments());
        tellSegments(header, ChunkList.REPLY, header.replyChunk());
    }

    private void tellSegments(TransportHeader header, ChunkList list, Segments segments) {
        for (int i = 0; i < segments.size(); i++) {
            int position = list == ChunkList.READ ? header.readList().position(i) : 0;
            ServerEvents.chunkDecoded(
                    connection.label(),
                    header.xid(),
                    list,
                    i,
                    position,
                    segments.handle(i),
                    segments.length(i),
                    segments.offset(i));
        }
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

    /** What clients leave for replies. */
    ReplyRoom room() {
        return room;
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

    /** All Reads of the call are complete. */
    void onPulled(RequestSlot slot) {
        long took = context.time().nanoTime() - slot.pullBegan;
        long bytes = slot.header.readList().segments().totalLength();
        counters.add(ServerCounter.READ_NANOS, took);
        counters.add(ServerCounter.BYTES_READ, bytes);
        ServerEvents.readEnded(connection.label(), slot.header.xid(), bytes, took);
        complete(slot);
    }

    /** All of the call is there. */
    void complete(RequestSlot slot) {
        int headerBytes = slot.header.length();
        MemorySegment inline = inlineBody(
                slot.receiveBuffer,
                endpoint.receiveMemory(slot.receiveBuffer),
                headerBytes,
                slot.receiveLength - headerBytes);
        PooledBuffer buffer = slot.pulled;
        CallAssembler assembler = slot.assembler(maxPayloadBytes);
        assembler.pieces(
                inline, buffer == null ? MemorySegment.NULL : buffer.memory(assembler.pullBytes()), slot.message);
        if (slot.header.procedure() == Procedure.RDMA_NOMSG && isRefused(slot)) {
            slot.error = ErrorReply.ERR_CHUNK;
            connection.sendError(slot);
            return;
        }
        ready(slot);
    }

    /** Of a Long Call it is only seen now what it is. */
    private boolean isRefused(RequestSlot slot) {
        if (!isCall(slot.message, slot.header.xid())) {
            bad(slot, BadMessage.MESSAGE);
            return true;
        }
        MemorySegment begin = slot.message.getFirst();
        if (!room.suffices(slot.header, begin, 0, begin.byteSize())) {
            bad(slot, BadMessage.CHUNKS);
            return true;
        }
        return false;
    }

    /** Whether the message begins as a call with that XID. RFC 8167, Section 5.1: a REPLY in chunks would be a reverse one; we take none. */
    private static boolean isCall(List<MemorySegment> message, int xid) {
        return !message.isEmpty()
                && message.getFirst().byteSize() >= 8
                && message.getFirst().get(WORD, 0) == xid
                && message.getFirst().get(WORD, 4) == 0;
    }

    /** To its handler. */
    void ready(RequestSlot slot) {
        slot.state = State.QUEUED;
        connection.monitor().afterwards(slot.dispatch);
    }
}
