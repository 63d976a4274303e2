// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.util.Arrays;
import java.util.function.IntPredicate;
import org.rpcrdma4j.transport.wire.HeaderEncoder;
import org.rpcrdma4j.transport.wire.Procedure;
import org.rpcrdma4j.transport.wire.Segments;
import org.rpcrdma4j.transport.wire.TransportHeader;
import org.rpcrdma4j.transport.wire.WriteList;
import org.rpcrdma4j.transport.xdr.XdrReader;

/**
 * Decides how a reply travels, and makes the call's header that of the reply.
 *
 * <p>RFC 8166, Section 3.5.3: first eligible results go to the Write chunks, then the form for the rest is chosen: inline if it fits,
 * else the Reply chunk, else nothing but an error is possible.
 *
 * <p>Section 4.3.2.2: a result takes the next unused Write chunk; one without bytes takes none, and chunks left over go back with lengths
 * of 0. So does Linux; RFC 8267, Section 6.4.1 reads otherwise (see the conformance table). Section 4.3.2.3: a chunk without segments asks
 * for the result inline.
 *
 * <p>A carrier of its request slot; pure, and used by one thread at a time.
 */
final class ReplyPlanner {

    /** The form of a reply. */
    enum Form {
        /** RDMA_MSG. */
        INLINE,
        /** RDMA_NOMSG with the Reply chunk. */
        REPLY_CHUNK,
        /** ERR_CHUNK: what the client offered is not enough. */
        DOES_NOT_FIT
    }

    private static final int NO_CHUNK = -1;

    /** For each piece that begins an item: the Write chunk that takes it, or -1. */
    private int[] chunkOfPiece = new int[4];

    private long restBytes;
    private long chunkBytes;

    /**
     * Plans a reply.
     *
     * @param header the call's; becomes the reply's unless the reply does not fit
     * @param mayReduce whether the item beginning with a piece may go into a Write chunk
     * @param threshold longest message that this client receives and we send
     */
    Form plan(TransportHeader header, ReplyPieces reply, IntPredicate mayReduce, int threshold) {
        WriteList writes = header.writeList();
        if (!assign(writes, reply, mayReduce)) {
            return Form.DOES_NOT_FIT;
        }
        int headerBytes = HeaderEncoder.length(
                0,
                writes.chunks(),
                writes.segments().size(),
                header.hasReplyChunk() ? header.replyChunk().size() : HeaderEncoder.NO_REPLY_CHUNK);
        Segments replyChunk = header.replyChunk();
        Form form;
        if (headerBytes + restBytes <= threshold) {
            form = Form.INLINE;
        } else if (headerBytes <= threshold && restBytes <= replyChunk.totalLength()) {
            form = Form.REPLY_CHUNK;
        } else {
            // RFC 8166, Section 4.5.3: noticed before anything is written.
            return Form.DOES_NOT_FIT;
        }
        // RFC 8166, Section 4.3.1: the Read list of a reply is empty.
        header.readList().clear();
        header.procedure(form == Form.INLINE ? Procedure.RDMA_MSG : Procedure.RDMA_NOMSG);
        fillChunks(writes, reply);
        // RFC 8166, Section 4.3.3: the Reply chunk goes back with true lengths, used or not.
        replyChunk.fill(0, replyChunk.size(), form == Form.INLINE ? 0 : restBytes);
        return form;
    }

    /** Gives items to chunks; false if an item is larger than the chunk that it has to go to. */
    private boolean assign(WriteList writes, ReplyPieces reply, IntPredicate mayReduce) {
        if (chunkOfPiece.length < reply.size()) {
            chunkOfPiece = new int[Math.max(reply.size(), 2 * chunkOfPiece.length)];
        }
        restBytes = 0;
        chunkBytes = 0;
        int nextChunk = 0;
        int next;
        for (int i = 0; i < reply.size(); i = next) {
            next = reply.end(i);
            long length = reply.bytes(i, next);
            chunkOfPiece[i] = NO_CHUNK;
            if (!reply.isItem(i)) {
                restBytes += length;
                continue;
            }
            if (length > 0 && nextChunk < writes.chunks() && mayReduce.test(i)) {
                int chunk = nextChunk++;
                if (writes.segmentCount(chunk) > 0) {
                    // Never a part of a result.
                    if (length > writes.chunkLength(chunk)) {
                        return false;
                    }
                    chunkOfPiece[i] = chunk;
                    chunkBytes += length;
                    continue;
                }
            }
            restBytes += XdrReader.padded(length);
        }
        return true;
    }

    /** RFC 8166, Section 3.4.6: lengths become the bytes written; handles, offsets and the number of segments stay. */
    private void fillChunks(WriteList writes, ReplyPieces reply) {
        int filled = 0;
        int next;
        for (int i = 0; i < reply.size(); i = next) {
            next = reply.end(i);
            int chunk = chunkOfPiece[i];
            if (chunk != NO_CHUNK) {
                unuse(writes, filled, chunk);
                writes.fillChunk(chunk, reply.bytes(i, next));
                filled = chunk + 1;
            }
        }
        unuse(writes, filled, writes.chunks());
    }

    private static void unuse(WriteList writes, int from, int to) {
        for (int chunk = from; chunk < to; chunk++) {
            writes.fillChunk(chunk, 0);
        }
    }

    /** The Write chunk that takes the item beginning with this piece, or -1 if it stays in the stream. */
    int chunkOf(int piece) {
        return chunkOfPiece[piece];
    }

    /** Bytes of the reduced message. */
    long restBytes() {
        return restBytes;
    }

    /** Bytes that go into Write chunks. */
    long chunkBytes() {
        return chunkBytes;
    }

    @Override
    public String toString() {
        return restBytes + " bytes of message, " + chunkBytes + " in chunks " + Arrays.toString(chunkOfPiece);
    }
}
