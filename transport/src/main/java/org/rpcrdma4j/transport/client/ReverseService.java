// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.connection.DisconnectCause;
import org.rpcrdma4j.transport.connection.Endpoint;
import org.rpcrdma4j.transport.connection.Outbox;
import org.rpcrdma4j.transport.connection.WorkIds;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.event.Direction;
import org.rpcrdma4j.transport.event.TransportEvents;
import org.rpcrdma4j.transport.event.WireListener;
import org.rpcrdma4j.transport.wire.HeaderEncoder;
import org.rpcrdma4j.transport.wire.TransportHeader;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.SendRequest;

/**
 * The Responder on the client's side: takes calls of the server and sends their replies (RFC 8167), in messages only, never in chunks.
 * Credits are counted apart from those of our own calls. Lives as long as its connection; used inside the monitor, save for the
 * handler.
 */
final class ReverseService {

    private static final System.Logger LOG = System.getLogger(ReverseService.class.getName());
    private static final ValueLayout.OfInt XDR_INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int REPLY = 1;
    private static final int SYSTEM_ERR = 5;
    private static final int LEAST_CALL_BYTES = 8;

    private final ClientContext context;
    private final ClientConnection connection;
    private final int credits;
    private final @Nullable ReverseHandler handler;
    private final Set<Integer> live = new HashSet<>();
    private final ArrayDeque<Answer> waiting = new ArrayDeque<>();
    private final List<Answer> outstanding = new ArrayList<>();
    private int unanswered;
    private int nextIndex;
    private int maxReplyBytes;
    private boolean over;

    ReverseService(ClientContext context, ClientConnection connection, int credits) {
        this.context = context;
        this.connection = connection;
        this.credits = credits;
        handler = context.reverseHandler();
    }

    boolean isEnabled() {
        return handler != null && credits > 0;
    }

    /** Whether a call of the server with this XID has no answer yet. RFC 8167, Section 2.4.1: one of ours may have the same. */
    boolean isLive(int xid) {
        return live.contains(xid);
    }

    void onEstablished(int sendThreshold) {
        // RFC 8167, Section 4.2: the thresholds change sides.
        maxReplyBytes = sendThreshold - TransportHeader.MIN_BYTES;
    }

    /** An RDMA_MSG whose RPC message is a call. */
    void onMessage(TransportHeader header, MemorySegment message, int length) {
        ReverseHandler mine = handler;
        if (mine == null || !isEnabled()) {
            drop(header, "not enabled");
            return;
        }
        int offset = header.length();
        // RFC 8167, Section 5.3: who does not support chunks answers them with ERR_CHUNK; Section 5.1: the XIDs agree.
        if (!header.hasNoChunks()
                || length - offset < LEAST_CALL_BYTES
                || message.get(XDR_INT, offset) != header.xid()) {
            refuse(header);
            return;
        }
        if (unanswered >= credits) {
            drop(header, "above the credits");
            connection.abort(DisconnectCause.PROTOCOL_VIOLATION, "more reverse calls than " + credits + " credits");
            return;
        }
        context.counters().increment(ClientCounter.REVERSE_CALLS);
        TransportEvents.backchannel(connection.label(), "call", header.xid());
        unanswered++;
        live.add(header.xid());
        byte[] copy = message.asSlice(offset, length - offset).toArray(ValueLayout.JAVA_BYTE);
        Incoming call = new Incoming(header.xid(), MemorySegment.ofArray(copy));
        context.monitor().afterwards(() -> dispatch(mine, call));
    }

    private void drop(TransportHeader header, String why) {
        context.counters().increment(ClientCounter.REVERSE_CALLS_DROPPED);
        TransportEvents.backchannel(connection.label(), "dropped, " + why, header.xid());
    }

    /** Answers ERR_CHUNK. */
    void refuse(TransportHeader header) {
        drop(header, "refused");
        if (!isEnabled() || waiting.size() >= credits) {
            return;
        }
        Answer answer = new Answer();
        answer.bytes = MemorySegment.ofArray(new byte[TransportHeader.ERROR_CHUNK_BYTES]);
        HeaderEncoder.encodeErrorChunk(header.xid(), header.version(), credits, answer.bytes, 0);
        send(answer);
    }

    private void dispatch(ReverseHandler mine, Incoming call) {
        try {
            context.callbacks().execute(() -> serve(mine, call));
        } catch (RejectedExecutionException e) {
            call.fail(e);
        }
    }

    private static void serve(ReverseHandler mine, Incoming call) {
        try {
            mine.onCall(call);
        } catch (RuntimeException | Error e) {
            // An Error too: without an answer the call would keep its credit for ever.
            call.fail(e);
        }
    }

    private void answer(int xid, MemorySegment message) {
        context.monitor().enter();
        try {
            unanswered--;
            live.remove(xid);
            if (over) {
                return;
            }
            TransportHeader header = new TransportHeader();
            header.xid(xid);
            header.credits(credits);
            Answer answer = new Answer();
            answer.bytes = MemorySegment.ofArray(new byte[(int) (TransportHeader.MIN_BYTES + message.byteSize())]);
            int offset = HeaderEncoder.encode(header, answer.bytes, 0);
            MemorySegment.copy(message, 0, answer.bytes, offset, message.byteSize());
            context.counters().increment(ClientCounter.REVERSE_REPLIES);
            TransportEvents.backchannel(connection.label(), "reply", xid);
            send(answer);
        } finally {
            context.monitor().leave();
        }
    }

    /** As many Sends as there are credits have a place in the send queue; others wait for a completion. */
    private void send(Answer answer) {
        waiting.add(answer);
        Answer next;
        while (outstanding.size() < Math.max(1, credits) && (next = waiting.poll()) != null) {
            post(next);
        }
    }

    private void post(Answer answer) {
        Endpoint endpoint = connection.endpoint();
        int buffer = endpoint.takeSendBuffer();
        if (buffer < 0 || !endpoint.isConnected()) {
            if (buffer >= 0) {
                endpoint.returnSendBuffer(buffer);
            }
            return;
        }
        answer.buffer = buffer;
        answer.index = connection.firstReverseIndex() + nextIndex++;
        MemorySegment.copy(answer.bytes, 0, endpoint.sendMemory(buffer), 0, answer.bytes.byteSize());
        WireListener listener = context.wireListener();
        if (listener != null) {
            listener.onMessage(Direction.SENT, endpoint.number(), answer.bytes, 0, (int) answer.bytes.byteSize());
        }
        answer.send
                .id(WorkIds.of(WorkIds.Kind.SEND, 0, answer.index))
                .sge(endpoint.sendRegion(), endpoint.sendOffset(buffer), answer.bytes.byteSize());
        outstanding.add(answer);
        endpoint.post(answer);
    }

    void onSendCompleted(int index) {
        for (int i = 0; i < outstanding.size(); i++) {
            Answer answer = outstanding.get(i);
            if (answer.index == index) {
                outstanding.remove(i);
                connection.endpoint().returnSendBuffer(answer.buffer);
                break;
            }
        }
        Answer next;
        while (outstanding.size() < Math.max(1, credits) && (next = waiting.poll()) != null) {
            post(next);
        }
    }

    /** What is still to be answered is dropped: the server asks again on the next connection if it wants to. */
    void onDisconnecting() {
        over = true;
        waiting.clear();
    }

    /** A message on its way to the server. */
    private final class Answer implements Outbox.Entry {

        private final SendRequest send = new SendRequest();
        private final List<SendRequest> chain = List.of(send);
        private MemorySegment bytes = MemorySegment.NULL;
        private int buffer;
        private int index;

        @Override
        public List<SendRequest> chain() {
            return chain;
        }

        @Override
        public void onRefused(PostResult.Refused refused) {
            context.counters().increment(ClientCounter.POST_ERRORS);
            // RFC 8166, Section 4.5.4: a Responder that cannot send its answer ends the connection.
            connection.abort(DisconnectCause.WORK_REQUEST_FAILED, "post refused: " + refused.detail());
        }
    }

    /** A call of the server. */
    private final class Incoming implements ReverseCall {

        private final int xid;
        private final MemorySegment message;
        private final java.util.concurrent.atomic.AtomicBoolean isAnswered =
                new java.util.concurrent.atomic.AtomicBoolean();

        Incoming(int xid, MemorySegment message) {
            this.xid = xid;
            this.message = message;
        }

        @Override
        public int xid() {
            return xid;
        }

        @Override
        public MemorySegment message() {
            return message;
        }

        @Override
        public int maxReplyBytes() {
            return maxReplyBytes;
        }

        @Override
        public void reply(MemorySegment reply) {
            long length = reply.byteSize();
            if (length < LEAST_CALL_BYTES || length > maxReplyBytes) {
                // RFC 8167, Section 5.3: without chunks a message has to fit.
                throw new IllegalArgumentException(
                        "reply of " + length + " bytes: must lie in " + LEAST_CALL_BYTES + ".." + maxReplyBytes);
            }
            if (reply.get(XDR_INT, 0) != xid || reply.get(XDR_INT, Integer.BYTES) != REPLY) {
                // RFC 8167, Section 5.2: the reply begins with the XID of its call, and says that it is a reply.
                throw new IllegalArgumentException("not a reply to 0x" + Integer.toHexString(xid));
            }
            if (!isAnswered.compareAndSet(false, true)) {
                throw new IllegalStateException("answered already");
            }
            answer(xid, reply);
        }

        /** Answers SYSTEM_ERR, if it was not answered. */
        void fail(Throwable cause) {
            LOG.log(System.Logger.Level.WARNING, "handler of reverse calls failed", cause);
            if (isAnswered.compareAndSet(false, true)) {
                int[] words = {xid, REPLY, 0, 0, 0, SYSTEM_ERR};
                MemorySegment reply = MemorySegment.ofArray(new byte[words.length * Integer.BYTES]);
                for (int i = 0; i < words.length; i++) {
                    reply.set(XDR_INT, (long) i * Integer.BYTES, words[i]);
                }
                answer(xid, reply);
            }
        }
    }
}
