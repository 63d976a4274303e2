// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.ddp.DdpHeader;
import org.rpcrdma4j.iwarp.error.TerminateError;
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
        if (!allowed) {
            return false;
        }
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
        SendSlot slot;
        InboundRead read;
        context.lock().lock();
        try {
            read = context.inboundReads().oldest();
            slot = answersNext && read != null ? null : sends.executable();
            if (slot == null && read == null) {
                return false;
            }
            if (slot != null) {
                // ORDER: an invalidation comes after all earlier messages were handed to TCP: their memory may be what
                // it closes.
                if (slot.operation() == Operation.LOCAL_INVALIDATE && !batch.isEmpty()) {
                    return false;
                }
                sends.started(slot);
            }
        } finally {
            context.lock().unlock();
        }
        if (slot != null) {
            answersNext = true;
            execute(slot);
        } else {
            answersNext = false;
            answering = read;
            sent = 0;
        }
        return true;
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
            case RDMA_READ -> requestRead(slot);
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
            throw localFault(slot.operation() + ": " + fault);
        }
    }

    private void fail(SendSlot slot, AccessFault fault) throws StreamFault {
        context.lock().lock();
        try {
            sends.finish(slot, Status.LOCAL_PROTECTION_ERROR);
        } finally {
            context.lock().unlock();
        }
        throw localFault(slot.operation() + ": local memory, " + fault);
    }

    private static StreamFault localFault(String what) {
        // RFC 5040, Section 7.1: an error of our own is reported without headers.
        return new StreamFault(TerminateMessage.of(TerminateError.RDMAP_LOCAL_CATASTROPHIC), what);
    }

    private void requestRead(SendSlot slot) throws StreamFault {
        Sges sink = slot.sges();
        Region region = sink.region(0);
        int stag = region.remoteKey();
        AccessFault fault = region.enterLocal(
                stag, AccessKind.LOCAL_WRITE, context.domain(), context.queuePair(), sink.offset(0), sink.length(0));
        if (fault != AccessFault.NONE) {
            fail(slot, fault);
        }
        // ORDER: the receiving side knows the sink before the Request can reach the peer.
        slot.setSink(stag, region.remoteAddress() + sink.offset(0));
        region.leave();
        writer.readRequest(slot, readMsn++);
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
        AccessFault fault = writer.gather(slot.sges(), sent, payload);
        if (fault != AccessFault.NONE) {
            writer.abandon();
            sending = null;
            fail(slot, fault);
        }
        long offset = sent;
        sent += writer.payloadBytes();
        boolean last = sent == slot.sges().totalBytes();
        writer.end(slot, offset, last);
        if (last) {
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
        // RFC 5040, Section 5.2.1: a Read of no length is answered without a look at its source.
        Region region = null;
        if (read.size() > 0) {
            region = context.regions().find(read.sourceStag());
            AccessFault fault = region == null ? AccessFault.INVALID_STAG : enterSource(region, read);
            if (region == null || fault != AccessFault.NONE) {
                answering = null;
                throw readFault(read, sent, fault);
            }
        }
        // RFC 5040, Section 4.4: sink STag and TO are the requester's, copied as they are.
        writer.beginTagged(Opcode.READ_RESPONSE, read.sinkStag(), read.sinkOffset() + sent);
        long left = read.size() - sent;
        int payload = payloadOf(left, DdpHeader.TAGGED_BYTES);
        if (region != null) {
            try {
                writer.gather(region, read.sourceStag(), region.offsetOf(read.sourceOffset() + sent), payload);
            } finally {
                region.leave();
            }
        }
        long offset = sent;
        sent += writer.payloadBytes();
        boolean last = sent == read.size();
        if (last) {
            answering = null;
            built();
        }
        writer.end(read, offset, last);
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
            return readFault(read, offset, AccessFault.INVALID_STAG);
        }
        if (owner instanceof SendSlot slot) {
            context.lock().lock();
            try {
                sends.finish(slot, Status.LOCAL_PROTECTION_ERROR);
            } finally {
                context.lock().unlock();
            }
            return localFault(slot.operation() + ": local memory, " + AccessFault.INVALID_STAG);
        }
        return localFault("memory gone");
    }

    private StreamFault readFault(InboundRead read, long served, AccessFault fault) {
        TerminateError error = switch (fault) {
            case INVALID_STAG -> TerminateError.RDMAP_INVALID_STAG;
            case OTHER_STREAM -> TerminateError.RDMAP_STAG_OF_OTHER_STREAM;
            case NO_RIGHT -> TerminateError.RDMAP_ACCESS_RIGHTS;
            case WRAP -> TerminateError.RDMAP_TO_WRAP;
            case OUT_OF_BOUNDS, NONE -> TerminateError.RDMAP_BASE_OR_BOUNDS;
        };
        return new StreamFault(
                SegmentWriter.terminateFor(error, read, served),
                "expected a readable source for %d bytes at STag 0x%08x TO 0x%016x, found %s"
                        .formatted(read.size() - served, read.sourceStag(), read.sourceOffset() + served, fault));
    }

    /** An owner's message was accepted whole by TCP. */
    public void accepted(Object owner) {
        context.lock().lock();
        try {
            if (owner instanceof SendSlot slot) {
                // Done when TCP has it: that says nothing about the peer. A Read, which is done when it is answered,
                // owns no FPDU.
                sends.finish(slot, Status.SUCCESS);
            } else if (owner instanceof InboundRead) {
                context.inboundReads().accepted();
            }
        } finally {
            context.lock().unlock();
        }
    }
}
