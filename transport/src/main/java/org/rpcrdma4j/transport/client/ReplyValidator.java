// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.wire.Procedure;
import org.rpcrdma4j.transport.wire.TransportHeader;
import org.rpcrdma4j.transport.wire.WriteList;

/**
 * Holds the header of a reply, which could be decoded, against what its call offered. A carrier of its findings: used again for each reply
 * of a connection, inside the monitor. Looks at no payload and changes nothing.
 */
final class ReplyValidator {

    /** What is to be done with the reply. */
    enum Verdict {
        /** It is as it should be. */
        VALID,
        /** It is dropped silently, and its call goes on waiting: RFC 8166, Section 4.5. */
        DROP,
        /** It ends its call with a permanent error. */
        FAIL,
        /** As {@link #FAIL}, and the server is not to be trusted with our memory any more: the connection ends. */
        FAIL_AND_DISCONNECT
    }

    private @Nullable String reason;
    private long placedBytes;
    private long replyChunkBytes;
    private boolean hasPad;
    private boolean replyChunkMissing;

    /**
     * Looks at an RDMA_MSG or RDMA_NOMSG.
     *
     * @param hasPad whether the last segment of the Write chunk was offered for its pad
     */
    Verdict check(TransportHeader reply, TransportHeader offered, boolean hasPad) {
        this.hasPad = hasPad;
        reason = null;
        placedBytes = 0;
        replyChunkBytes = 0;
        replyChunkMissing = false;
        if (!reply.readList().isEmpty()) {
            // RFC 8166, Section 4.3.1: a reply's Read list is empty.
            return found(Verdict.DROP, "a Read list in a reply");
        }
        Verdict verdict = checkWriteList(reply, offered);
        if (verdict == Verdict.VALID) {
            verdict = checkReplyChunk(reply, offered);
        }
        return verdict;
    }

    private Verdict checkWriteList(TransportHeader reply, TransportHeader offered) {
        int chunks = reply.writeList().chunks();
        int offeredChunks = offered.writeList().chunks();
        if (chunks != offeredChunks) {
            // RFC 8166, Section 6.1: a result that was reduced though nothing was offered for it is a permanent error.
            return found(Verdict.FAIL, chunks + " Write chunks returned, " + offeredChunks + " offered");
        }
        if (!reply.writeList().isReturnOf(offered.writeList())) {
            // RFC 8166, Section 3.4.6: segments come back as they were offered, but for the lengths, which only shrink.
            return found(Verdict.FAIL_AND_DISCONNECT, "Write chunk returned " + reply + ", offered " + offered);
        }
        placedBytes = chunks == 0 ? 0 : dataBytes(reply.writeList());
        return Verdict.VALID;
    }

    /** Bytes of the result: what lies in the pad's segment is none of it. */
    private long dataBytes(WriteList returned) {
        int segments = returned.segmentCount(0);
        return returned.segments()
                .totalLength(returned.firstSegment(0), hasPad && segments > 0 ? segments - 1 : segments);
    }

    private Verdict checkReplyChunk(TransportHeader reply, TransportHeader offered) {
        boolean isLong = reply.procedure() == Procedure.RDMA_NOMSG;
        if (!reply.hasReplyChunk()) {
            if (isLong) {
                // RFC 8166, Section 4.2.4: in an RDMA_NOMSG one of the lists holds the message.
                return found(Verdict.FAIL, "an RDMA_NOMSG without a Reply chunk");
            }
            // RFC 8166, Section 4.3.3 asks for a copy of the chunk; a server that leaves it out does no harm.
            replyChunkMissing = offered.hasReplyChunk();
            return Verdict.VALID;
        }
        if (!offered.hasReplyChunk()) {
            return found(Verdict.FAIL, "a Reply chunk returned, none offered");
        }
        if (!reply.replyChunk().isReturnOf(offered.replyChunk())) {
            return found(Verdict.FAIL_AND_DISCONNECT, "Reply chunk returned " + reply + ", offered " + offered);
        }
        replyChunkBytes = reply.replyChunk().totalLength();
        if (isLong == (replyChunkBytes == 0)) {
            return found(Verdict.FAIL, reply.procedure() + " with " + replyChunkBytes + " bytes in its Reply chunk");
        }
        return Verdict.VALID;
    }

    private Verdict found(Verdict verdict, String what) {
        reason = what;
        return verdict;
    }

    /** What was wrong; null after {@link Verdict#VALID}. */
    @Nullable
    String reason() {
        return reason;
    }

    /** Bytes written into the call's target. */
    long placedBytes() {
        return placedBytes;
    }

    /** Bytes written into the call's Reply chunk. */
    long replyChunkBytes() {
        return replyChunkBytes;
    }

    /** Whether the Reply chunk that was offered did not come back. */
    boolean isReplyChunkMissing() {
        return replyChunkMissing;
    }
}
