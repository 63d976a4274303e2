// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The last way of a reply that did not come where its caller wants it: copied there outside the monitor, when its memory is shut. */
record Landing(
        BounceBuffers bounces,
        CallMessage message,
        @Nullable MemorySegment targetBounce,
        @Nullable MemorySegment replyBounce,
        boolean isReplyInPlace) {

    /** Copies, gives the bounce buffers back, and returns the reply as the caller gets it. */
    Reply land(Reply reply) {
        try {
            MemorySegment landed = landMessage(reply.message());
            long bytes = reply.messageBytes();
            if (targetBounce != null) {
                landTarget(targetBounce, reply.placedBytes());
            }
            return new Reply(landed, bytes, reply.placedBytes(), reply.transmissions());
        } finally {
            giveBack(targetBounce);
            giveBack(replyBounce);
        }
    }

    private void giveBack(@Nullable MemorySegment bounce) {
        if (bounce != null) {
            bounces.giveBack(bounce);
        }
    }

    private MemorySegment landMessage(MemorySegment came) {
        MemorySegment wanted = message.replyBuffer();
        if (isReplyInPlace) {
            return came;
        }
        if (wanted != null) {
            return wanted.asSlice(0, came.byteSize()).copyFrom(came);
        }
        // A reply in a bounce buffer, which another call will need.
        return replyBounce != null && came.isNative() ? MemorySegment.ofArray(came.toArray(JAVA_BYTE)) : came;
    }

    private void landTarget(MemorySegment from, long bytes) {
        List<MemorySegment> target = message.target();
        long at = 0;
        for (MemorySegment piece : target == null ? List.<MemorySegment>of() : target) {
            long length = Math.min(piece.byteSize(), bytes - at);
            MemorySegment.copy(from, at, piece, 0, length);
            at += length;
        }
    }
}
