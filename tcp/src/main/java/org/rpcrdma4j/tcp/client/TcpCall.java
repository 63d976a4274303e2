// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.client;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.client.TransportException;
import org.rpcrdma4j.transport.time.Deadlines;
import org.rpcrdma4j.transport.xdr.XdrReader;

/**
 * One call from {@code send} to its end.
 *
 * <pre>
 *   WAITING ──► on a connection ──(reply)───────────────► decided ──(nobody writes or reads its memory)──► ended
 *      ▲              │  └──────(deadline, cancel, close)────▲
 *      └─(lost)───────┘
 * </pre>
 *
 * <p>What it ends with is decided once; it ends when, besides, the connection neither reads its item nor writes its target. All fields but
 * the first are the {@link TcpRequester}'s, in its monitor; {@link #isDecided} is for the reader of the connection too.
 */
final class TcpCall extends Deadlines.Entry {

    /** Head and tail of up to so many bytes are copied, so that they are the caller's again after {@code send}. */
    private static final long LARGEST_COPIED = 4096;

    /** Stands for any other thread: memory that it may not use, the connection's threads may not use either. */
    private static final Thread ANY_OTHER = Thread.ofPlatform().unstarted(() -> {});

    private static final MemorySegment ZEROS =
            MemorySegment.ofArray(new byte[4]).asReadOnly();

    final CallMessage message;
    final int xid;
    final TcpPendingReply future;
    private final List<MemorySegment> pieces = new ArrayList<>();
    /** The connection that it was given to; null while it waits. */
    @Nullable
    TcpConnection connection;

    /** How often its bytes began to be written. */
    int transmissions;

    boolean isWriting;
    boolean isReading;
    private volatile boolean decided;

    @Nullable
    Reply reply;

    @Nullable
    TransportException failure;

    TcpCall(CallMessage message, TcpPendingReply future) {
        this.message = message;
        this.future = future;
        xid = message.xid();
        pieces.add(owned(message.head()));
        pieces.addAll(message.item());
        long pad = XdrReader.padded(message.itemBytes()) - message.itemBytes();
        if (pad > 0) {
            pieces.add(ZEROS.asSlice(0, pad));
        }
        if (message.tail().byteSize() > 0) {
            pieces.add(owned(message.tail()));
        }
    }

    private static MemorySegment owned(MemorySegment bytes) {
        return bytes.byteSize() <= LARGEST_COPIED ? MemorySegment.ofArray(bytes.toArray(ValueLayout.JAVA_BYTE)) : bytes;
    }

    /** The whole message; the first piece holds the RPC header. */
    List<MemorySegment> pieces() {
        return pieces;
    }

    /** Whether the connection's threads can use its memory. */
    boolean isMemoryShared() {
        List<MemorySegment> target = message.target();
        return areShared(pieces) && (target == null || areShared(target));
    }

    private static boolean areShared(List<MemorySegment> all) {
        for (MemorySegment piece : all) {
            if (!piece.isAccessibleBy(ANY_OTHER) || !piece.scope().isAlive()) {
                return false;
            }
        }
        return true;
    }

    /** Whether it is known what it ends with; then nothing more is to be read for it. */
    boolean isDecided() {
        return decided;
    }

    void decide(@Nullable Reply newReply, @Nullable TransportException newFailure) {
        reply = newReply;
        failure = newFailure;
        decided = true;
    }

    /** Whether it has an end to tell and its memory is in nobody's use. */
    boolean isOver() {
        return decided && !isWriting && !isReading;
    }

    /** Tells the caller. Outside the monitor. */
    void tell() {
        Reply answer = reply;
        TransportException end = failure;
        if (answer != null) {
            future.succeed(answer);
        } else if (end != null) {
            future.fail(end);
        }
    }

    @Override
    public String toString() {
        return "call 0x" + Integer.toHexString(xid) + ", sent " + transmissions + " times"
                + (isWriting ? ", writing" : "") + (isReading ? ", reading" : "") + (decided ? ", decided" : "");
    }
}
