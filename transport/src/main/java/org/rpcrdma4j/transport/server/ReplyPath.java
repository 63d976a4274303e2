// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.concurrent.RejectedExecutionException;
import org.rpcrdma4j.transport.connection.DisconnectCause;
import org.rpcrdma4j.transport.connection.Endpoint;
import org.rpcrdma4j.transport.connection.WorkIds;
import org.rpcrdma4j.transport.event.BadMessage;
import org.rpcrdma4j.transport.event.ChunkList;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.event.Direction;
import org.rpcrdma4j.transport.event.PeerError;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.transport.event.ServerEvents;
import org.rpcrdma4j.transport.event.TransportEvents;
import org.rpcrdma4j.transport.event.WireListener;
import org.rpcrdma4j.transport.rpc.AcceptStatus;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.DecodedCall;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.server.RequestSlot.ErrorReply;
import org.rpcrdma4j.transport.server.RequestSlot.State;
import org.rpcrdma4j.transport.wire.HeaderEncoder;
import org.rpcrdma4j.transport.wire.Procedure;
import org.rpcrdma4j.transport.wire.Segments;
import org.rpcrdma4j.transport.wire.TransportHeader;
import org.rpcrdma4j.transport.xdr.XdrReader;

/**
 * The way of a call from the handler's queue to its reply's Send: run, answered, built, and given to the {@link ReplySender}.
 *
 * <p>Runs on handler threads and on whatever thread replies, outside the monitor; {@link #submit} and what follows are inside.
 */
final class ReplyPath {

    private static final ValueLayout.OfInt WORD = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final long CREDITS_OFFSET = 8;
    private static final long RETRY_NANOS = 10_000_000;

    private final ServerConnection connection;
    private final ServerContext context;
    private final ConnectionSizes sizes;
    private final Endpoint endpoint;
    private final ConnectionMemory memory;
    private final CallIntake intake;
    private final ReplyBuilder builder;
    private final ReplySender sender;
    private final Counters<ServerCounter> counters;
    /** Calls that the handlers' executor refused. */
    private final ArrayDeque<RequestSlot> refused = new ArrayDeque<>();

    ReplyPath(
            ServerConnection connection,
            ServerContext context,
            ConnectionSizes sizes,
            Endpoint endpoint,
            ConnectionMemory memory,
            CallIntake intake,
            ReplyBuilder builder,
            ReplySender sender) {
        this.connection = connection;
        this.context = context;
        this.sizes = sizes;
        this.endpoint = endpoint;
        this.memory = memory;
        this.intake = intake;
        this.builder = builder;
        this.sender = sender;
        this.counters = context.counters();
    }

    /** Outside the monitor: gives a call to the handlers' executor. */
    void dispatch(RequestSlot slot) {
        try {
            context.handlers().execute(slot);
        } catch (RejectedExecutionException e) {
            connection.monitor().run(() -> {
                if (connection.isEnding()) {
                    discard(slot);
                    return;
                }
                refused.add(slot);
                if (refused.size() == 1) {
                    context.time().schedule(RETRY_NANOS, this::dispatchRefused);
                }
            });
        }
    }

    private void dispatchRefused() {
        connection.monitor().run(() -> {
            RequestSlot slot;
            while ((slot = refused.poll()) != null) {
                connection.monitor().afterwards(slot.dispatch);
            }
        });
    }

    /** On a handler thread. */
    void serve(RequestSlot slot) {
        if (connection.isEnding()) {
            discard(slot);
            return;
        }
        slot.state = State.RUNNING;
        ServerRequest request = new ServerRequest(slot);
        try {
            if (isEligible(slot, request)) {
                context.handler().onRequest(request);
            }
        } catch (Throwable e) {
            // An Error too: the client is owed an answer, and the thread serves others.
            logFailure(slot, e);
            if (e instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            if (!request.isAnswered()) {
                request.replyError(ReplyHeader.of(request.xid(), AcceptStatus.SYSTEM_ERR));
            }
        }
    }

    /** A handler that runs while its connection ends gets no memory any more: no fault of its own, and nobody waits for its answer. */
    private void logFailure(RequestSlot slot, Throwable failure) {
        String text = "the handler of " + slot + " failed";
        if (connection.isEnding() && failure instanceof IllegalStateException) {
            context.log().debug(text + " when its connection had ended", failure);
        } else {
            context.log().warn(text, failure);
        }
    }

    /** RFC 8166, Section 6.1: a call with a reduced item that is not eligible is not processed. Section 4.5.2: it gets GARBAGE_ARGS. */
    private boolean isEligible(RequestSlot slot, ServerRequest request) {
        CallAssembler assembler = slot.assembler;
        if (!slot.usesChunks || assembler == null || assembler.items() == 0) {
            return true;
        }
        EligibilityCheck check = slot.eligibilityCheck(context.bindings(), assembler);
        XdrReader reader = check.reader(slot.message);
        DecodedCall decoded = CallHeader.decode(reader);
        boolean passes = decoded instanceof CallHeader header && check.passes(header, reader);
        reader.clear();
        if (passes) {
            return true;
        }
        BadMessage.MESSAGE.countAtServer(counters);
        request.replyError(
                decoded instanceof DecodedCall.Refused bad
                        ? bad.reply()
                        : ReplyHeader.of(request.xid(), AcceptStatus.GARBAGE_ARGS));
        return false;
    }

    private void discard(RequestSlot slot) {
        connection.monitor().run(() -> {
            intake.endCall();
            connection.release(slot);
        });
    }

    /** Outside the monitor, on the thread that replies; the request is marked as answered. */
    void reply(RequestSlot slot, ReplyPieces reply) {
        slot.released = reply.released();
        ReplyPlanner.Form form;
        try {
            form = builder.build(slot, reply, sizes.sendThreshold(), sizes.mayInvalidate());
        } catch (ReplyBuilder.NoMemory e) {
            // RFC 8166, Section 4.5.4: a reply that cannot be built ends the connection.
            fail(slot, String.valueOf(e.getMessage()));
            return;
        } catch (RuntimeException e) {
            fail(slot, "reply cannot be built: " + e);
            throw e;
        }
        connection.monitor().enter();
        try {
            if (form == ReplyPlanner.Form.DOES_NOT_FIT) {
                counters.increment(ServerCounter.REPLY_FAILURES);
                counters.increment(ServerCounter.REPLIES_WITHOUT_ROOM);
                ServerEvents.replyFailed(connection.label(), slot.header.xid(), "the client's offer is too small");
                slot.error = ErrorReply.ERR_CHUNK;
                sendError(slot);
            } else {
                submit(slot, form);
            }
        } finally {
            connection.monitor().leave();
        }
    }

    private void fail(RequestSlot slot, String detail) {
        connection.monitor().run(() -> {
            counters.increment(ServerCounter.REPLY_FAILURES);
            ServerEvents.replyFailed(connection.label(), slot.header.xid(), detail);
            intake.endCall();
            // A part of it may be posted in no case: nothing was. So its memory is free.
            connection.release(slot);
            connection.disconnect(DisconnectCause.WORK_REQUEST_FAILED, detail);
        });
    }

    /** Outside the monitor: ERR_CHUNK instead of a reply. */
    void refuse(RequestSlot slot) {
        connection.monitor().run(() -> {
            counters.increment(ServerCounter.REPLY_FAILURES);
            slot.error = ErrorReply.ERR_CHUNK;
            sendError(slot);
        });
    }

    private void submit(RequestSlot slot, ReplyPlanner.Form form) {
        if (dropIfEnding(slot)) {
            return;
        }
        counters.increment(ServerCounter.REPLIES);
        if (form == ReplyPlanner.Form.REPLY_CHUNK) {
            counters.increment(ServerCounter.NOMSG_REPLIES);
        }
        if (slot.chain.size() > 1) {
            counters.increment(ServerCounter.WRITES);
            TransportEvents.postRdma(
                    connection.label(),
                    slot.chain.getFirst().id(),
                    slot.header.xid(),
                    form == ReplyPlanner.Form.REPLY_CHUNK ? ChunkList.REPLY : ChunkList.WRITE,
                    slot.chain.size() - 1,
                    slot.planner.chunkBytes() + (form == ReplyPlanner.Form.REPLY_CHUNK ? slot.planner.restBytes() : 0));
        }
        if (slot.send.invalidates()) {
            counters.increment(ServerCounter.REMOTE_INVALIDATIONS);
        }
        if (slot.usesChunks) {
            tellSegments(slot.header);
        }
        post(slot);
    }

    private void tellSegments(TransportHeader header) {
        tellSegments(header, ChunkList.WRITE, header.writeList().segments());
        tellSegments(header, ChunkList.REPLY, header.replyChunk());
    }

    private void tellSegments(TransportHeader header, ChunkList list, Segments segments) {
        for (int i = 0; i < segments.size(); i++) {
            ServerEvents.chunkReturned(
                    connection.label(),
                    header.xid(),
                    list,
                    i,
                    segments.handle(i),
                    segments.length(i),
                    segments.offset(i));
        }
    }

    /** In the monitor: builds and posts the slot's RDMA_ERROR. */
    void sendError(RequestSlot slot) {
        if (dropIfEnding(slot)) {
            return;
        }
        slot.resetReply();
        TransportHeader header = slot.header;
        MemorySegment out = endpoint.sendMemory(slot.sendBuffer);
        if (slot.error == ErrorReply.ERR_VERS) {
            counters.increment(ServerCounter.ERRORS_SENT_VERSION);
            ServerEvents.errorSent(connection.label(), header.xid(), PeerError.VERSION);
            slot.sendBytes = HeaderEncoder.encodeErrorVersion(
                    header.xid(), header.version(), 1, TransportHeader.VERSION, TransportHeader.VERSION, out, 0);
        } else {
            counters.increment(ServerCounter.ERRORS_SENT_CHUNK);
            ServerEvents.errorSent(connection.label(), header.xid(), PeerError.CHUNK);
            slot.sendBytes = HeaderEncoder.encodeErrorChunk(header.xid(), header.version(), 1, out, 0);
        }
        slot.send.clearSges();
        // RFC 8797, Section 4.1: only an RPC reply may invalidate.
        slot.send
                .withoutInvalidate()
                .id(WorkIds.of(WorkIds.Kind.SEND, slot.generation, slot.index))
                .sge(endpoint.sendRegion(), endpoint.sendOffset(slot.sendBuffer), slot.sendBytes);
        slot.chain.add(slot.send);
        post(slot);
    }

    private boolean dropIfEnding(RequestSlot slot) {
        if (!connection.isEnding()) {
            return false;
        }
        intake.endCall();
        connection.release(slot);
        return true;
    }

    private void post(RequestSlot slot) {
        slot.state = State.REPLYING;
        intake.endCall();
        slot.message.clear();
        // ORDER: the Receive is posted before the reply that lets the client use it (RFC 8166, Section 3.3.1).
        connection.releaseReceive(slot);
        MemorySegment out = endpoint.sendMemory(slot.sendBuffer);
        out.set(WORD, CREDITS_OFFSET, connection.grant());
        WireListener listener = context.wireListener();
        if (listener != null) {
            listener.onMessage(Direction.SENT, connection.id(), out, 0, slot.sendBytes);
        }
        TransportEvents.postSend(
                connection.label(),
                slot.send.id(),
                slot.header.xid(),
                1,
                slot.sendBytes,
                true,
                slot.send.invalidateKey());
        connection.watch(slot);
        sender.add(slot);
    }

    /** Memory for results, within what was reserved for the call, or what is left of the connection's and the server's. */
    MemorySegment allocate(RequestSlot slot, long bytes) {
        CallAssembler assembler = slot.assembler;
        long pulled = slot.usesChunks && assembler != null ? assembler.pullBytes() : 0;
        long over = slot.resultBytes + bytes - (slot.reservedBytes - pulled);
        if (over > 0 && !reserveMore(slot, over)) {
            throw new IllegalStateException("no memory for " + bytes + " bytes of results beyond what is in use");
        }
        PooledBuffer buffer = memory.take(bytes);
        if (buffer == null) {
            throw new IllegalStateException(
                    connection.isEnding()
                            ? "the connection has ended: no memory for results"
                            : "no registered memory for " + bytes + " bytes of results");
        }
        slot.resultBytes += bytes;
        slot.results.add(buffer);
        return buffer.memory(bytes);
    }

    private boolean reserveMore(RequestSlot slot, long bytes) {
        connection.monitor().enter();
        try {
            return connection.admission().reserveMore(slot, bytes);
        } finally {
            connection.monitor().leave();
        }
    }

    /** Bytes that a reply message may have beside its Write chunks. */
    long replyRoom(TransportHeader header) {
        return header.procedure() == Procedure.RDMA_ERROR ? 0 : intake.room().bytes(header);
    }

    /** The connection ends: calls that no handler has are dropped. */
    void stop() {
        RequestSlot slot;
        while ((slot = refused.poll()) != null) {
            intake.endCall();
            connection.release(slot);
        }
    }
}
