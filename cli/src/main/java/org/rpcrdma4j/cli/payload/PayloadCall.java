// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.payload;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.client.PendingReply;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.client.RpcRdmaClient;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.rpc.ReplyReader;
import org.rpcrdma4j.transport.rpc.RpcException;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** A call of the {@link PayloadProgram} that is made again and again, one at a time, with its memory. Used by one thread at a time. */
public final class PayloadCall {
    /** Which procedure. */
    public enum Kind {
        NULL,
        /** The payload goes to the server. */
        TAKE,
        /** The payload comes from the server. */
        GIVE
    }

    /** What the receiving end looks at. */
    public enum Verification {
        /** The length of the payload. */
        LENGTH,
        /** Each byte. */
        BYTES,
        /** Each byte, in a target that is cleared before each call and that no other call uses. */
        CLEARED
    }

    private static final ValueLayout.OfInt XDR_INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int REPLY_BYTES = 256;

    private final Kind kind;
    private final Pattern pattern;
    private final int seed;
    private final Verification verification;
    private final MemorySegment head;
    private final MemorySegment payload;
    private final CallMessage message;
    private final XdrReader in = new XdrReader();

    private PayloadCall(
            Kind kind, Pattern pattern, int seed, MemorySegment payload, Verification verification, Arena arena) {
        this.kind = kind;
        this.pattern = pattern;
        this.seed = seed;
        this.payload = payload;
        this.verification = verification;
        boolean check = verification != Verification.LENGTH;
        head = nativeCopy(encodedHead(kind, seed, payload.byteSize(), check), arena);
        CallMessage.Builder builder = CallMessage.builder(head)
                .maxReplyBytes(ReplyHeader.MAX_SUCCESS_LENGTH + 8)
                .replyBuffer(arena.allocate(ReplyHeader.MAX_SUCCESS_LENGTH + REPLY_BYTES, 8));
        if (kind == Kind.TAKE) {
            builder.item(payload);
        } else if (kind == Kind.GIVE && payload.byteSize() > 0) {
            builder.target(payload);
        }
        message = builder.build();
    }

    /** A call without payload. */
    public static PayloadCall nothing(Pattern pattern, Arena arena) {
        return new PayloadCall(Kind.NULL, pattern, 0, MemorySegment.NULL, Verification.LENGTH, arena);
    }

    /** A call that sends a piece of the pattern, from where it lies. */
    public static PayloadCall take(Pattern pattern, int seed, long bytes, Verification verification, Arena arena) {
        return new PayloadCall(Kind.TAKE, pattern, seed, pattern.piece(seed, bytes), verification, arena);
    }

    /** A call that gets a piece of the pattern, into the target. */
    public static PayloadCall give(
            Pattern pattern, int seed, MemorySegment target, Verification verification, Arena arena) {
        return new PayloadCall(Kind.GIVE, pattern, seed, target, verification, arena);
    }

    private static byte[] encodedHead(Kind kind, int seed, long bytes, boolean check) {
        XdrWriter out = PayloadProgram.head(
                switch (kind) {
                    case NULL -> PayloadProgram.NULL;
                    case TAKE -> PayloadProgram.TAKE;
                    case GIVE -> PayloadProgram.GIVE;
                });
        if (kind != Kind.NULL) {
            out.writeInt(seed);
            if (kind == Kind.TAKE) {
                out.writeBool(check);
            }
            out.writeUnsignedInt(bytes);
        }
        return out.toByteArray();
    }

    private static MemorySegment nativeCopy(byte[] bytes, Arena arena) {
        MemorySegment copy = arena.allocate(bytes.length, 8);
        copy.copyFrom(MemorySegment.ofArray(bytes));
        return copy;
    }

    /** Bytes of the payload. */
    public long payloadBytes() {
        return payload.byteSize();
    }

    /** Sends it, under an XID of its own. The next time not before this one has ended. */
    public PendingReply send(RpcRdmaClient client) {
        head.set(XDR_INT, 0, client.nextXid());
        if (kind == Kind.GIVE && verification == Verification.CLEARED) {
            payload.fill((byte) 0);
        }
        return client.send(message);
    }

    /**
     * Looks at the reply.
     *
     * @throws IllegalStateException if it is not the right one, or the payload is not, to the byte
     */
    public void verify(Reply reply) {
        try {
            reply.readWith(in);
            ReplyReader.readHeader(in, message.xid());
            switch (kind) {
                case NULL -> in.requireEnd();
                case TAKE -> require(in.readBool(), "the server got other bytes than were sent");
                case GIVE -> verifyGiven(reply);
            }
        } catch (RpcException | XdrException e) {
            throw new IllegalStateException(this + ": " + reply + ": " + e.getMessage(), e);
        }
    }

    private void verifyGiven(Reply reply) throws XdrException {
        long count = in.readUnsignedInt();
        if (count != payload.byteSize() || reply.placedBytes() != count) {
            throw new IllegalStateException(this + ": the server gave " + count + " bytes, " + reply);
        }
        require(verification == Verification.LENGTH || pattern.isPiece(payload, seed), "the payload has other bytes");
    }

    private void require(boolean right, String wrong) {
        if (!right) {
            throw new IllegalStateException(this + ": " + wrong);
        }
    }

    @Override
    public String toString() {
        return kind + " of " + payload.byteSize() + " bytes, seed " + seed;
    }
}
