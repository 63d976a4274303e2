// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.connection.Endpoint;
import org.rpcrdma4j.transport.connection.Outbox;
import org.rpcrdma4j.transport.connection.WorkIds;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.event.Direction;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.transport.event.TransportEvents;
import org.rpcrdma4j.transport.event.WireListener;
import org.rpcrdma4j.transport.server.ReverseCallException.Kind;
import org.rpcrdma4j.transport.time.TimeSource;
import org.rpcrdma4j.transport.wire.HeaderEncoder;
import org.rpcrdma4j.transport.wire.TransportHeader;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.SendRequest;

/**
 * The calls from the server to one client: their XIDs, credits and deadlines, apart from those of the forward direction (RFC 8167,
 * Sections 2.4.1 and 4.1).
 *
 * <p>A call that ends without a reply keeps its XID and its credit until a late reply comes: the client may still hold it. In the monitor,
 * but for what {@link ReverseClient} offers to any thread.
 */
final class ReverseCalls implements ReverseClient {

    private static final ValueLayout.OfInt WORD = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int MOST_WAITING = 64;
    private static final int SHORTEST_CALL = 40;
    private static final int CALL = 0;

    private final ServerConnection connection;
    private final ServerContext context;
    private final Endpoint endpoint;
    private final ReplySender sender;
    private final Counters<ServerCounter> counters;
    private final int maxCallBytes;
    private final Slot[] slots;
    private final ArrayDeque<Call> waiting = new ArrayDeque<>();
    private final TransportHeader header = new TransportHeader();
    private int nextXid = ThreadLocalRandom.current().nextInt();
    /** RFC 8166, Section 3.3.3, in this direction: one until the first reply. */
    private int granted = 1;

    private boolean enabled;
    private boolean lost;

    ReverseCalls(
            ServerConnection connection,
            ServerContext context,
            Endpoint endpoint,
            ReplySender sender,
            int credits,
            int sendThreshold) {
        this.connection = connection;
        this.context = context;
        this.endpoint = endpoint;
        this.sender = sender;
        this.counters = context.counters();
        maxCallBytes = sendThreshold - TransportHeader.MIN_BYTES;
        slots = new Slot[credits];
        for (int i = 0; i < credits; i++) {
            slots[i] = new Slot(i);
        }
    }

    /** One call of a program. */
    private static final class Call {
        private final CompletableFuture<MemorySegment> result = new CompletableFuture<>();
        private final MemorySegment message;
        private TimeSource.@Nullable Timer timer;
        private boolean ended;

        Call(MemorySegment message) {
            this.message = message;
        }
    }

    /** A credit: the call that uses it, from its Send until its reply; and its Send until that is complete. */
    private final class Slot implements Outbox.Entry {
        private final int index;
        private final SendRequest send = new SendRequest();
        private final List<SendQueueRequest> chain = List.of(send);
        private @Nullable Call call;
        private boolean inUse;
        private boolean sending;
        private int sendBuffer;
        private int xid;

        Slot(int index) {
            this.index = index;
        }

        boolean isFree() {
            return !inUse && !sending;
        }

        @Override
        public List<? extends SendQueueRequest> chain() {
            return chain;
        }

        @Override
        public void onRefused(PostResult.Refused refused) {
            connection.onRefusedPost(send.id(), refused);
        }
    }

    @Override
    public void enable() {
        connection.monitor().run(() -> {
            enabled = slots.length > 0;
            TransportEvents.backchannel(connection.label(), "SETUP", 0);
        });
    }

    @Override
    public void disable() {
        connection.monitor().run(() -> {
            enabled = false;
            failWaiting(Kind.NOT_ENABLED, "the client takes no more calls");
        });
    }

    @Override
    public int maxCallBytes() {
        return maxCallBytes;
    }

    @Override
    public CompletableFuture<MemorySegment> call(MemorySegment message, Duration timeout) {
        if (message.byteSize() < SHORTEST_CALL) {
            throw new IllegalArgumentException(
                    "an RPC call has at least " + SHORTEST_CALL + " bytes, not " + message.byteSize());
        }
        if (message.get(WORD, Integer.BYTES) != CALL) {
            // RFC 8167, Section 5.1: the direction word of a reverse call says CALL.
            throw new IllegalArgumentException(
                    "an RPC call says " + CALL + " behind its XID, not " + message.get(WORD, Integer.BYTES));
        }
        if (message.byteSize() > maxCallBytes) {
            // RFC 8167, Section 5.3: without chunks a message has to fit inline.
            return CompletableFuture.failedFuture(new ReverseCallException(
                    Kind.TOO_LONG, message.byteSize() + " bytes, the client takes " + maxCallBytes));
        }
        MemorySegment copy = MemorySegment.ofArray(message.toArray(ValueLayout.JAVA_BYTE));
        Call call = new Call(copy);
        connection.monitor().run(() -> begin(call, timeout));
        return call.result;
    }

    private void begin(Call call, Duration timeout) {
        if (lost || connection.isEnding()) {
            end(call, Kind.CONNECTION_LOST, "the connection has ended");
        } else if (!enabled) {
            // RFC 8167, Section 6: not before the peer has said that it can take calls.
            end(call, Kind.NOT_ENABLED, "the client has not said that it takes calls");
        } else if (waiting.size() >= MOST_WAITING) {
            end(call, Kind.BUSY, waiting.size() + " calls wait already");
        } else {
            call.timer = context.time()
                    .schedule(timeout.toNanos(), () -> connection.monitor().run(() -> onTimeout(call)));
            waiting.add(call);
            sendWaiting();
        }
    }

    private void onTimeout(Call call) {
        if (!call.ended) {
            waiting.remove(call);
            end(call, Kind.TIMED_OUT, "no reply in time");
            connection.endIfIdle();
        }
    }

    private void sendWaiting() {
        while (!waiting.isEmpty() && !lost) {
            Slot slot = freeSlot();
            if (slot == null || !sender.takePlace()) {
                return;
            }
            int buffer = endpoint.takeSendBuffer();
            if (buffer < 0) {
                sender.returnPlace();
                return;
            }
            send(waiting.remove(), slot, buffer);
        }
    }

    private @Nullable Slot freeSlot() {
        int used = 0;
        Slot free = null;
        for (Slot slot : slots) {
            used += slot.inUse ? 1 : 0;
            if (slot.isFree()) {
                free = slot;
            }
        }
        return used < granted ? free : null;
    }

    private void send(Call call, Slot slot, int buffer) {
        slot.call = call;
        slot.inUse = true;
        slot.sending = true;
        slot.sendBuffer = buffer;
        slot.xid = nextXid++;
        header.clear();
        header.xid(slot.xid);
        header.credits(slots.length);
        MemorySegment out = endpoint.sendMemory(buffer);
        int headerBytes = HeaderEncoder.encode(header, out, 0);
        int length = headerBytes + (int) call.message.byteSize();
        MemorySegment.copy(call.message, 0, out, headerBytes, call.message.byteSize());
        // RFC 8167, Section 5.1: the RPC message begins with the header's XID.
        out.set(WORD, headerBytes, slot.xid);
        slot.send.clearSges();
        slot.send
                .id(WorkIds.of(WorkIds.Kind.SEND, 0, ~slot.index))
                .sge(endpoint.sendRegion(), endpoint.sendOffset(buffer), length);
        WireListener listener = context.wireListener();
        if (listener != null) {
            listener.onMessage(Direction.SENT, connection.id(), out, 0, length);
        }
        counters.increment(ServerCounter.REVERSE_CALLS);
        TransportEvents.backchannel(connection.label(), "CALL", slot.xid);
        endpoint.post(slot);
    }

    /** The Send of a reverse call is complete. */
    void onSent(int index) {
        Slot slot = slots[index];
        if (slot.sending) {
            slot.sending = false;
            endpoint.returnSendBuffer(slot.sendBuffer);
            sender.returnPlace();
            sendWaiting();
        }
    }

    /** A reverse reply has come. Returns whether a call of that XID was out. */
    boolean onReply(int xid, int credits, MemorySegment body) {
        Slot slot = find(xid);
        if (slot == null) {
            return false;
        }
        counters.increment(ServerCounter.REVERSE_REPLIES);
        TransportEvents.backchannel(connection.label(), "REPLY", xid);
        // RFC 8166, Section 3.3.1: 0 is never granted; who grants it all the same means 1.
        granted = credits < 0 ? slots.length : Math.max(1, Math.min(credits, slots.length));
        Call call = free(slot);
        if (call != null && !call.ended) {
            MemorySegment copy = Arena.ofAuto().allocate(body.byteSize(), 8).copyFrom(body);
            finish(call);
            connection.monitor().afterwards(() -> call.result.complete(copy));
        }
        sendWaiting();
        return true;
    }

    /** RFC 8166, Section 4.5: an RDMA_ERROR ends the call of its XID. Returns whether there was one. */
    boolean onError(int xid) {
        Slot slot = find(xid);
        if (slot == null) {
            return false;
        }
        Call call = free(slot);
        if (call != null && !call.ended) {
            end(call, Kind.REFUSED, "the client answered with RDMA_ERROR");
        }
        sendWaiting();
        return true;
    }

    private @Nullable Slot find(int xid) {
        for (Slot slot : slots) {
            if (slot.inUse && slot.xid == xid) {
                return slot;
            }
        }
        return null;
    }

    private static @Nullable Call free(Slot slot) {
        Call call = slot.call;
        slot.call = null;
        slot.inUse = false;
        return call;
    }

    private static void finish(Call call) {
        call.ended = true;
        if (call.timer != null) {
            call.timer.cancel();
        }
    }

    private void end(Call call, Kind kind, String detail) {
        finish(call);
        counters.increment(ServerCounter.REVERSE_CALLS_FAILED);
        connection
                .monitor()
                .afterwards(() -> call.result.completeExceptionally(new ReverseCallException(kind, detail)));
    }

    private void failWaiting(Kind kind, String detail) {
        Call call;
        while ((call = waiting.poll()) != null) {
            end(call, kind, detail);
        }
    }

    /** RFC 8167, Section 5.4: the server cannot connect; what is out ends with the connection. */
    void onConnectionLost() {
        lost = true;
        for (Slot slot : slots) {
            Call call = free(slot);
            if (call != null && !call.ended) {
                end(call, Kind.CONNECTION_LOST, "the connection ended before the reply");
            }
        }
        failWaiting(Kind.CONNECTION_LOST, "the connection ended before the call was sent");
    }

    /** Send buffers that were out come back. */
    void onQueuePairClosed() {
        for (Slot slot : slots) {
            if (slot.sending) {
                slot.sending = false;
                endpoint.returnSendBuffer(slot.sendBuffer);
            }
        }
    }

    /** Whether nobody waits for a reply to a call that was sent, and no Send is on its way. */
    boolean isIdle() {
        for (Slot slot : slots) {
            if (slot.sending || (slot.call != null && !slot.call.ended)) {
                return false;
            }
        }
        return true;
    }

    boolean isEnabled() {
        return enabled;
    }
}
