// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.ddp.DdpHeader;
import org.rpcrdma4j.iwarp.mem.AccessFault;
import org.rpcrdma4j.iwarp.mem.AccessKind;
import org.rpcrdma4j.iwarp.mem.Region;
import org.rpcrdma4j.iwarp.mpa.Crc32c;
import org.rpcrdma4j.iwarp.mpa.Fpdu;
import org.rpcrdma4j.iwarp.queue.SendSlot;
import org.rpcrdma4j.iwarp.queue.Sges;

/**
 * Writes one segment after the other into a batch: begin, gather payload, end. The length field is written at the end, when it is known
 * how much payload found room. Belongs to whoever transmits.
 */
final class SegmentWriter {
    private final StreamContext context;
    private final FpduBatch batch;
    private final @Nullable Crc32c crc;
    private int start;
    private int startEntry;
    private int header;
    private int payload;

    SegmentWriter(StreamContext context, FpduBatch batch, boolean crc) {
        this.context = context;
        this.batch = batch;
        this.crc = crc ? new Crc32c() : null;
    }

    /** Payload gathered for the segment. */
    int payloadBytes() {
        return payload;
    }

    private void begin() {
        start = batch.slabPosition();
        startEntry = batch.entryOfNextSlab();
        payload = 0;
    }

    void beginTagged(Opcode opcode, int stag, long to) {
        begin();
        header = DdpHeader.putTagged(batch.slab(), start + Fpdu.LENGTH_BYTES, false, opcode.control(), stag, to);
        batch.addSlab(Fpdu.LENGTH_BYTES + header);
    }

    void beginUntagged(Opcode opcode, int invalidateStag, int queue, int msn, int offset) {
        begin();
        header = DdpHeader.putUntagged(
                batch.slab(), start + Fpdu.LENGTH_BYTES, false, opcode.control(), invalidateStag, queue, msn, offset);
        batch.addSlab(Fpdu.LENGTH_BYTES + header);
    }

    /** A Read Request for a work request whose sink is fixed. */
    void readRequest(SendSlot slot) {
        beginUntagged(Opcode.READ_REQUEST, 0, DdpHeader.READ_REQUEST_QUEUE, slot.requestMsn(), 0);
        header += ReadRequestHeader.put(
                batch.slab(),
                batch.slabPosition(),
                slot.sinkStag(),
                slot.sinkOffset(),
                slot.sges().totalBytes(),
                slot.key(),
                slot.remoteAddress());
        batch.addSlab(ReadRequestHeader.BYTES);
        // ORDER: the slot is no owner: the answer may come, and the slot be used again, before the writer looks.
        end(this, 0, true);
    }

    /** A Read Request of no length, as RTR. */
    void emptyReadRequest(int sourceStag, int msn) {
        beginUntagged(Opcode.READ_REQUEST, 0, DdpHeader.READ_REQUEST_QUEUE, msn, 0);
        header += ReadRequestHeader.put(batch.slab(), batch.slabPosition(), 0, 0, 0, sourceStag, 0);
        batch.addSlab(ReadRequestHeader.BYTES);
        end(this, 0, true);
    }

    /** Gathers up to {@code bytes} from the offset of a list on. Each region is entered for it. */
    AccessFault gather(Sges list, long from, int bytes) {
        long skip = from;
        for (int i = 0; i < list.size() && payload < bytes && batch.hasRoomForPiece(); i++) {
            long length = list.length(i);
            if (skip >= length) {
                skip -= length;
                continue;
            }
            int part = (int) Math.min(length - skip, bytes - payload);
            long offset = list.offset(i) + skip;
            Region region = list.region(i);
            int stag = region.remoteKey();
            AccessFault fault =
                    region.enterLocal(stag, AccessKind.LOCAL_READ, context.domain(), context.queuePair(), offset, part);
            if (fault != AccessFault.NONE) {
                return fault;
            }
            try {
                fault = gather(region, stag, offset, part);
            } finally {
                region.leave();
            }
            if (fault != AccessFault.NONE) {
                return fault;
            }
            skip = 0;
        }
        return AccessFault.NONE;
    }

    /** Gathers up to {@code bytes} of a region that the caller has entered and leaves. */
    AccessFault gather(Region region, int stag, long offset, int bytes) {
        long at = offset;
        int left = bytes;
        for (int i = region.pieceAt(offset); left > 0 && batch.hasRoomForPiece(); i++) {
            MemorySegment piece = region.piece(i);
            long inPiece = at - region.pieceStart(i);
            int part = (int) Math.min(left, piece.byteSize() - inPiece);
            if (!gather(region, stag, piece, inPiece, part)) {
                return AccessFault.MEMORY_GONE;
            }
            payload += part;
            at += part;
            left -= part;
        }
        return AccessFault.NONE;
    }

    private boolean gather(Region region, int stag, MemorySegment piece, long offset, int bytes) {
        if (bytes > FpduBatch.INLINE_BYTES) {
            batch.addMemory(region, stag, piece, offset, bytes);
            return true;
        }
        try {
            MemorySegment.copy(piece, offset, batch.slabSegment(), batch.slabPosition(), bytes);
        } catch (IllegalStateException | InternalError e) {
            return false;
        }
        batch.addSlab(bytes);
        return true;
    }

    /** Completes the FPDU, unless its memory has turned out to be gone. */
    AccessFault end(Object owner, long offset, boolean last) {
        ByteBuffer slab = batch.slab();
        int ulpduLength = header + payload;
        Fpdu.putLength(slab, start, ulpduLength);
        if (last) {
            DdpHeader.markLast(slab, start + Fpdu.LENGTH_BYTES);
        }
        if (crc != null) {
            crc.reset();
            try {
                batch.addTo(crc, startEntry, start);
            } catch (IllegalStateException | InternalError e) {
                return AccessFault.MEMORY_GONE;
            }
        }
        batch.addSlab(Fpdu.putTrailer(slab, batch.slabPosition(), ulpduLength, crc));
        batch.endFpdu(owner, offset, last);
        return AccessFault.NONE;
    }

    /** Takes back what was begun. */
    void abandon() {
        batch.dropUnfinished(start);
    }
}
