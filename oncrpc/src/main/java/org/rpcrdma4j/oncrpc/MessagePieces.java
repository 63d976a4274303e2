// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.glassfish.grizzly.Buffer;
import org.glassfish.grizzly.memory.BufferArray;
import org.glassfish.grizzly.memory.Buffers;
import org.glassfish.grizzly.memory.BuffersBuffer;
import org.glassfish.grizzly.memory.ByteBufferWrapper;
import org.glassfish.grizzly.memory.MemoryManager;

/** A message as Grizzly's buffers, and as pieces of memory, without copying. */
final class MessagePieces {

    private final List<MemorySegment> pieces = new ArrayList<>();
    /** For each piece: where it begins, if it is payload that its maker set apart; else -1. */
    private final List<Long> payloads = new ArrayList<>();

    private long bytes;

    private MessagePieces() {}

    /** What lies from the buffer's position to its limit. */
    static MessagePieces of(Buffer buffer) {
        return of(buffer, buffer.position(), buffer.limit());
    }

    /** What lies between two places. */
    static MessagePieces of(Buffer buffer, int from, int to) {
        MessagePieces result = new MessagePieces();
        if (from == to) {
            return result;
        }
        BufferArray array = buffer.toBufferArray(from, to);
        try {
            Buffer[] all = array.getArray();
            for (int i = 0; i < array.size(); i++) {
                result.add(all[i]);
            }
        } finally {
            // ORDER: positions are put back before the array is used again.
            array.restore();
            array.recycle();
        }
        return result;
    }

    private void add(Buffer buffer) {
        if (!buffer.hasRemaining()) {
            return;
        }
        MemorySegment piece = memoryOf(buffer);
        payloads.add(isPayload(buffer) ? bytes : -1L);
        pieces.add(piece);
        bytes += piece.byteSize();
    }

    /** What lies from the buffer's position to its limit, in one piece. */
    static MemorySegment memoryOf(Buffer buffer) {
        return buffer instanceof RdmaPayload payload && isPayload(buffer)
                ? payload.memory()
                // A slice, since positions of the buffer are put back later.
                : MemorySegment.ofBuffer(buffer.toByteBuffer().slice());
    }

    private static boolean isPayload(Buffer buffer) {
        return buffer instanceof RdmaPayload payload && payload.memory().byteSize() == buffer.remaining();
    }

    /** The pieces, in order. */
    List<MemorySegment> pieces() {
        return pieces;
    }

    /** All bytes. */
    long bytes() {
        return bytes;
    }

    /** Whether payload that was set apart begins here. */
    boolean isPayload(long position) {
        return payloads.contains(position);
    }

    /** The pieces of a range, cut to it. */
    List<MemorySegment> range(long from, long to) {
        List<MemorySegment> result = new ArrayList<>();
        long at = 0;
        for (MemorySegment piece : pieces) {
            long begin = Math.max(from, at);
            long end = Math.min(to, at + piece.byteSize());
            if (begin < end) {
                result.add(
                        begin == at && end == at + piece.byteSize() ? piece : piece.asSlice(begin - at, end - begin));
            }
            at += piece.byteSize();
        }
        return result;
    }

    /** A range in one piece: as it lies if it does, else copied to the heap. */
    MemorySegment joined(long from, long to) {
        List<MemorySegment> parts = range(from, to);
        if (parts.size() == 1) {
            return parts.getFirst();
        }
        return join(parts);
    }

    /** Copies the pieces to the heap, one after the other. */
    static MemorySegment join(List<MemorySegment> parts) {
        long total = 0;
        for (MemorySegment part : parts) {
            total += part.byteSize();
        }
        byte[] copy = new byte[Math.toIntExact(total)];
        int at = 0;
        for (MemorySegment part : parts) {
            int length = (int) part.byteSize();
            MemorySegment.copy(part, ValueLayout.JAVA_BYTE, 0, copy, at, length);
            at += length;
        }
        return MemorySegment.ofArray(copy);
    }

    /** One buffer over all views, not copied. */
    static Buffer join(MemoryManager<?> manager, List<ByteBuffer> views) {
        if (views.isEmpty()) {
            return Buffers.EMPTY_BUFFER;
        }
        if (views.size() == 1) {
            return new ByteBufferWrapper(views.getFirst().duplicate());
        }
        Buffer[] buffers = new Buffer[views.size()];
        for (int i = 0; i < buffers.length; i++) {
            buffers[i] = new ByteBufferWrapper(views.get(i).duplicate());
        }
        return BuffersBuffer.create(manager, buffers);
    }
}
