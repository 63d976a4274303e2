// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.ddp.DdpHeader;
import org.rpcrdma4j.iwarp.error.ProtocolViolation;
import org.rpcrdma4j.iwarp.error.TerminateError;
import org.rpcrdma4j.iwarp.mem.AccessFault;
import org.rpcrdma4j.iwarp.mem.AccessKind;
import org.rpcrdma4j.iwarp.mem.Region;
import org.rpcrdma4j.iwarp.queue.SendSlot;
import org.rpcrdma4j.verbs.WorkCompletion.Status;

/**
 * Places RDMA Writes and Read Responses.
 *
 * <p>RFC 5040, Section 5.2.2, leaves it open whether a Response is compared with its Request; here it always is, else a peer could write
 * wherever it has any right. A Response must carry exactly the sink of the oldest open Read, in order, whole. A Write of several
 * segments must go on where it stopped, under the same STag.
 *
 * <p>RFC 5041, Section 5.2: STag and TO of a segment without payload are not looked at.
 *
 * <p>Belongs to the connection's reader.
 */
final class TaggedPlacement {
    private final StreamContext context;
    private boolean awaitsRtrResponse;

    private @Nullable Opcode open;
    private int openStag;
    private long openOffset;

    TaggedPlacement(StreamContext context, boolean awaitsRtrResponse) {
        this.context = context;
        this.awaitsRtrResponse = awaitsRtrResponse;
    }

    boolean isOpen() {
        return open != null;
    }

    /**
     * Checks and places a segment.
     *
     * @return whether a Read was completed by it, the RTR included
     */
    boolean segment(Opcode opcode, ByteBuffer staging, MemorySegment memory, int at, int payload)
            throws ProtocolViolation {
        // RFC 5041, Section 4.2: what is ULP's in the header is equal in all segments of a message.
        if (open != null && open != opcode) {
            throw InboundStream.unexpected(opcode + " inside an unfinished " + open);
        }
        int stag = DdpHeader.taggedStag(staging, at);
        long to = DdpHeader.taggedOffset(staging, at);
        boolean last = DdpHeader.isLast(staging, at);
        boolean readDone = false;
        if (opcode == Opcode.WRITE) {
            if (payload > 0) {
                requireContinuation(stag, to);
                place(AccessKind.REMOTE_WRITE, stag, to, memory, at + DdpHeader.TAGGED_BYTES, payload);
            }
        } else {
            readDone = response(stag, to, memory, at, payload, last);
        }
        if (last) {
            open = null;
        } else if (payload > 0) {
            open = opcode;
            openStag = stag;
            openOffset = to + payload;
        }
        return readDone;
    }

    private void requireContinuation(int stag, long to) throws ProtocolViolation {
        if (open == null) {
            return;
        }
        if (stag != openStag) {
            throw new ProtocolViolation(
                    TerminateError.DDP_TAGGED_INVALID_STAG,
                    "expected STag 0x%08x in all of a message, found 0x%08x".formatted(openStag, stag));
        }
        if (to != openOffset) {
            throw new ProtocolViolation(
                    TerminateError.DDP_TAGGED_BASE_OR_BOUNDS,
                    "expected TO 0x%016x, found 0x%016x".formatted(openOffset, to));
        }
    }

    private boolean response(int stag, long to, MemorySegment memory, int at, int payload, boolean last)
            throws ProtocolViolation {
        SendSlot read;
        context.lock().lock();
        try {
            read = context.sends().oldestRead();
            if (awaitsRtrResponse) {
                context.sends().rtrReadAnswered();
            }
        } finally {
            context.lock().unlock();
        }
        if (awaitsRtrResponse) {
            awaitsRtrResponse = false;
            if (payload == 0 && last) {
                return true;
            }
        }
        if (read == null) {
            throw InboundStream.unexpected("Read Response without an open Read");
        }
        long total = read.sges().totalBytes();
        long left = total - read.received();
        // ORDER: the sink is compared first, so that a wrong Response touches nothing.
        if (payload > 0 && stag != read.sinkStag()) {
            throw failed(
                    read,
                    TerminateError.DDP_TAGGED_INVALID_STAG,
                    Status.LOCAL_PROTECTION_ERROR,
                    "expected sink STag 0x%08x, found 0x%08x".formatted(read.sinkStag(), stag));
        }
        if (payload > 0 && to != read.sinkOffset() + read.received()) {
            throw failed(
                    read,
                    TerminateError.DDP_TAGGED_BASE_OR_BOUNDS,
                    Status.LOCAL_LENGTH_ERROR,
                    "expected sink TO 0x%016x, found 0x%016x".formatted(read.sinkOffset() + read.received(), to));
        }
        if (payload > left || (last && payload < left)) {
            throw failed(
                    read,
                    TerminateError.DDP_TAGGED_BASE_OR_BOUNDS,
                    Status.LOCAL_LENGTH_ERROR,
                    "expected " + left + " bytes more of " + total + ", found " + payload + (last ? ", the last" : ""));
        }
        if (payload > 0) {
            try {
                place(AccessKind.LOCAL_WRITE, stag, to, memory, at + DdpHeader.TAGGED_BYTES, payload);
            } catch (ProtocolViolation e) {
                throw failed(read, e.terminateError(), Status.LOCAL_PROTECTION_ERROR, String.valueOf(e.getMessage()));
            }
            read.addReceived(payload);
        }
        if (last) {
            context.lock().lock();
            try {
                context.sends().readAnswered(read);
            } finally {
                context.lock().unlock();
            }
        }
        return last;
    }

    private ProtocolViolation failed(SendSlot read, TerminateError error, Status status, String message) {
        context.lock().lock();
        try {
            context.sends().finish(read, status);
        } finally {
            context.lock().unlock();
        }
        return new ProtocolViolation(error, message);
    }

    private void place(AccessKind kind, int stag, long to, MemorySegment memory, int from, int payload)
            throws ProtocolViolation {
        Region region = context.regions().find(stag);
        AccessFault fault = region == null
                ? AccessFault.INVALID_STAG
                : region.enter(stag, kind, context.domain(), context.queuePair(), to, payload);
        if (region == null || fault != AccessFault.NONE) {
            throw new ProtocolViolation(
                    errorOf(fault),
                    "expected a writable target for %d bytes at STag 0x%08x TO 0x%016x, found %s"
                            .formatted(payload, stag, to, fault));
        }
        try {
            region.write(region.offsetOf(to), memory, from, payload);
        } catch (IllegalStateException | InternalError e) {
            throw new ProtocolViolation(TerminateError.DDP_LOCAL_CATASTROPHIC, "registered memory is gone: " + e);
        } finally {
            region.leave();
        }
    }

    private static TerminateError errorOf(AccessFault fault) {
        return switch (fault) {
            // RFC 5041, Section 7.2, has no number for a missing right.
            case INVALID_STAG, NO_RIGHT, MEMORY_GONE, NONE -> TerminateError.DDP_TAGGED_INVALID_STAG;
            case OTHER_STREAM -> TerminateError.DDP_TAGGED_STAG_OF_OTHER_STREAM;
            case WRAP -> TerminateError.DDP_TAGGED_TO_WRAP;
            case OUT_OF_BOUNDS -> TerminateError.DDP_TAGGED_BASE_OR_BOUNDS;
        };
    }
}
