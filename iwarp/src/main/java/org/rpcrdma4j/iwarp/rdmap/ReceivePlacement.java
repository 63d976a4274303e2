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
import org.rpcrdma4j.iwarp.mem.SoftFastRegion;
import org.rpcrdma4j.iwarp.queue.ReceiveQueue;
import org.rpcrdma4j.iwarp.queue.ReceiveSlot;
import org.rpcrdma4j.iwarp.queue.Sges;
import org.rpcrdma4j.verbs.WorkCompletion.Status;

/** Places Sends into the posted Receives, in order, and delivers them. Belongs to the connection's reader. */
final class ReceivePlacement {
    private final StreamContext context;
    private final ReceiveQueue queue;
    private int msn = DdpHeader.FIRST_MSN;
    private @Nullable Opcode open;
    private int received;
    private int invalidateStag;

    ReceivePlacement(StreamContext context) {
        this.context = context;
        this.queue = context.receives();
    }

    boolean isOpen() {
        return open != null;
    }

    void presetMsn(int next) {
        msn = next;
    }

    void segment(Opcode opcode, ByteBuffer staging, MemorySegment memory, int at, int payload)
            throws ProtocolViolation {
        if (open != null && open != opcode) {
            throw InboundStream.unexpected(opcode + " inside an unfinished " + open);
        }
        ReceiveSlot slot = oldest();
        check(slot, staging, at, payload);
        if (open == null) {
            // RFC 5041, Section 4.3: any segment's value may be taken for the message; here the first one's.
            invalidateStag = DdpHeader.invalidateStag(staging, at);
            open = opcode;
        }
        scatter(slot.sges(), memory, at + DdpHeader.UNTAGGED_BYTES, payload);
        received += payload;
        if (DdpHeader.isLast(staging, at)) {
            deliver(opcode);
            open = null;
            received = 0;
            msn++;
        }
    }

    private ReceiveSlot oldest() throws ProtocolViolation {
        context.lock().lock();
        try {
            ReceiveSlot slot = queue.oldest();
            if (slot == null) {
                throw new ProtocolViolation(TerminateError.DDP_UNTAGGED_NO_BUFFER, "no Receive is posted for a Send");
            }
            return slot;
        } finally {
            context.lock().unlock();
        }
    }

    private void check(ReceiveSlot slot, ByteBuffer staging, int at, int payload) throws ProtocolViolation {
        if (DdpHeader.msn(staging, at) != msn) {
            throw InboundStream.wrongMsn(msn, DdpHeader.msn(staging, at));
        }
        int offset = DdpHeader.messageOffset(staging, at);
        if (offset != received) {
            throw new ProtocolViolation(
                    TerminateError.DDP_UNTAGGED_INVALID_MO,
                    "expected MO " + Integer.toUnsignedString(received) + ", found "
                            + Integer.toUnsignedString(offset));
        }
        long end = Integer.toUnsignedLong(received) + payload;
        if (end > slot.sges().totalBytes()) {
            throw failed(
                    Status.LOCAL_LENGTH_ERROR,
                    TerminateError.DDP_UNTAGGED_TOO_LONG,
                    "expected at most " + slot.sges().totalBytes() + " bytes, found " + end);
        }
    }

    private ProtocolViolation failed(Status status, TerminateError error, String message) {
        context.lock().lock();
        try {
            queue.failOldest(status);
        } finally {
            context.lock().unlock();
        }
        return new ProtocolViolation(error, message);
    }

    private void scatter(Sges list, MemorySegment memory, int from, int payload) throws ProtocolViolation {
        long skip = Integer.toUnsignedLong(received);
        int done = 0;
        for (int i = 0; done < payload; i++) {
            long length = list.length(i);
            if (skip >= length) {
                skip -= length;
                continue;
            }
            int part = (int) Math.min(length - skip, payload - done);
            scatter(list.region(i), list.offset(i) + skip, memory, from + done, part);
            done += part;
            skip = 0;
        }
    }

    private void scatter(Region region, long offset, MemorySegment memory, int from, int bytes)
            throws ProtocolViolation {
        AccessFault fault = region.enterLocal(
                region.remoteKey(), AccessKind.LOCAL_WRITE, context.domain(), context.queuePair(), offset, bytes);
        if (fault != AccessFault.NONE) {
            throw failed(
                    Status.LOCAL_PROTECTION_ERROR,
                    TerminateError.DDP_LOCAL_CATASTROPHIC,
                    "memory of a Receive cannot be written: " + fault);
        }
        try {
            region.write(offset, memory, from, bytes);
        } catch (IllegalStateException | InternalError e) {
            throw failed(
                    Status.LOCAL_PROTECTION_ERROR,
                    TerminateError.DDP_LOCAL_CATASTROPHIC,
                    "memory of a Receive is gone: " + e);
        } finally {
            region.leave();
        }
    }

    private void deliver(Opcode opcode) throws ProtocolViolation {
        // ORDER: placed, then invalidated, then delivered (RFC 5040, Section 5.3).
        if (opcode.invalidates()) {
            invalidate();
        }
        context.lock().lock();
        try {
            long bytes = Integer.toUnsignedLong(received);
            if (opcode.invalidates()) {
                queue.deliveredWithInvalidate(bytes, opcode.solicits(), invalidateStag);
            } else {
                queue.delivered(bytes, opcode.solicits());
            }
        } finally {
            context.lock().unlock();
        }
    }

    private void invalidate() throws ProtocolViolation {
        Region region = context.regions().find(invalidateStag);
        AccessFault fault = AccessFault.INVALID_STAG;
        if (region instanceof SoftFastRegion fast) {
            fault = fast.invalidateByPeer(invalidateStag, context.domain(), context.queuePair());
        } else if (region != null && region.remoteKey() == invalidateStag) {
            fault = AccessFault.OTHER_STREAM;
        }
        if (fault != AccessFault.NONE) {
            // RFC 5040 has this code under two types and does not say which is for what.
            throw failed(
                    Status.REMOTE_INVALID_REQUEST_ERROR,
                    fault == AccessFault.OTHER_STREAM
                            ? TerminateError.RDMAP_CANNOT_INVALIDATE_OTHERS_STAG
                            : TerminateError.RDMAP_CANNOT_INVALIDATE,
                    "expected a region of this stream to invalidate, found %s at STag 0x%08x"
                            .formatted(fault, invalidateStag));
        }
    }
}
