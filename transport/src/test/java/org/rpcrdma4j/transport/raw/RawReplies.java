// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Replies of a raw server, as scripts need them. */
public final class RawReplies {

    private RawReplies() {}

    /** An inline reply without results. */
    public static Words plain(RawMessage call, int credits) {
        return Words.inline(call.xid(), credits).add(Words.reply(call.xid(), 0));
    }

    /** A reply without results, for which nothing was written: the lists of the call come back unused. */
    public static Words withoutResults(RawMessage call, int credits) {
        int segments = call.writeList().stream().mapToInt(List::size).sum();
        return lists(call, credits, Words.RDMA_MSG, Collections.nCopies(segments, 0))
                .add(Words.reply(call.xid(), 0));
    }

    /** The lists of the call with the given lengths of the segments of its Write chunks and of its Reply chunk. */
    public static Words lists(
            RawMessage call, int credits, int procedure, List<Integer> writeLengths, int... replyLengths) {
        Words header = Words.header(call.xid(), 1, credits, procedure).end();
        int next = 0;
        for (List<Segment> chunk : call.writeList()) {
            header.u32(1, chunk.size());
            for (Segment segment : chunk) {
                header.u32(segment.handle(), writeLengths.get(next++)).u64(segment.offset());
            }
        }
        header.end();
        @Nullable List<Segment> reply = call.replyChunk();
        if (reply == null) {
            return header.end();
        }
        header.u32(1, reply.size());
        for (int i = 0; i < reply.size(); i++) {
            Segment segment = reply.get(i);
            header.u32(segment.handle(), i < replyLengths.length ? replyLengths[i] : 0)
                    .u64(segment.offset());
        }
        return header;
    }

    /** The procedure word of an inline call of RPC; -1 if it has none. */
    public static int procedureOf(RawMessage call) {
        return call.procedure() == Words.RDMA_MSG && call.body().length >= 24
                ? call.rpc().word(5)
                : -1;
    }
}
