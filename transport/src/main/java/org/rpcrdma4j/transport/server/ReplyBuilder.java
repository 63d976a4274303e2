// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.connection.Endpoint;
import org.rpcrdma4j.transport.connection.WorkIds;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.wire.HeaderEncoder;
import org.rpcrdma4j.transport.wire.Segments;
import org.rpcrdma4j.transport.wire.TransportHeader;
import org.rpcrdma4j.transport.wire.WriteList;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.RdmaWriteRequest;

/**
 * Turns a program's reply into the work requests that carry it: RDMA Writes for Write and Reply chunks, then one Send with the header and
 * what goes inline.
 *
 * <p>Works on the thread that replies, outside the monitor; the slot belongs to that thread. Where result bytes come from: memory of the
 * request (allocated, or pulled) is sent from where it lies; a program's own native memory is registered if the program says how it learns
 * of the end; all else is copied into memory of the request.
 */
final class ReplyBuilder {

    /** Less than this is copied rather than registered. */
    private static final int REGISTER_FROM = 8192;

    /** Of copies, so many bytes at least in a buffer. */
    private static final int COPY_BUFFER = 4096;

    private final Endpoint endpoint;
    private final ConnectionMemory memory;
    private final Bindings bindings;
    private final Counters<ServerCounter> counters;
    private final int maxSges;
    private final long maxMessageBytes;

    ReplyBuilder(Endpoint endpoint, ConnectionMemory memory, ServerContext context, int maxSges) {
        this.endpoint = endpoint;
        this.memory = memory;
        this.bindings = context.bindings();
        this.counters = context.counters();
        this.maxSges = maxSges;
        this.maxMessageBytes = context.device().attributes().maxMessageBytes();
    }

    /** There is no memory for a copy. */
    static final class NoMemory extends RuntimeException {
        private static final long serialVersionUID = 1L;

        NoMemory(String message) {
            super(message, null, false, false);
        }
    }

    /**
     * Builds the slot's chain.
     *
     * @param threshold longest message that the client receives
     * @param mayInvalidate whether the Send may invalidate a region of the client
     * @throws NoMemory if the reply cannot be built
     */
    ReplyPlanner.Form build(RequestSlot slot, ReplyPieces reply, int threshold, boolean mayInvalidate) {
        slot.resetReply();
        TransportHeader header = slot.header;
        ReplyPlanner planner = slot.planner;
        ReplyPlanner.Form form = planner.plan(header, reply, eligible(slot, reply), threshold);
        if (form == ReplyPlanner.Form.DOES_NOT_FIT) {
            return form;
        }
        MemorySegment out = endpoint.sendMemory(slot.sendBuffer);
        int length = HeaderEncoder.encode(header, out, 0);
        if (planner.chunkBytes() > 0) {
            writeItems(slot, reply);
        }
        if (form == ReplyPlanner.Form.INLINE) {
            length = copyRest(slot, reply, out, length);
        } else {
            writeRest(slot, reply);
        }
        slot.sendBytes = length;
        slot.send.clearSges();
        slot.send
                .id(WorkIds.of(WorkIds.Kind.SEND, slot.generation, slot.index))
                .sge(endpoint.sendRegion(), endpoint.sendOffset(slot.sendBuffer), length);
        if (mayInvalidate && slot.hasInvalidateKey) {
            slot.send.invalidate(slot.invalidateKey);
        } else {
            slot.send.withoutInvalidate();
        }
        // ORDER: the Writes are posted before the Send, so their data is placed when the reply is delivered.
        slot.chain.add(slot.send);
        return form;
    }

    private IntPredicate eligible(RequestSlot slot, ReplyPieces reply) {
        if (slot.header.writeList().isEmpty() || !reply.hasItems()) {
            return piece -> false;
        }
        EligibleResults results = slot.eligibleResults(bindings);
        results.look(slot.message, reply);
        return slot.isEligible;
    }

    /** Copies all that is not in Write chunks behind the header; returns the message's length. */
    private int copyRest(RequestSlot slot, ReplyPieces reply, MemorySegment out, int headerBytes) {
        int at = headerBytes;
        int next;
        for (int i = 0; i < reply.size(); i = next) {
            next = reply.end(i);
            if (slot.planner.chunkOf(i) >= 0) {
                continue;
            }
            int begin = at;
            for (int part = i; part < next; part++) {
                MemorySegment piece = reply.piece(part);
                MemorySegment.copy(piece, 0, out, at, piece.byteSize());
                at += (int) piece.byteSize();
            }
            if (reply.isItem(i)) {
                int end = begin + (int) XdrReader.padded(at - begin);
                while (at < end) {
                    out.set(ValueLayout.JAVA_BYTE, at++, (byte) 0);
                }
            }
        }
        counters.add(ServerCounter.PULLUP_COPIES, at - headerBytes);
        return at;
    }

    private void writeItems(RequestSlot slot, ReplyPieces reply) {
        WriteList list = slot.header.writeList();
        int next;
        for (int i = 0; i < reply.size(); i = next) {
            next = reply.end(i);
            int chunk = slot.planner.chunkOf(i);
            if (chunk >= 0) {
                slot.sources.clear();
                for (int part = i; part < next; part++) {
                    addSource(slot, reply, reply.piece(part));
                }
                write(slot, list.segments(), list.firstSegment(chunk), list.segmentCount(chunk));
            }
        }
    }

    private void writeRest(RequestSlot slot, ReplyPieces reply) {
        slot.sources.clear();
        int next;
        for (int i = 0; i < reply.size(); i = next) {
            next = reply.end(i);
            if (slot.planner.chunkOf(i) >= 0) {
                continue;
            }
            long length = 0;
            for (int part = i; part < next; part++) {
                addSource(slot, reply, reply.piece(part));
                length += reply.piece(part).byteSize();
            }
            if (reply.isItem(i)) {
                addZeros(slot, (int) (XdrReader.padded(length) - length));
            }
        }
        Segments chunk = slot.header.replyChunk();
        write(slot, chunk, 0, chunk.size());
    }

    /** One or more Writes for each segment with bytes, as its length says. */
    private void write(RequestSlot slot, Segments segments, int first, int count) {
        for (int i = first; i < first + count; i++) {
            long left = segments.length(i);
            long address = segments.offset(i);
            while (left > 0) {
                RdmaWriteRequest write = slot.nextWrite()
                        .id(WorkIds.of(WorkIds.Kind.WRITE, slot.generation, slot.index))
                        .target(segments.handle(i), address);
                long taken = slot.sources.take(write, Math.min(left, maxMessageBytes), maxSges);
                if (taken == 0) {
                    throw new IllegalStateException("no bytes for a segment of " + segments.length(i));
                }
                slot.chain.add(write);
                counters.add(ServerCounter.BYTES_WRITTEN, taken);
                left -= taken;
                address += taken;
            }
        }
    }

    private void addSource(RequestSlot slot, ReplyPieces reply, MemorySegment piece) {
        if (piece.byteSize() == 0) {
            return;
        }
        PooledBuffer own = piece.isNative() ? slot.bufferOf(piece) : null;
        if (own != null) {
            slot.sources.add(own.region(), own.offsetOf(piece), piece.byteSize());
            return;
        }
        boolean stays = reply.released() != null && piece.isNative() && !isReceived(slot, piece);
        MemoryRegion region = stays && piece.byteSize() >= REGISTER_FROM ? memory.registerForeign(piece) : null;
        if (region != null) {
            slot.foreign.add(region);
            slot.sources.add(region, 0, piece.byteSize());
            return;
        }
        long offset = reserveCopy(slot, piece.byteSize());
        PooledBuffer copy = copyBuffer(slot);
        MemorySegment.copy(piece, 0, copy.memory(), offset, piece.byteSize());
        slot.sources.add(copy.region(), offset, piece.byteSize());
    }

    /** Whether it lies in the slot's receive buffer, which is posted again before the reply is: such bytes have to be copied. */
    private boolean isReceived(RequestSlot slot, MemorySegment piece) {
        if (slot.receiveBuffer == RequestSlot.NONE) {
            return false;
        }
        MemorySegment buffer = endpoint.receiveMemory(slot.receiveBuffer);
        long offset = piece.address() - buffer.address();
        return offset >= 0 && offset < buffer.byteSize();
    }

    private void addZeros(RequestSlot slot, int count) {
        if (count > 0) {
            long offset = reserveCopy(slot, count);
            PooledBuffer copy = copyBuffer(slot);
            copy.memory().asSlice(offset, count).fill((byte) 0);
            slot.sources.add(copy.region(), offset, count);
        }
    }

    /** Makes room for a copy in the slot's copy buffer, taking another if that is full; returns where. */
    private long reserveCopy(RequestSlot slot, long bytes) {
        PooledBuffer copy = slot.copyBuffer;
        if (copy == null || copy.memory().byteSize() - slot.copyUsed < bytes) {
            copy = memory.take(Math.max(bytes, COPY_BUFFER));
            if (copy == null) {
                throw new NoMemory("no registered memory for " + bytes + " bytes of a reply");
            }
            slot.results.add(copy);
            slot.copyBuffer = copy;
            slot.copyUsed = 0;
        }
        long offset = slot.copyUsed;
        slot.copyUsed += bytes;
        return offset;
    }

    private static PooledBuffer copyBuffer(RequestSlot slot) {
        @Nullable PooledBuffer copy = slot.copyBuffer;
        if (copy == null) {
            throw new IllegalStateException("no copy buffer");
        }
        return copy;
    }
}
