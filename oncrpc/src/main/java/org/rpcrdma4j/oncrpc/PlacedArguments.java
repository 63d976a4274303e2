// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.dcache.oncrpc4j.rpc.OncRpcException;
import org.dcache.oncrpc4j.xdr.Xdr;
import org.dcache.oncrpc4j.xdr.XdrAble;
import org.dcache.oncrpc4j.xdr.XdrDecodingStream;
import org.dcache.oncrpc4j.xdr.XdrEncodingStream;
import org.jspecify.annotations.Nullable;

/**
 * Arguments of one call, together with where its result is to go and how long its reply can be. It is encoded as the arguments are; what it says
 * is for {@link RdmaRpcTransport} only, so it may be used over any transport.
 *
 * <pre>{@code
 * call.call(READ, PlacedArguments.of(arguments).into(buffer), result);
 * }</pre>
 *
 * <p>A result is placed only if the transport's bindings name it for the procedure, else the call fails. An object serves for one call at a
 * time.
 */
public final class PlacedArguments implements XdrAble {

    /** What was encoded last on this thread: oncrpc4j encodes a call and sends it on one thread, and tells the transport of its bytes only. */
    private static final ThreadLocal<@Nullable Note> LAST = new ThreadLocal<>();

    private record Note(WeakReference<Object> stream, PlacedArguments arguments) {}

    private final XdrAble arguments;
    private @Nullable MemorySegment target;
    private @Nullable ReplyLease lease;
    private long maxReplyBytes = -1;
    private volatile long placedBytes;

    private PlacedArguments(XdrAble arguments) {
        this.arguments = Objects.requireNonNull(arguments, "arguments");
    }

    /** These arguments, and nothing said of the result yet. */
    public static PlacedArguments of(XdrAble arguments) {
        return new PlacedArguments(arguments);
    }

    /**
     * The memory that the eligible result is placed in, large enough for the largest one, no room for its pad. Native memory that all threads
     * have access to is offered to the server as it is. It is the transport's until the call has ended; then what the result decodes as {@code
     * ByteBuffer} is a view of it.
     */
    public PlacedArguments into(MemorySegment memory) {
        target = Objects.requireNonNull(memory, "memory");
        return this;
    }

    /** As {@link #into(MemorySegment)}, a buffer's remaining bytes. */
    public PlacedArguments into(ByteBuffer buffer) {
        return into(MemorySegment.ofBuffer(buffer));
    }

    /** Has the result placed in memory of the transport's that lives as long as the lease, instead of being copied out of it. */
    public PlacedArguments lease(ReplyLease value) {
        lease = Objects.requireNonNull(value, "value");
        return this;
    }

    /** Length of the longest reply, from its XID on, without a result that is placed; unless set, what the bindings say. */
    public PlacedArguments maxReplyBytes(long value) {
        if (value < 0) {
            throw new IllegalArgumentException("maxReplyBytes " + value + " must not be negative");
        }
        maxReplyBytes = value;
        return this;
    }

    /** Bytes that the server placed; 0 until the call has succeeded, and if the result came in the reply itself. */
    public long placedBytes() {
        return placedBytes;
    }

    @Nullable
    MemorySegment target() {
        return target;
    }

    @Nullable
    ReplyLease lease() {
        return lease;
    }

    /** Negative if not set. */
    long maxReplyBytes() {
        return maxReplyBytes;
    }

    void placed(long bytes) {
        placedBytes = bytes;
    }

    @Override
    public void xdrEncode(XdrEncodingStream stream) throws OncRpcException, IOException {
        placedBytes = 0;
        LAST.set(new Note(new WeakReference<>(stream), this));
        arguments.xdrEncode(stream);
    }

    @Override
    public void xdrDecode(XdrDecodingStream stream) throws OncRpcException, IOException {
        arguments.xdrDecode(stream);
    }

    /** What this thread has encoded into the message; null if that had plain arguments. */
    static @Nullable PlacedArguments takeOf(Xdr message) {
        Note note = LAST.get();
        if (note == null) {
            return null;
        }
        LAST.remove();
        return note.stream.refersTo(message) ? note.arguments : null;
    }
}
