// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.util.ArrayList;
import java.util.List;
import org.dcache.oncrpc4j.grizzly.GrizzlyMemoryManager;
import org.glassfish.grizzly.Buffer;
import org.glassfish.grizzly.FileChunk;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.server.ReplyPieces;

/**
 * A call that was received, and then the reply to it: oncrpc4j encodes the one into the object of the other. {@link #beginEncoding} takes a
 * fresh buffer, so what the program decoded as views stays as it is until the reply was given.
 *
 * <p>Payload of the reply is kept apart from the rest, in registered memory that is sent without a further copy. Whether it then goes into a
 * Write chunk is decided by the transport, by the program's binding (RFC 8166, Section 6.1).
 *
 * <pre>
 *   buffer   header, words ... count | words ... count | words      cut where payload was
 *   apart              payload              payload
 * </pre>
 *
 * <p>Used by one thread at a time.
 */
final class RequestXdr extends ReceivedXdr {

    /** From here on payload is kept apart though no Write chunk is there for it. */
    private static final int LARGE_BYTES = 2048;
    /** From here on payload is worth registered memory. */
    private static final int REGISTERED_BYTES = 512;

    private static final int FIRST_BYTES = 1024;

    /** Payload that belongs at a place of the buffer. */
    private record Apart(int position, MemorySegment payload, boolean isCallers) {}

    private final CallSink sink;
    private final List<Apart> apart = new ArrayList<>();
    private boolean keepsTogether;
    private boolean hasUnsentReply;
    private @Nullable Thread encoder;

    RequestXdr(List<MemorySegment> pieces, CallSink sink) {
        super(pieces);
        this.sink = sink;
    }

    /** RFC 8166, Section 8.2.2: what GSS protects is not taken apart. */
    void keepTogether() {
        keepsTogether = true;
    }

    /** Whether this thread has begun a reply that was never sent: its encoding failed, and oncrpc4j has only logged that. */
    boolean hasUnsentReply() {
        return hasUnsentReply && encoder == Thread.currentThread();
    }

    void sent() {
        hasUnsentReply = false;
    }

    @Override
    public void beginEncoding() {
        // ORDER: before the first word of the reply is written, the call's memory is out of reach.
        _buffer = GrizzlyMemoryManager.allocate(FIRST_BYTES);
        apart.clear();
        hasUnsentReply = true;
        encoder = Thread.currentThread();
        super.beginEncoding();
    }

    private boolean isApart(int length) {
        return length > 0 && hasUnsentReply && !keepsTogether && (length >= LARGE_BYTES || sink.takesResults());
    }

    /** Memory for payload that is kept apart; null if it has to stay in the stream. */
    private @Nullable MemorySegment memoryFor(int length) {
        MemorySegment registered = length < REGISTERED_BYTES ? null : sink.allocate(length);
        return registered == null && sink.takesResults() ? MemorySegment.ofArray(new byte[length]) : registered;
    }

    private void add(MemorySegment payload, boolean isCallers) {
        apart.add(new Apart(_buffer.position(), payload, isCallers));
    }

    @Override
    public void xdrEncodeOpaque(byte[] bytes, int offset, int length) {
        MemorySegment memory = isApart(length) ? memoryFor(length) : null;
        if (memory == null) {
            super.xdrEncodeOpaque(bytes, offset, length);
            return;
        }
        MemorySegment.copy(bytes, offset, memory, ValueLayout.JAVA_BYTE, 0, length);
        add(memory, false);
    }

    @Override
    public void xdrEncodeByteBuffer(ByteBuffer bytes) {
        int length = bytes.remaining();
        MemorySegment memory = isApart(length) ? memoryFor(length) : null;
        if (memory == null) {
            super.xdrEncodeByteBuffer(bytes);
            return;
        }
        xdrEncodeInt(length);
        memory.asByteBuffer().put(bytes);
        add(memory, false);
    }

    @Override
    public void xdrEncodeShallowByteBuffer(Buffer bytes) {
        int length = bytes.remaining();
        if (!isApart(length)) {
            super.xdrEncodeShallowByteBuffer(bytes);
            return;
        }
        MemorySegment lies = MessagePieces.memoryOf(bytes);
        if (lies.isNative() && !sink.isOfCall(lies)) {
            xdrEncodeInt(length);
            add(lies, true);
            return;
        }
        MemorySegment memory = memoryFor(length);
        if (memory == null) {
            super.xdrEncodeShallowByteBuffer(bytes);
            return;
        }
        xdrEncodeInt(length);
        memory.copyFrom(lies);
        add(memory, false);
    }

    /**
     * Reads the file's bytes into memory that is sent. They stand where they were encoded, also if more follows.
     *
     * @throws UncheckedIOException if the file cannot be read, or has fewer bytes than the chunk says
     */
    @Override
    public void xdrEncodeFileChunk(FileChunk chunk) {
        int length = chunk.remaining();
        MemorySegment memory = isApart(length) ? memoryFor(length) : null;
        byte[] heap = new byte[memory == null ? length : 0];
        ByteBuffer into = memory != null ? memory.asByteBuffer() : ByteBuffer.wrap(heap);
        try {
            readFully(chunk, into);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            chunk.release();
        }
        xdrEncodeInt(length);
        if (memory != null) {
            add(memory, false);
        } else {
            super.xdrEncodeOpaque(heap, 0, length);
        }
    }

    private static void readFully(FileChunk chunk, ByteBuffer into) throws IOException {
        WritableByteChannel channel = new WritableByteChannel() {
            @Override
            public int write(ByteBuffer bytes) {
                int length = bytes.remaining();
                into.put(bytes);
                return length;
            }

            @Override
            public boolean isOpen() {
                return true;
            }

            @Override
            public void close() {}
        };
        while (into.hasRemaining()) {
            if (chunk.writeTo(channel) <= 0) {
                throw new EOFException("the file ends " + into.remaining() + " bytes before the chunk");
            }
        }
    }

    /** The encoded reply, its payload apart. */
    ReplyPieces toReply() {
        ReplyPieces reply = new ReplyPieces();
        int from = 0;
        for (Apart item : apart) {
            addData(reply, from, item.position);
            reply.item(item.payload);
            from = item.position;
        }
        addData(reply, from, _buffer.limit());
        return reply;
    }

    private void addData(ReplyPieces reply, int from, int to) {
        for (MemorySegment piece : MessagePieces.of(_buffer, from, to).pieces()) {
            reply.data(piece);
        }
    }

    /** Whether payload lies in memory of the program's, which it may use again when the reply is on its way. */
    boolean refersToMemoryOfProgram() {
        return apart.stream().anyMatch(Apart::isCallers);
    }

    /** Bytes of the encoded reply. */
    int replyBytes() {
        return (int) toReply().streamBytes();
    }

    @Override
    public Buffer asBuffer() {
        if (apart.isEmpty()) {
            return super.asBuffer();
        }
        List<ByteBuffer> views = new ArrayList<>();
        int from = 0;
        for (Apart item : apart) {
            addViews(views, from, item.position);
            views.add(item.payload.asByteBuffer());
            int length = (int) item.payload.byteSize();
            views.add(ByteBuffer.allocate(padded(length) - length));
            from = item.position;
        }
        addViews(views, from, hasUnsentReply ? Math.max(from, _buffer.position()) : _buffer.limit());
        return MessagePieces.join(GrizzlyMemoryManager.getDefaultMemoryManager(), views);
    }

    private void addViews(List<ByteBuffer> views, int from, int to) {
        for (MemorySegment piece : MessagePieces.of(_buffer, from, to).pieces()) {
            views.add(piece.asByteBuffer());
        }
    }

    @Override
    public byte[] getBytes() {
        if (apart.isEmpty()) {
            return super.getBytes();
        }
        return MessagePieces.join(MessagePieces.of(asBuffer()).pieces()).toArray(ValueLayout.JAVA_BYTE);
    }
}
