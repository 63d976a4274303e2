// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.glassfish.grizzly.memory.ByteBufferWrapper;

/**
 * Payload of a call or reply that is to be moved from where it lies. An {@code XdrAble} encodes it by {@code
 * ((Xdr) stream).xdrEncodeShallowByteBuffer(RdmaPayload.of(memory))}, which writes its length, the bytes without copying them, and the pad.
 * Over other transports it is an ordinary buffer.
 *
 * <p>It goes by a chunk of its own if the program's binding names what stands at its place in the message. Native memory is registered as it
 * is; heap memory is copied once.
 *
 * <p><b>Ownership.</b> The memory must stay as it is until a call has ended; of a reply, until the listeners of {@code
 * RpcCall.registerSendOnceListener} are told. One object serves for one message.
 *
 * <p>Its slices over the whole range are itself: Xdr slices what it has when a further payload is appended, and would lose it.
 */
public final class RdmaPayload extends ByteBufferWrapper {

    private final MemorySegment memory;

    private RdmaPayload(ByteBuffer bytes) {
        super(bytes);
        memory = MemorySegment.ofBuffer(bytes);
    }

    /** Payload that is a buffer's remaining bytes; the buffer itself is not touched. */
    public static RdmaPayload of(ByteBuffer bytes) {
        return new RdmaPayload(bytes.slice());
    }

    /**
     * Payload that is a segment, which all threads must have access to.
     *
     * @throws UnsupportedOperationException if it is longer than a buffer can be
     */
    public static RdmaPayload of(MemorySegment bytes) {
        return new RdmaPayload(bytes.asByteBuffer());
    }

    /** The memory that it stands for. */
    public MemorySegment memory() {
        return memory;
    }

    @Override
    public ByteBufferWrapper slice(int position, int limit) {
        return position == position() && limit == limit() && limit - position == memory.byteSize()
                ? this
                : super.slice(position, limit);
    }
}
