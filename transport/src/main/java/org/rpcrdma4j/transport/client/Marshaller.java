// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.client.FormChooser.ArgumentForm;
import org.rpcrdma4j.transport.client.TransportException.Kind;
import org.rpcrdma4j.transport.event.ChunkForm;
import org.rpcrdma4j.transport.event.ChunkList;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.event.ClientEvents;
import org.rpcrdma4j.transport.event.ConnectionLabel;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.frwr.MapResult;
import org.rpcrdma4j.transport.frwr.PeerAccess;
import org.rpcrdma4j.transport.frwr.RegionList;
import org.rpcrdma4j.transport.frwr.Registrar;
import org.rpcrdma4j.transport.frwr.WritePad;
import org.rpcrdma4j.transport.wire.HeaderEncoder;
import org.rpcrdma4j.transport.wire.Procedure;
import org.rpcrdma4j.transport.wire.Segments;
import org.rpcrdma4j.transport.wire.TransportHeader;

/**
 * Builds the message of a call in a slot's send buffer: chooses its form, maps its memory, writes header and inline bytes. Posts nothing
 * and opens nothing; if it fails, the slot is as it was. One for each connection, used inside the monitor.
 */
final class Marshaller {

    /** What became of a call. */
    enum Outcome {
        /** The message is built, its regions are mapped. */
        BUILT,
        /** No region is free; the slot's list waits and is woken. */
        NO_REGIONS,
        /** The connection is ending. */
        ENDING,
        /** The call cannot be sent: see {@link #failureKind}. */
        UNSENDABLE,
        /** Not told to others: pieces need more regions than a call may have, so bounce buffers must do. */
        TOO_MANY_SEGMENTS
    }

    private static final int PAD_BYTES = 4;

    private final ConnectionLabel label;
    private final ClientOptions options;
    private final Registrar registrar;
    private final FormChooser chooser;
    private final Counters<ClientCounter> counters;
    private final @Nullable WritePad pad;
    private Kind failureKind = Kind.REGISTRATION_FAILED;
    private String failureDetail = "";
    private int headerBytes;
    private int messageBytes;
    private int chunkSegments;
    private ArgumentForm form = ArgumentForm.INLINE;
    private boolean isLongForced;

    Marshaller(
            ClientOptions options,
            Registrar registrar,
            FormChooser chooser,
            Counters<ClientCounter> counters,
            ConnectionLabel label,
            @Nullable WritePad pad) {
        this.label = label;
        this.pad = pad;
        this.options = options;
        this.registrar = registrar;
        this.chooser = chooser;
        this.counters = counters;
    }

    /** Builds the message. */
    Outcome marshal(ClientCall call, RequestSlot slot, int credits) {
        if (isTooLong(call.message())) {
            return failed(Outcome.UNSENDABLE);
        }
        Outcome outcome = buildGuarded(call, slot, credits);
        if (outcome == Outcome.TOO_MANY_SEGMENTS) {
            fail(Kind.MESSAGE_TOO_LONG, "its memory takes more than " + options.maxSegments() + " segments");
            return failed(Outcome.UNSENDABLE);
        }
        if (outcome != Outcome.BUILT) {
            return failed(outcome);
        }
        count(call);
        report(call);
        return outcome;
    }

    private Outcome failed(Outcome outcome) {
        counters.increment(ClientCounter.FAILED_MARSHALS);
        return outcome;
    }

    private boolean isTooLong(CallMessage message) {
        long most = options.maxPayloadBytes();
        long reply = FormChooser.replyCapacity(message.maxReplyBytes());
        if (message.itemBytes() <= most
                && message.targetBytes() <= most
                && reply <= most
                && FormChooser.reducedBytes(message) <= most) {
            return false;
        }
        fail(Kind.MESSAGE_TOO_LONG, message + ": nothing may be longer than " + most);
        return true;
    }

    private void fail(Kind kind, String detail) {
        failureKind = kind;
        failureDetail = detail;
    }

    /** The caller's memory may have been closed, or belong to one thread: that is told to it, not to the thread that is in here. */
    private Outcome buildGuarded(ClientCall call, RequestSlot slot, int credits) {
        try {
            isLongForced = false;
            Outcome outcome = build(call, slot, credits, false);
            return outcome == Outcome.TOO_MANY_SEGMENTS ? build(call, slot, credits, true) : outcome;
        } catch (IllegalStateException
                | IllegalArgumentException
                | WrongThreadException
                | IndexOutOfBoundsException
                | OutOfMemoryError e) {
            registrar.unmap(slot.regions());
            fail(Kind.REGISTRATION_FAILED, "its memory cannot be used: " + e.getMessage());
            return Outcome.UNSENDABLE;
        }
    }

    private Outcome build(ClientCall call, RequestSlot slot, int credits, boolean inOnePiece) {
        TransportHeader header = call.offered();
        header.clear();
        header.xid(call.xid());
        header.credits(credits);
        Outcome outcome = offerTarget(call, slot, inOnePiece);
        if (outcome == Outcome.BUILT) {
            outcome = offerReplyChunk(call, slot);
        }
        if (outcome == Outcome.BUILT) {
            outcome = buildArguments(call, slot, inOnePiece);
        }
        return outcome;
    }

    private Outcome offerTarget(ClientCall call, RequestSlot slot, boolean inOnePiece) {
        CallMessage message = call.message();
        List<MemorySegment> target = message.target();
        if (target == null) {
            return Outcome.BUILT;
        }
        List<MemorySegment> pieces = inOnePiece && !call.memory().hasTargetBounce()
                ? List.of(call.memory().bounceTarget(message))
                : call.memory().target(message, target);
        Outcome outcome = map(pieces, PeerAccess.WRITE, call, slot);
        if (outcome == Outcome.BUILT) {
            // RFC 8166, Section 3.4.6: room for the largest item; Section 3.4.6.2: none for its pad.
            TransportHeader header = call.offered();
            header.writeList().beginChunk();
            RegionList regions = slot.regions();
            for (int i = 0; i < chunkSegments; i++) {
                header.writeList().addSegment(regions.handle(i), regions.length(i), regions.offset(i));
            }
            offerPad(call);
        }
        return outcome;
    }

    private void offerPad(ClientCall call) {
        WritePad place = pad;
        boolean isNeeded = place != null && call.message().targetBytes() % PAD_BYTES != 0;
        call.offersPad(isNeeded);
        if (place != null && isNeeded) {
            call.offered().writeList().addSegment(place.handle(), PAD_BYTES, place.offset());
        }
    }

    private Outcome offerReplyChunk(ClientCall call, RequestSlot slot) {
        CallMessage message = call.message();
        TransportHeader header = call.offered();
        if (!chooser.needsReplyChunk(
                message.maxReplyBytes(), header.writeList().segments().size())) {
            return Outcome.BUILT;
        }
        RegionList regions = slot.regions();
        int first = regions.size();
        MemorySegment memory = call.memory().reply(message, FormChooser.replyCapacity(message.maxReplyBytes()));
        Outcome outcome = map(List.of(memory), PeerAccess.WRITE, call, slot);
        if (outcome == Outcome.BUILT) {
            header.replyChunkPresent(true);
            for (int i = first; i < first + chunkSegments; i++) {
                header.replyChunk().add(regions.handle(i), regions.length(i), regions.offset(i));
            }
        }
        return outcome;
    }

    private Outcome buildArguments(ClientCall call, RequestSlot slot, boolean inOnePiece) {
        CallMessage message = call.message();
        TransportHeader header = call.offered();
        int writeSegments = header.writeList().segments().size();
        int replySegments = header.replyChunk().size();
        form = isLongForced ? ArgumentForm.LONG_CALL : chooser.argumentForm(message, writeSegments, replySegments);
        Outcome outcome = Outcome.BUILT;
        if (form == ArgumentForm.READ_CHUNK) {
            List<MemorySegment> pieces = inOnePiece && !call.memory().hasItemBounce()
                    ? List.of(call.memory().bounceItem(message))
                    : call.memory().item(message);
            outcome = map(pieces, PeerAccess.READ, call, slot);
            if (outcome == Outcome.BUILT
                    && !chooser.fits(chunkSegments, writeSegments, replySegments, FormChooser.reducedBytes(message))) {
                registrar.unmap(slot.regions());
                isLongForced = true;
                return Outcome.TOO_MANY_SEGMENTS;
            }
        } else if (form == ArgumentForm.LONG_CALL) {
            outcome = map(List.of(call.memory().longCall(message)), PeerAccess.READ, call, slot);
        }
        return outcome == Outcome.BUILT ? write(call, slot, writeSegments, replySegments) : outcome;
    }

    private Outcome write(ClientCall call, RequestSlot slot, int writeSegments, int replySegments) {
        CallMessage message = call.message();
        TransportHeader header = call.offered();
        if (form != ArgumentForm.INLINE) {
            // RFC 8166, Section 3.4.5: the position counts in the unreduced stream.
            int position =
                    form == ArgumentForm.LONG_CALL ? 0 : (int) message.head().byteSize();
            RegionList regions = slot.regions();
            for (int i = regions.size() - chunkSegments; i < regions.size(); i++) {
                header.readList().add(position, regions.handle(i), regions.length(i), regions.offset(i));
            }
        }
        if (form == ArgumentForm.LONG_CALL) {
            if (!chooser.fits(header.readList().size(), writeSegments, replySegments, 0)) {
                registrar.unmap(slot.regions());
                return Outcome.TOO_MANY_SEGMENTS;
            }
            header.procedure(Procedure.RDMA_NOMSG);
        }
        headerBytes = HeaderEncoder.encode(header, slot.buffer(), 0);
        messageBytes = (int) writePayload(message, slot.buffer());
        return Outcome.BUILT;
    }

    private long writePayload(CallMessage message, MemorySegment buffer) {
        MemorySegment head = message.head();
        MemorySegment tail = message.tail();
        return switch (form) {
            case INLINE -> CallMemory.copyWhole(message, buffer, headerBytes);
            case READ_CHUNK -> {
                MemorySegment.copy(head, 0, buffer, headerBytes, head.byteSize());
                MemorySegment.copy(tail, 0, buffer, headerBytes + head.byteSize(), tail.byteSize());
                yield headerBytes + head.byteSize() + tail.byteSize();
            }
            case LONG_CALL -> headerBytes;
        };
    }

    private Outcome map(List<MemorySegment> pieces, PeerAccess access, ClientCall call, RequestSlot slot) {
        return switch (registrar.map(pieces, access, call.xid(), slot.regions())) {
            case MapResult.Mapped mapped -> {
                chunkSegments = mapped.regions();
                if (chunkSegments > options.maxSegments()) {
                    registrar.unmap(slot.regions());
                    yield Outcome.TOO_MANY_SEGMENTS;
                }
                yield Outcome.BUILT;
            }
            case MapResult.NoRegions none -> Outcome.NO_REGIONS;
            case MapResult.Ending ending -> Outcome.ENDING;
            case MapResult.TooManySegments tooMany -> Outcome.TOO_MANY_SEGMENTS;
            case MapResult.Failed failure -> {
                fail(Kind.REGISTRATION_FAILED, failure.reason());
                yield Outcome.UNSENDABLE;
            }
        };
    }

    private void count(ClientCall call) {
        TransportHeader header = call.offered();
        CallMessage message = call.message();
        counters.add(ClientCounter.READ_CHUNKS, header.readList().size());
        counters.add(ClientCounter.WRITE_CHUNKS, header.writeList().segments().size());
        counters.add(ClientCounter.REPLY_CHUNKS, header.replyChunk().size());
        counters.add(
                ClientCounter.TOTAL_RDMA_REQUEST,
                header.writeList().segments().totalLength()
                        + header.replyChunk().totalLength());
        if (form == ArgumentForm.LONG_CALL) {
            counters.increment(ClientCounter.NOMSG_CALLS);
        }
        long copied = form == ArgumentForm.INLINE
                ? message.totalBytes() - message.head().byteSize()
                : 0;
        counters.add(ClientCounter.PULLUP_COPIES, copied + call.memory().takeCopiedBytes());
    }

    private void report(ClientCall call) {
        TransportHeader header = call.offered();
        CallMessage message = call.message();
        ChunkForm callForm = switch (form) {
            case INLINE -> ChunkForm.INLINE_COPIED;
            case READ_CHUNK -> ChunkForm.READ_CHUNK;
            case LONG_CALL -> ChunkForm.POSITION_ZERO_READ_CHUNK;
        };
        ChunkForm replyForm = header.writeList().isEmpty() ? ChunkForm.INLINE : ChunkForm.WRITE_CHUNK;
        ClientEvents.marshal(
                label,
                call.xid(),
                headerBytes,
                message.head().byteSize(),
                message.itemBytes(),
                message.tail().byteSize(),
                callForm,
                header.hasReplyChunk() ? ChunkForm.REPLY_CHUNK : replyForm);
        for (int i = 0; i < header.readList().size(); i++) {
            reportSegment(
                    call,
                    ChunkList.READ,
                    header.readList().position(i),
                    header.readList().segments(),
                    i);
        }
        for (int i = 0; i < header.writeList().segments().size(); i++) {
            reportSegment(call, ChunkList.WRITE, 0, header.writeList().segments(), i);
        }
        for (int i = 0; i < header.replyChunk().size(); i++) {
            reportSegment(call, ChunkList.REPLY, 0, header.replyChunk(), i);
        }
    }

    private void reportSegment(ClientCall call, ChunkList list, int position, Segments segments, int i) {
        ClientEvents.chunkOffered(
                label,
                call.xid(),
                list,
                position,
                segments.handle(i),
                segments.length(i),
                segments.offset(i),
                segments.size() - i - 1);
    }

    /** Length of the message built last. */
    int messageBytes() {
        return messageBytes;
    }

    /** Why a call is UNSENDABLE. */
    Kind failureKind() {
        return failureKind;
    }

    /** Why a call is UNSENDABLE, in words. */
    String failureDetail() {
        return failureDetail;
    }
}
