// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The native memory that one call offers to the server: the caller's own where that can be registered, else bounce buffers that stand in
 * for it. Bounce buffers stay with the call until its end, also from one connection to the next. Used inside the monitor.
 */
final class CallMemory {

    private final BounceBuffers bounces;
    private @Nullable MemorySegment itemBounce;
    private @Nullable MemorySegment targetBounce;
    private @Nullable MemorySegment replyBounce;
    private @Nullable MemorySegment longCallBounce;
    /** Where a reply waits until the caller's buffer is shut. Never shown to the caller. */
    private MemorySegment aside = MemorySegment.ofArray(new byte[0]);

    private boolean isReplyAside;
    private boolean isReplyInPlace;
    private long copiedBytes;

    CallMemory(BounceBuffers bounces) {
        this.bounces = bounces;
    }

    /** The item in pieces that can be registered. */
    List<MemorySegment> item(CallMessage message) {
        MemorySegment bounce = itemBounce;
        if (bounce == null && areNative(message.item())) {
            return message.item();
        }
        return List.of(bounce == null ? bounceItem(message) : bounce.asSlice(0, message.itemBytes()));
    }

    /** A copy of the item in one piece; returns it. */
    MemorySegment bounceItem(CallMessage message) {
        MemorySegment bounce = bounces.take(message.itemBytes());
        itemBounce = bounce;
        copyAll(message.item(), bounce, 0);
        copiedBytes += message.itemBytes();
        return bounce.asSlice(0, message.itemBytes());
    }

    boolean hasItemBounce() {
        return itemBounce != null;
    }

    /** The target in pieces that can be registered. */
    List<MemorySegment> target(CallMessage message, List<MemorySegment> target) {
        MemorySegment bounce = targetBounce;
        if (bounce == null && areNative(target)) {
            return target;
        }
        return List.of(bounce == null ? bounceTarget(message) : bounce.asSlice(0, message.targetBytes()));
    }

    /** One piece in the target's place; returns it. */
    MemorySegment bounceTarget(CallMessage message) {
        MemorySegment bounce = bounces.take(message.targetBytes());
        targetBounce = bounce;
        return bounce.asSlice(0, message.targetBytes());
    }

    boolean hasTargetBounce() {
        return targetBounce != null;
    }

    /** Where a Long reply goes: the caller's reply buffer, or one in its place. */
    MemorySegment reply(CallMessage message, long capacity) {
        MemorySegment given = message.replyBuffer();
        if (given != null && given.isNative()) {
            return given.asSlice(0, capacity);
        }
        MemorySegment bounce = replyBounce;
        if (bounce == null) {
            bounce = bounces.take(capacity);
            replyBounce = bounce;
        }
        return bounce.asSlice(0, capacity);
    }

    /**
     * Takes the reply of an RDMA_MSG out of the receive buffer. It may go to the caller's reply buffer at once if no region is open, since
     * nobody else could write there then.
     */
    MemorySegment takeInline(CallMessage message, MemorySegment from, long offset, long length, boolean isShut) {
        MemorySegment given = message.replyBuffer();
        isReplyInPlace = given != null;
        isReplyAside = given != null && !isShut;
        MemorySegment to = given == null
                ? MemorySegment.ofArray(new byte[Math.toIntExact(length)])
                : isShut ? given : aside(length);
        MemorySegment.copy(from, offset, to, 0, length);
        return to;
    }

    private MemorySegment aside(long length) {
        if (aside.byteSize() < length) {
            aside = MemorySegment.ofArray(new byte[Math.toIntExact(length)]);
        }
        return aside;
    }

    /** Once the call's memory is shut: a reply that was put aside goes where the caller wants it. Returns where the reply is. */
    MemorySegment settle(CallMessage message, MemorySegment reply, long length) {
        MemorySegment given = message.replyBuffer();
        if (!isReplyAside || given == null) {
            return reply;
        }
        isReplyAside = false;
        MemorySegment.copy(reply, 0, given, 0, length);
        return given;
    }

    /** The reply of an RDMA_NOMSG, which lies in the memory of its Reply chunk. To be read when that is shut. */
    MemorySegment takeLong(CallMessage message) {
        isReplyAside = false;
        MemorySegment lies = replyBounce;
        isReplyInPlace = lies == null;
        if (lies == null) {
            lies = message.replyBuffer();
        }
        if (lies == null) {
            throw new IllegalStateException("no Reply chunk was offered");
        }
        return lies;
    }

    /** The whole call in one piece of registrable memory. RFC 8166, Section 3.5.3: with its pad, which is zero. */
    MemorySegment longCall(CallMessage message) {
        if (message.head().isNative() && message.head().byteSize() == message.totalBytes()) {
            return message.head();
        }
        MemorySegment bounce = longCallBounce;
        if (bounce == null) {
            bounce = bounces.take(message.totalBytes());
            longCallBounce = bounce;
            copyWhole(message, bounce, 0);
            copiedBytes += message.totalBytes();
        }
        return bounce.asSlice(0, message.totalBytes());
    }

    /** Copies the whole RPC message; returns the offset behind it. */
    static long copyWhole(CallMessage message, MemorySegment to, long offset) {
        MemorySegment head = message.head();
        MemorySegment.copy(head, 0, to, offset, head.byteSize());
        long end = copyAll(message.item(), to, offset + head.byteSize());
        // RFC 4506, Section 4.10: pad bytes are zero.
        long pad = CallMessage.roundedUp(message.itemBytes()) - message.itemBytes();
        if (pad > 0) {
            to.asSlice(end, pad).fill((byte) 0);
        }
        MemorySegment tail = message.tail();
        MemorySegment.copy(tail, 0, to, end + pad, tail.byteSize());
        return end + pad + tail.byteSize();
    }

    private static long copyAll(List<MemorySegment> pieces, MemorySegment to, long offset) {
        long at = offset;
        for (int i = 0; i < pieces.size(); i++) {
            MemorySegment piece = pieces.get(i);
            MemorySegment.copy(piece, 0, to, at, piece.byteSize());
            at += piece.byteSize();
        }
        return at;
    }

    /** Bytes copied to bounce buffers since this was asked last. */
    long takeCopiedBytes() {
        long copied = copiedBytes;
        copiedBytes = 0;
        return copied;
    }

    private static boolean areNative(List<MemorySegment> pieces) {
        for (int i = 0; i < pieces.size(); i++) {
            if (!pieces.get(i).isNative()) {
                return false;
            }
        }
        return true;
    }

    /**
     * The call has ended and its memory is shut: the bounce buffers go, by way of a {@link Landing} if their content, or the reply, has to
     * be copied for the caller. That is done outside the monitor.
     */
    @Nullable
    Landing land(CallMessage message, @Nullable Reply reply) {
        free(itemBounce);
        free(longCallBounce);
        itemBounce = null;
        longCallBounce = null;
        MemorySegment target = targetBounce;
        MemorySegment replyMemory = replyBounce;
        targetBounce = null;
        replyBounce = null;
        if (reply != null && (target != null || replyMemory != null)) {
            return new Landing(bounces, message, target, replyMemory, isReplyInPlace);
        }
        free(target);
        free(replyMemory);
        return null;
    }

    private void free(@Nullable MemorySegment bounce) {
        if (bounce != null) {
            bounces.giveBack(bounce);
        }
    }
}
