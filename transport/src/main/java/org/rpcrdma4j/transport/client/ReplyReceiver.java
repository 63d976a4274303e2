// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.client.ReplyValidator.Verdict;
import org.rpcrdma4j.transport.client.TransportException.Kind;
import org.rpcrdma4j.transport.connection.DisconnectCause;
import org.rpcrdma4j.transport.event.BadMessage;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.event.ClientEvents;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.event.Direction;
import org.rpcrdma4j.transport.event.PeerError;
import org.rpcrdma4j.transport.event.WireListener;
import org.rpcrdma4j.transport.frwr.RemoteInvalidation;
import org.rpcrdma4j.transport.wire.ErrorCode;
import org.rpcrdma4j.transport.wire.HeaderDecoder;
import org.rpcrdma4j.transport.wire.HeaderDecoder.Outcome;
import org.rpcrdma4j.transport.wire.HeaderLimits;
import org.rpcrdma4j.transport.wire.Procedure;
import org.rpcrdma4j.transport.wire.RpcDirection;
import org.rpcrdma4j.transport.wire.TransportHeader;

/**
 * Reads what one connection receives: matches replies with their calls, and tells the calls of the server from them. Trusts nothing,
 * waits for nothing, throws nothing, whatever came. Used inside the monitor.
 *
 * <p>RFC 8166, Section 4.5: a message whose header is wrong is dropped without an answer, and its call waits on; it is counted, and the
 * call remembers it for its deadline's error. A server that sends several such messages is disconnected.
 */
final class ReplyReceiver {

    /** More than any call of ours offers, so that what comes back too large is told from what cannot be read. */
    private static final HeaderLimits LIMITS = new HeaderLimits(1024, 16, 1024, true);

    private static final int LEAST_RPC_BYTES = 8;
    private static final ValueLayout.OfInt XDR_INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final ClientContext context;
    private final ClientConnection connection;
    private final ReverseService reverse;
    private final Counters<ClientCounter> counters;
    private final TransportHeader header = new TransportHeader();
    private final ReplyValidator validator = new ReplyValidator();
    private long lastReceivedNanos;
    private int badMessages;

    ReplyReceiver(ClientContext context, ClientConnection connection, ReverseService reverse) {
        this.context = context;
        this.connection = connection;
        this.reverse = reverse;
        counters = context.counters();
        lastReceivedNanos = context.time().nanoTime();
    }

    long lastReceivedNanos() {
        return lastReceivedNanos;
    }

    /** Handles one message; its memory is given back when this returns. */
    void onMessage(MemorySegment message, int length, boolean withInvalidate, int invalidatedKey) {
        lastReceivedNanos = context.time().nanoTime();
        WireListener listener = context.wireListener();
        if (listener != null) {
            listener.onMessage(Direction.RECEIVED, connection.endpoint().number(), message, 0, length);
        }
        Outcome outcome = HeaderDecoder.decode(message, 0, length, LIMITS, header);
        RpcDirection direction = HeaderDecoder.direction(header, message, 0, length);
        ClientCall call = length < TransportHeader.FIXED_BYTES || direction == RpcDirection.CALL ? null : ownCall();
        if (withInvalidate && isForeign(call, invalidatedKey)) {
            return;
        }
        if (outcome != Outcome.OK) {
            drop(call, outcome.toString(), causeOf(outcome), length);
        } else if (header.procedure() == Procedure.RDMA_ERROR) {
            onError(call);
        } else if (direction == RpcDirection.CALL) {
            reverse.onMessage(header, message, length);
        } else if (isLongReverseCall(call)) {
            // RFC 8167, Section 5.3: a reverse call with chunks, which we do not support, is answered.
            reverse.refuse(header);
        } else {
            onReply(call, message, length, direction);
        }
    }

    /** The call that the message answers, if it was sent on this connection. */
    private @Nullable ClientCall ownCall() {
        ClientCall call = connection.requester().find(header.xid());
        return call != null && call.connection() == connection ? call : null;
    }

    /** A reply has no Read list, so an RDMA_NOMSG with one, and with no call of ours to answer, is a Long Call of the server. */
    private boolean isLongReverseCall(@Nullable ClientCall call) {
        return call == null
                && header.procedure() == Procedure.RDMA_NOMSG
                && header.readList().hasPositionZeroChunk()
                && reverse.isEnabled();
    }

    /**
     * RFC 8797, Section 4.1: a region that the message invalidates is one of the call that it answers. Any other may belong to a call
     * that still trusts it, so the connection ends, and the message with it.
     */
    private boolean isForeign(@Nullable ClientCall call, int key) {
        RequestSlot slot = call == null ? null : call.slot();
        RemoteInvalidation invalidation =
                connection.registrar().remotelyInvalidated(slot == null ? null : slot.regions(), key);
        if (invalidation == RemoteInvalidation.OWN && context.options().remoteInvalidation()) {
            return false;
        }
        boolean isShut = call != null && (slot == null || slot.regions().isFencing());
        if (invalidation == RemoteInvalidation.UNKNOWN && isShut) {
            // A late reply to a call whose memory was shut already, or is being shut, region by region.
            return false;
        }
        connection.abort(
                DisconnectCause.PROTOCOL_VIOLATION,
                "message 0x" + Integer.toHexString(header.xid()) + " invalidates region 0x" + Integer.toHexString(key)
                        + ", which is not its call's to invalidate");
        return true;
    }

    private static BadMessage causeOf(Outcome outcome) {
        return switch (outcome) {
            case TOO_SHORT -> BadMessage.SHORT;
            case BAD_VERSION -> BadMessage.VERSION;
            case BAD_PROCEDURE, MSGP -> BadMessage.PROCEDURE;
            case DONE -> BadMessage.DROPPED;
            case OK, BAD_ERROR, BAD_LISTS, BAD_POSITION, NO_CHUNKS, OUTSIDE_LIMITS -> BadMessage.CHUNKS;
        };
    }

    private void drop(@Nullable ClientCall call, String reason, BadMessage cause, int length) {
        countBad(cause, length);
        if (call != null) {
            call.noteDropped(reason);
        }
        badMessages++;
        if (badMessages >= context.options().badReplyLimit()) {
            connection.abort(
                    DisconnectCause.PROTOCOL_VIOLATION, badMessages + " malformed messages, the last: " + reason);
        }
    }

    private void countBad(BadMessage cause, int length) {
        cause.count(counters);
        ClientEvents.badReply(
                connection.label(), header.xid(), cause, header.version(), header.procedureWord(), length);
    }

    /** RFC 8166, Section 4.5: an RDMA_ERROR is permanent and ends the call of its XID. */
    private void onError(@Nullable ClientCall call) {
        boolean isVersion = header.errorCode() == ErrorCode.ERR_VERS;
        counters.increment(ClientCounter.BAD_REPLIES);
        counters.increment(isVersion ? ClientCounter.PEER_ERRORS_VERSION : ClientCounter.PEER_ERRORS_CHUNK);
        ClientEvents.peerError(
                connection.label(),
                header.xid(),
                isVersion ? PeerError.VERSION : PeerError.CHUNK,
                header.lowVersion(),
                header.highVersion());
        if (!takeAnswer(call) || call == null) {
            return;
        }
        if (isVersion) {
            connection
                    .requester()
                    .onFailureReply(
                            call,
                            Kind.PEER_ERROR_VERSION,
                            "the server speaks versions " + Integer.toUnsignedString(header.lowVersion()) + " to "
                                    + Integer.toUnsignedString(header.highVersion()));
        } else {
            connection.requester().onFailureReply(call, Kind.PEER_ERROR_CHUNK, "the server answered ERR_CHUNK");
        }
    }

    private void onReply(@Nullable ClientCall call, MemorySegment message, int length, RpcDirection direction) {
        if (call == null || isAnswered(call)) {
            counters.increment(ClientCounter.BAD_XIDS);
            return;
        }
        if (header.procedure() == Procedure.RDMA_MSG && !isReplyTo(call, message, length, direction)) {
            // RFC 8166, Section 4.2.1 lets us go by the header alone; then a foreign message could end the call.
            drop(call, "an RDMA_MSG whose RPC message is no reply of its XID", BadMessage.MESSAGE, length);
            return;
        }
        if (call.state() != ClientCall.State.SENT) {
            takeAnswer(call);
            return;
        }
        Verdict verdict = validator.check(header, call.offered(), call.offersPad());
        if (verdict == Verdict.DROP) {
            drop(call, String.valueOf(validator.reason()), BadMessage.CHUNKS, length);
        } else if (verdict != Verdict.VALID) {
            countBad(BadMessage.CHUNKS, length);
            takeAnswer(call);
            fail(call, String.valueOf(validator.reason()));
            if (verdict == Verdict.FAIL_AND_DISCONNECT) {
                connection.abort(DisconnectCause.PROTOCOL_VIOLATION, String.valueOf(validator.reason()));
            }
        } else {
            takeAnswer(call);
            deliver(call, message, length);
        }
    }

    private static boolean isAnswered(ClientCall call) {
        return call.isAnswered();
    }

    private boolean isReplyTo(ClientCall call, MemorySegment message, int length, RpcDirection direction) {
        return direction == RpcDirection.REPLY
                && length - header.length() >= LEAST_RPC_BYTES
                && message.get(XDR_INT, header.length()) == call.xid();
    }

    private void fail(ClientCall call, String reason) {
        connection.requester().onFailureReply(call, Kind.BAD_REPLY, reason);
    }

    private void deliver(ClientCall call, MemorySegment message, int length) {
        CallMessage asked = call.message();
        long placed = validator.placedBytes();
        long inChunk = validator.replyChunkBytes();
        counters.increment(ClientCounter.RECEIVES);
        counters.add(ClientCounter.TOTAL_RDMA_REPLY, placed + inChunk);
        ClientEvents.reply(
                connection.label(),
                call.xid(),
                connection.credits().limit(),
                length,
                placed + inChunk,
                lastReceivedNanos - call.sentNanos());
        MemorySegment reply;
        long replyBytes;
        if (header.procedure() == Procedure.RDMA_NOMSG) {
            if (inChunk < LEAST_RPC_BYTES) {
                fail(call, "a reply of " + inChunk + " bytes");
                return;
            }
            reply = call.memory().takeLong(asked);
            replyBytes = inChunk;
        } else {
            int bytes = length - header.length();
            MemorySegment buffer = asked.replyBuffer();
            if (buffer != null && buffer.byteSize() < bytes) {
                fail(call, "a reply of " + bytes + " bytes for a reply buffer of " + buffer.byteSize());
                return;
            }
            RequestSlot slot = call.slot();
            boolean isShut = slot == null || slot.regions().isShut();
            try {
                reply = call.memory().takeInline(asked, message, header.length(), bytes, isShut);
            } catch (IllegalStateException | IllegalArgumentException | WrongThreadException e) {
                connection
                        .requester()
                        .onFailureReply(
                                call, Kind.REGISTRATION_FAILED, "its reply buffer cannot be used: " + e.getMessage());
                return;
            }
            replyBytes = bytes;
            counters.add(ClientCounter.FIXUP_COPIES, bytes);
        }
        connection.requester().onReply(call, reply, replyBytes, placed);
    }

    /**
     * The server has answered a call: its credit is free, and the new grant holds. Returns whether the call waited for it; if it was given
     * up, that is all.
     */
    private boolean takeAnswer(@Nullable ClientCall call) {
        if (call == null || isAnswered(call)) {
            // RFC 8166 has no rule for these; credits of a message that belongs to nothing do not count.
            counters.increment(ClientCounter.BAD_XIDS);
            return false;
        }
        CreditWindow credits = connection.credits();
        credits.giveBack(call.isGivenUp());
        // RFC 8167, Section 4.1: a credit word whose direction cannot be told is ignored.
        if (header.procedure() != Procedure.RDMA_ERROR || !reverse.isLive(header.xid())) {
            credits.grant(header.credits());
        }
        connection.onAnswered();
        if (call.state() == ClientCall.State.SENT) {
            return true;
        }
        counters.increment(ClientCounter.LATE_REPLIES);
        connection.requester().onLateReply(call);
        return false;
    }
}
