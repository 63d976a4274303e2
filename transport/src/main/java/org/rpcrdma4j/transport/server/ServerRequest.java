// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import java.util.Collections;
import java.util.List;
import org.rpcrdma4j.transport.connection.DisconnectCause;
import org.rpcrdma4j.transport.rpc.CallerConnection;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/**
 * One call, complete, as a {@link RequestHandler} gets it. It is answered exactly once, from any thread; until then its message and the
 * memory from {@link #allocate} may be used, afterwards nothing of it.
 *
 * <p>If the connection ends meanwhile, nothing is told: the message stays readable, and the reply is dropped. The client sends such a call
 * again on a new connection.
 */
public final class ServerRequest {

    private static final ValueLayout.OfInt WORD = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final VarHandle ANSWERED;

    static {
        try {
            ANSWERED = MethodHandles.lookup().findVarHandle(ServerRequest.class, "answered", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final RequestSlot slot;

    @SuppressWarnings("unused") // by ANSWERED
    private volatile boolean answered;

    ServerRequest(RequestSlot slot) {
        this.slot = slot;
    }

    /** The client's address. */
    public InetSocketAddress remoteAddress() {
        return slot.connection.view().remoteAddress();
    }

    /** The connection that it came on. */
    public CallerConnection connection() {
        return slot.connection.view();
    }

    /** Identifies the connection in logs and events. A reply cache must not depend on it: a call may come again on another one. */
    public long connectionId() {
        return slot.connection.id();
    }

    /** The XID of transport header and RPC message. */
    public int xid() {
        requireOpen();
        return slot.header.xid();
    }

    /**
     * The RPC call message in its unreduced form: pieces of memory, one after the other. Each Read chunk is one piece, where it was read
     * to. The list and its memory are valid until the reply; they must not be changed.
     */
    public List<MemorySegment> message() {
        requireOpen();
        return Collections.unmodifiableList(slot.message);
    }

    /** The same for readers in this package: without a wrapper. */
    List<MemorySegment> pieces() {
        requireOpen();
        return slot.message;
    }

    /** Bytes that the client can take of eligible results: the room in its Write chunks. */
    public long writeChunkBytes() {
        requireOpen();
        return slot.header.writeList().segments().totalLength();
    }

    /** Bytes of the longest reply message, without what goes into Write chunks. */
    public long replyRoom() {
        requireOpen();
        return slot.connection.replies().replyRoom(slot.header);
    }

    /**
     * Registered memory for results: what lies in it goes to the client without being copied. It belongs to the request, and to the
     * transport once the reply was given. Not zeroed.
     *
     * @throws IllegalArgumentException if no single buffer is so large
     * @throws IllegalStateException if the connection's memory is used up, or the connection has ended
     */
    public MemorySegment allocate(long bytes) {
        requireOpen();
        return slot.connection.replies().allocate(slot, bytes);
    }

    /**
     * Answers. The pieces may be changed when this returns; of their memory see {@link ReplyPieces#whenReleased}.
     *
     * @throws IllegalStateException if the request was answered already
     * @throws IllegalArgumentException if the message has another XID than the call
     */
    public void reply(ReplyPieces reply) {
        requireOwnXid(reply);
        claim();
        slot.connection.replies().reply(slot, reply);
    }

    /** Answers with a message that was written with its items. What lies in other memory than that of {@link #allocate} is copied. */
    public void reply(XdrWriter message) {
        reply(new ReplyPieces().message(message));
    }

    /** Answers with an RPC header and no results: any kind of refusal. */
    public void replyError(ReplyHeader header) {
        XdrWriter out = new XdrWriter();
        header.encode(out);
        reply(out);
    }

    /**
     * Answers with RDMA_ERROR, ERR_CHUNK: the client's call fails for good (RFC 8166, Section 4.5). For calls whose results cannot be
     * brought to the client with the memory that it offered.
     */
    public void refuse() {
        claim();
        slot.connection.replies().refuse(slot);
    }

    /**
     * Ends the request without an answer, and with it the connection: the client sends the calls that it has no reply to again, on another
     * connection. For a handler that cannot answer now.
     *
     * @throws IllegalStateException if the request was answered already
     */
    public void dropConnection(String reason) {
        claim();
        // ORDER: the connection first, so that this answer, which only gives the request back, is not sent.
        slot.connection.abort(DisconnectCause.LOCAL_CLOSE, reason);
        slot.connection.replies().refuse(slot);
    }

    /** Calls to this client (RFC 8167). */
    public ReverseClient reverse() {
        return slot.connection.reverse();
    }

    /** Whether it was answered. */
    public boolean isAnswered() {
        return answered;
    }

    /** RFC 8166, Section 4.2.1: header and RPC message have the same XID. */
    private void requireOwnXid(ReplyPieces reply) {
        if (answered || reply.size() == 0 || reply.piece(0).byteSize() < Integer.BYTES) {
            return;
        }
        int xid = reply.piece(0).get(WORD, 0);
        if (xid != slot.header.xid()) {
            throw new IllegalArgumentException("not a reply to 0x" + Integer.toHexString(slot.header.xid())
                    + ": it begins with 0x" + Integer.toHexString(xid));
        }
    }

    /** For tests. */
    RequestSlot slot() {
        return slot;
    }

    private void claim() {
        if (!ANSWERED.compareAndSet(this, false, true)) {
            throw new IllegalStateException("the request was answered already");
        }
    }

    private void requireOpen() {
        if (answered) {
            throw new IllegalStateException("the request was answered: its memory is gone");
        }
    }
}
