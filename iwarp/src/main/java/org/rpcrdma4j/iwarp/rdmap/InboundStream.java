// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.ddp.DdpHeader;
import org.rpcrdma4j.iwarp.error.IwarpException;
import org.rpcrdma4j.iwarp.error.ProtocolViolation;
import org.rpcrdma4j.iwarp.error.TerminateError;
import org.rpcrdma4j.iwarp.mpa.FpduParser;
import org.rpcrdma4j.iwarp.queue.InboundRead;
import org.rpcrdma4j.iwarp.queue.SendSlot;

/**
 * The receiving direction of a stream: takes FPDUs from a staging buffer, checks each segment and places it.
 *
 * <p><b>Checks</b> come before anything is touched, in the order of RFC 5041, Section 7.1: version, queue, buffer, MSN, offset, length; a
 * violation ends the stream with the error that was found first, and nothing after it is looked at.
 *
 * <p><b>Placement.</b> A segment is placed when all of it is there and its CRC is good, by a copy from the staging buffer while the
 * region is held open. So a peer that stalls in the middle of a segment holds up no invalidation, and a damaged one changes nothing.
 *
 * <p><b>Messages.</b> One tagged and one untagged message may be open at a time; a segment of another one in between ends the stream.
 *
 * <p><b>Threads.</b> One, the connection's reader. No clock, no socket.
 */
public final class InboundStream {
    private final StreamContext context;
    private final FpduParser parser;
    private final TaggedPlacement tagged;
    private final ReceivePlacement receives;

    private int readRequestMsn = DdpHeader.FIRST_MSN;
    private boolean ended;
    private boolean wakesSender;
    private long fpdus;
    private long emptySegments;

    private int offenderAt;
    private int offenderLength;
    private boolean offenderIsTerminate;

    /**
     * @param crc whether FPDUs carry a CRC
     * @param awaitsRtrResponse whether a Response of no length to the RTR comes first
     */
    public InboundStream(StreamContext context, boolean crc, boolean awaitsRtrResponse) {
        this.context = context;
        this.parser = new FpduParser(crc);
        this.tagged = new TaggedPlacement(context, awaitsRtrResponse);
        this.receives = new ReceivePlacement(context);
    }

    /** FPDUs taken so far. */
    public long fpdus() {
        return fpdus;
    }

    /** How many segments carried no payload since this was asked last. */
    public long takeEmptySegments() {
        long empty = emptySegments;
        emptySegments = 0;
        return empty;
    }

    /** Whether a message has begun and not ended. */
    public boolean isInsideMessage() {
        return tagged.isOpen() || receives.isOpen();
    }

    /** Whether the sending side may have work since this was asked last: a Request to answer, or a Read that was waited for. */
    public boolean takeWakesSender() {
        boolean wakes = wakesSender;
        wakesSender = false;
        return wakes;
    }

    void presetMsn(int nextSend, int nextReadRequest) {
        receives.presetMsn(nextSend);
        readRequestMsn = nextReadRequest;
    }

    /**
     * Takes every whole FPDU between position and limit; the position ends at the first incomplete one.
     *
     * @param staging big-endian
     * @param memory the same memory from index 0 on
     * @throws IwarpException if the peer broke a rule: {@link #terminateFor} makes the answer
     * @throws RemoteTerminate if the peer ended the stream
     */
    public void receive(ByteBuffer staging, MemorySegment memory) throws IwarpException, RemoteTerminate {
        // RFC 5041, Section 7.1: after the first error later segments are dropped silently.
        if (ended) {
            staging.position(staging.limit());
            return;
        }
        boolean good = false;
        try {
            while (true) {
                offenderLength = 0;
                offenderIsTerminate = false;
                int length = parser.next(staging);
                if (length < 0) {
                    break;
                }
                fpdus++;
                offenderAt = parser.ulpduOffset();
                offenderLength = length;
                segment(staging, memory, offenderAt, length);
            }
            good = true;
        } finally {
            ended = !good;
        }
    }

    /** The Terminate for a violation that {@link #receive} has just thrown; the staging buffer is as it was. */
    public TerminateMessage terminateFor(IwarpException violation, ByteBuffer staging) {
        return TerminateMessage.of(violation.terminateError(), staging, offenderAt, offenderLength);
    }

    private void segment(ByteBuffer staging, MemorySegment memory, int at, int length)
            throws ProtocolViolation, RemoteTerminate {
        Opcode opcode = SegmentCheck.check(staging, at, length);
        if (opcode == Opcode.TERMINATE) {
            offenderIsTerminate = true;
            terminate(staging, at, length);
        } else if (opcode == Opcode.READ_REQUEST) {
            readRequest(staging, at);
        } else {
            int payload = length - (opcode.isTagged() ? DdpHeader.TAGGED_BYTES : DdpHeader.UNTAGGED_BYTES);
            if (payload == 0) {
                emptySegments++;
            }
            if (!opcode.isTagged()) {
                receives.segment(opcode, staging, memory, at, payload);
            } else if (tagged.segment(opcode, staging, memory, at, payload)) {
                wakesSender = true;
            }
        }
    }

    static ProtocolViolation unexpected(String found) {
        return new ProtocolViolation(TerminateError.RDMAP_UNEXPECTED_OPCODE, "unexpected: " + found);
    }

    /** Checks MSN and offset of a message that is one segment. */
    private static void requireSingle(ByteBuffer staging, int at, int expectedMsn) throws ProtocolViolation {
        if (DdpHeader.msn(staging, at) != expectedMsn) {
            throw wrongMsn(expectedMsn, DdpHeader.msn(staging, at));
        }
        if (DdpHeader.messageOffset(staging, at) != 0) {
            throw new ProtocolViolation(
                    TerminateError.DDP_UNTAGGED_INVALID_MO,
                    "expected MO 0, found " + Integer.toUnsignedString(DdpHeader.messageOffset(staging, at)));
        }
    }

    static ProtocolViolation wrongMsn(int expected, int found) {
        return new ProtocolViolation(
                TerminateError.DDP_UNTAGGED_MSN_RANGE,
                "expected MSN " + Integer.toUnsignedString(expected) + ", found " + Integer.toUnsignedString(found));
    }

    private void terminate(ByteBuffer staging, int at, int length) throws ProtocolViolation, RemoteTerminate {
        requireSingle(staging, at, DdpHeader.FIRST_MSN);
        throw new RemoteTerminate(TerminateMessage.decode(staging, at, length));
    }

    /** Whether what {@link #receive} has just thrown came from a Terminate in its queue: then there is no answer. */
    public boolean offenderIsTerminate() {
        return offenderIsTerminate;
    }

    private void readRequest(ByteBuffer staging, int at) throws ProtocolViolation {
        if (receives.isOpen()) {
            throw unexpected("Read Request inside an unfinished Send");
        }
        context.lock().lock();
        try {
            InboundRead slot = context.inboundReads().free();
            if (slot == null) {
                throw new ProtocolViolation(
                        TerminateError.DDP_UNTAGGED_NO_BUFFER, "expected no more Reads than agreed, found one more");
            }
            requireSingle(staging, at, readRequestMsn);
            fill(slot, staging, at);
            context.inboundReads().arrived();
        } finally {
            context.lock().unlock();
        }
        readRequestMsn++;
        wakesSender = true;
    }

    private static void fill(InboundRead slot, ByteBuffer staging, int at) {
        int header = at + DdpHeader.UNTAGGED_BYTES;
        slot.set(
                DdpHeader.msn(staging, at),
                ReadRequestHeader.sinkStag(staging, header),
                ReadRequestHeader.sinkOffset(staging, header),
                ReadRequestHeader.size(staging, header),
                ReadRequestHeader.sourceStag(staging, header),
                ReadRequestHeader.sourceOffset(staging, header));
        slot.keepHeader(staging.getShort(at), DdpHeader.invalidateStag(staging, at));
    }

    /** Whether a peer's Terminate names this Read of ours: by its sink STag, which stays the same when it was served in part, and MSN. */
    public static boolean names(TerminateMessage message, SendSlot read) {
        byte @Nullable [] request = message.readRequestHeader();
        if (request == null || ReadRequestHeader.sinkStag(ByteBuffer.wrap(request), 0) != read.sinkStag()) {
            return false;
        }
        byte @Nullable [] header = message.ddpHeader();
        return header == null
                || header.length < DdpHeader.UNTAGGED_BYTES
                || DdpHeader.msn(ByteBuffer.wrap(header), 0) == read.requestMsn();
    }
}
