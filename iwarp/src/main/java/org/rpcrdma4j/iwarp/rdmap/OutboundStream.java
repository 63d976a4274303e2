// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.ddp.DdpHeader;
import org.rpcrdma4j.iwarp.mem.AccessFault;
import org.rpcrdma4j.iwarp.mem.AccessKind;
import org.rpcrdma4j.iwarp.mem.Region;
import org.rpcrdma4j.iwarp.mem.SoftFastRegion;
import org.rpcrdma4j.iwarp.queue.InboundRead;
import org.rpcrdma4j.iwarp.queue.SendQueue;
import org.rpcrdma4j.iwarp.queue.SendSlot;
import org.rpcrdma4j.iwarp.queue.Sges;
import org.rpcrdma4j.verbs.WorkCompletion.Operation;
import org.rpcrdma4j.verbs.WorkCompletion.Status;

/**
 * The sending direction of a stream: executes the send queue and answers the peer's Reads, cut into FPDUs.
 *
 * <p><b>Order.</b> One message at a time, whole, before any other begins (RFC 5041, Section 5.3, leaves room here; Linux does not accept
 * less). The sources are, in this order: what the set-up demands first (the RTR), then in turn a message of the send queue and a
 * Response. Registrations and invalidations are executed when their turn in the send queue comes; an invalidation first lets everything
 * before it be accepted by TCP.
 *
 * <p><b>Threads.</b> One thread at a time, the one that transmits; {@link #peerHasSent}, {@link #kick} and {@link #allow} may come from the
 * receiving one. No clock, no socket.
 */
public final class OutboundStream {
    /** RFC 6581, Section 9.2: a Write RTR of no length. STag 1, since some cards refuse 0 whatever the length. */
    private static final int NO_STAG = 1;

    private final StreamContext context;
    private final SendQueue sends;
    private final FpduBatch batch;
    private final SegmentWriter writer;
    private final int maxUlpdu;

    private boolean answersNext;
    private @Nullable SendSlot sending;
    private @Nullable InboundRead answering;
    private Opcode opcode = Opcode.SEND;
    private int messageMsn;
    private long sent;
    private int sendMsn = DdpHeader.FIRST_MSN;
    private int readMsn = DdpHeader.FIRST_MSN;

    private @Nullable Opcode rtr;
    private volatile boolean allowed;
    private volatile boolean kicks;

    /**
     * @param maxUlpdu largest ULPDU to send
     * @param crc whether FPDUs carry a CRC
     */
    public OutboundStream(StreamContext context, FpduBatch batch, int maxUlpdu, boolean crc) {
        this.context = context;
        this.sends = context.sends();
        this.batch = batch;
        this.maxUlpdu = maxUlpdu;
        this.writer = new SegmentWriter(context, batch, crc);
    }

    /**
     * Lets messages out. RFC 5044, Section 7.1.2: a responder waits for the initiator's first FPDU.
     *
     * @param first the RTR to send before everything else, WRITE or READ_REQUEST of no length; null for none
     */
    public void allow(@Nullable Opcode first) {
        rtr = first;
        allowed = true;
    }

    /** The peer's first FPDU has arrived. */
    public void peerHasSent() {
        allowed = true;
    }

    /** Asks for a Write of no length, which wakes a peer that overlooked what was sent before. It has no effect otherwise. */
    public void kick() {
        kicks = true;
    }

    /** The MSNs of the next Send and the next Read Request; tests start near the wrap. */
    void presetMsn(int nextSend, int nextRead) {
        sendMsn = nextSend;
        readMsn = nextRead;
    }

    /**
     * Refills the empty batch.
     *
     * @return false if there is nothing to send now
     * @throws StreamFault if the stream has to end. What was put into the batch before is to be sent first
     */
    public boolean fill() throws StreamFault {
        batch.reset();
        while (batch.hasRoom()) {
            if (sending == null && answering == null && !next()) {
                break;
            }
            if (sending != null) {
                sendSegment(sending);
            } else if (answering != null) {
                answerSegment(answering);
            }
        }
        return !batch.isEmpty();
    }

    /** Takes up the next message, or does what needs no message. False if there is nothing to do. */
    private boolean next() throws StreamFault {
        if (allowed && sendsFirst()) {
            return true;
        }
        SendSlot slot;
        InboundRead read;
        AccessFault fault = AccessFault.NONE;
        context.lock().lock();
        try {
            read = allowed ? context.inboundReads().oldest() : null;
            slot = answersNext && read != null ? null : executable();
            if (slot == null && read == null) {
                return false;
            }
            if (slot != null) {
                if (slot.operation() == Operation.RDMA_READ) {
                    // ORDER: the receiving side knows the sink before it knows the Read.
                    fault = fixSink(slot);
                }
                sends.started(slot);
            }
        } finally {
            context.lock().unlock();
        }
        if (slot != null) {
            answersNext = true;
            if (fault != AccessFault.NONE) {
                throw memoryFault(slot, fault);
            }
            execute(slot);
        } else {
            answersNext = false;
            answering = read;
            sent = 0;
        }
        return true;
    }

    /** What the set-up demands, and a kick; each is a whole message. */
    private boolean sendsFirst() {
        if (rtr != null) {
            sendRtr(rtr);
            rtr = null;
            return true;
        }
        if (kicks) {
            kicks = false;
            emptyWrite();
            return true;
        }
        return false;
    }

    private @Nullable SendSlot executable() {
        SendSlot slot = sends.executable();
        if (slot == null) {
            return null;
        }
        return switch (slot.operation()) {
            case REGISTER -> slot;
            // ORDER: an invalidation comes after all earlier messages were handed to TCP: their memory may be what it
            // closes.
            case LOCAL_INVALIDATE -> batch.isEmpty() ? slot : null;
            case SEND, RDMA_WRITE, RDMA_READ, RECEIVE -> allowed ? slot : null;
        };
    }

    private void execute(SendSlot slot) throws StreamFault {
        sent = 0;
        switch (slot.operation()) {
            case SEND -> {
                opcode = slot.invalidates()
                        ? (slot.isSolicited() ? Opcode.SEND_SOLICITED_INVALIDATE : Opcode.SEND_INVALIDATE)
                        : (slot.isSolicited() ? Opcode.SEND_SOLICITED : Opcode.SEND);
                // RFC 5041, Section 4.3: one MSN for each message of a queue, modulo 2^32.
                messageMsn = sendMsn++;
                sending = slot;
            }
            case RDMA_WRITE -> {
                opcode = Opcode.WRITE;
                sending = slot;
            }
            case RDMA_READ -> writer.readRequest(slot);
            case REGISTER -> register(slot);
            case LOCAL_INVALIDATE -> invalidate(slot);
            case RECEIVE -> throw new AssertionError("a Receive in the send queue");
        }
    }

    private void register(SendSlot slot) throws StreamFault {
        SoftFastRegion region = slot.region();
        assert region != null : "registration without region";
        String fault = region.open(slot.key(), slot.access(), context.domain(), slot.scope());
        finish(slot, fault);
    }

    private void invalidate(SendSlot slot) throws StreamFault {
        Region region = context.regions().find(slot.key());
        String fault = region instanceof SoftFastRegion fast
                ? fast.invalidate(slot.key(), context.domain())
                : "key 0x%08x is that of no fast region".formatted(slot.key());
        finish(slot, fault);
    }

    private void finish(SendSlot slot, @Nullable String fault) throws StreamFault {
        context.lock().lock();
        try {
            slot.forgetRegion();
            sends.finish(slot, fault == null ? Status.SUCCESS : Status.LOCAL_QP_OPERATION_ERROR);
        } finally {
            context.lock().unlock();
        }
        if (fault != null) {
            throw StreamFault.local(slot.operation() + ": " + fault);
        }
    }

    /** The fault of a request whose local memory cannot be used; it is reported so. */
    private StreamFault memoryFault(SendSlot slot, AccessFault fault) {
        context.lock().lock();
        try {
            sends.finish(slot, Status.LOCAL_PROTECTION_ERROR);
        } finally {
            context.lock().unlock();
        }
        return StreamFault.local(slot.operation() + ": local memory, " + fault);
    }

    private AccessFault fixSink(SendSlot slot) {
        Sges sink = slot.sges();
        Region region = sink.region(0);
        int stag = region.remoteKey();
        AccessFault fault = region.enterLocal(
                stag, AccessKind.LOCAL_WRITE, context.domain(), context.queuePair(), sink.offset(0), sink.length(0));
        if (fault == AccessFault.NONE) {
            slot.setSink(stag, region.remoteAddress() + sink.offset(0), readMsn++);
            region.leave();
        }
        return fault;
    }

    private void sendRtr(Opcode kind) {
        if (kind == Opcode.READ_REQUEST) {
            context.lock().lock();
            try {
                sends.rtrReadStarted();
            } finally {
                context.lock().unlock();
            }
            writer.emptyReadRequest(NO_STAG, readMsn++);
        } else {
            emptyWrite();
        }
    }

    private void emptyWrite() {
        writer.beginTagged(Opcode.WRITE, NO_STAG, 0);
        writer.end(this, 0, true);
    }

    private void sendSegment(SendSlot slot) throws StreamFault {
        boolean tagged = slot.operation() != Operation.SEND;
        if (tagged) {
            // RFC 5041, Section 5.2: TO is the message's first TO plus the offset.
            writer.beginTagged(opcode, slot.key(), slot.remoteAddress() + sent);
        } else {
            writer.beginUntagged(
                    opcode, slot.invalidates() ? slot.key() : 0, DdpHeader.SEND_QUEUE, messageMsn, (int) sent);
        }
        long left = slot.sges().totalBytes() - sent;
        int payload = payloadOf(left, tagged ? DdpHeader.TAGGED_BYTES : DdpHeader.UNTAGGED_BYTES);
        long offset = sent;
        AccessFault fault = writer.gather(slot.sges(), sent, payload);
        if (fault == AccessFault.NONE) {
            sent += writer.payloadBytes();
            fault = writer.end(slot, offset, sent == slot.sges().totalBytes());
        }
        if (fault != AccessFault.NONE) {
            writer.abandon();
            sending = null;
            throw memoryFault(slot, fault);
        }
        if (sent == slot.sges().totalBytes()) {
            sending = null;
        }
    }

    private int payloadOf(long left, int header) {
        if (left <= maxUlpdu - header) {
            return (int) left;
        }
        // Segments other than the last need no pad if their ULPDU is 2 modulo 4.
        return (maxUlpdu - 2 & ~3) + 2 - header;
    }

    private void answerSegment(InboundRead read) throws StreamFault {
        // RFC 5040, Section 4.4: sink STag and TO are the requester's, copied as they are.
        writer.beginTagged(Opcode.READ_RESPONSE, read.sinkStag(), read.sinkOffset() + sent);
        long offset = sent;
        AccessFault fault = gatherSource(read, payloadOf(read.size() - sent, DdpHeader.TAGGED_BYTES));
        if (fault == AccessFault.NONE) {
            sent += writer.payloadBytes();
            fault = writer.end(read, offset, sent == read.size());
        }
        if (fault != AccessFault.NONE) {
            writer.abandon();
            answering = null;
            throw ReadFault.of(read, offset, fault);
        }
        if (sent == read.size()) {
            answering = null;
            built();
        }
    }

    private AccessFault gatherSource(InboundRead read, int payload) {
        // RFC 5040, Section 5.2.1: a Read of no length is answered without a look at its source.
        if (read.size() == 0) {
            return AccessFault.NONE;
        }
        Region region = context.regions().find(read.sourceStag());
        if (region == null) {
            return AccessFault.INVALID_STAG;
        }
        AccessFault fault = enterSource(region, read);
        if (fault != AccessFault.NONE) {
            return fault;
        }
        try {
            return writer.gather(region, read.sourceStag(), region.offsetOf(read.sourceOffset() + sent), payload);
        } finally {
            region.leave();
        }
    }

    /** Checks what is left of the Response: at the first segment, all of it, so that no byte leaves if one is out of bounds. */
    private AccessFault enterSource(Region region, InboundRead read) {
        return region.enter(
                read.sourceStag(),
                AccessKind.REMOTE_READ,
                context.domain(),
                context.queuePair(),
                read.sourceOffset() + sent,
                read.size() - sent);
    }

    private void built() {
        context.lock().lock();
        try {
            context.inboundReads().built();
        } finally {
            context.lock().unlock();
        }
    }

    /** The fault when the memory behind an owner in the batch is gone: see {@link FpduBatch#reenter}. */
    public StreamFault lost(@Nullable Object owner, long offset) {
        if (owner instanceof InboundRead read) {
            return ReadFault.of(read, offset, AccessFault.INVALID_STAG);
        }
        if (owner instanceof SendSlot slot) {
            return memoryFault(slot, AccessFault.INVALID_STAG);
        }
        return StreamFault.local("memory gone");
    }

    /** An owner's message was accepted whole by TCP, which says nothing about the peer. */
    public void accepted(Object owner) {
        context.lock().lock();
        try {
            if (owner instanceof SendSlot slot) {
                // A Read, which is done when it is answered, owns no FPDU.
                sends.finish(slot, Status.SUCCESS);
            } else if (owner instanceof InboundRead) {
                context.inboundReads().accepted();
            }
        } finally {
            context.lock().unlock();
        }
    }
}
