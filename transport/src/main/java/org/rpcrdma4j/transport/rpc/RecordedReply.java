// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import java.lang.foreign.MemorySegment;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/**
 * A reply message as its procedure wrote it: the unreduced bytes, and where in them the eligible items lie, so that each transmission can
 * place them anew. Immutable.
 */
final class RecordedReply {

    private static final int[] NO_ITEMS = {};

    private final byte[] message;
    /** Position and length of each item. */
    private final int[] items;

    private RecordedReply(byte[] message, int[] items) {
        this.message = message;
        this.items = items;
    }

    /** A copy of what was written. */
    static RecordedReply of(XdrWriter reply) {
        int[] items = reply.items() == 0 ? NO_ITEMS : new int[2 * reply.items()];
        for (int i = 0; i < reply.items(); i++) {
            items[2 * i] = Math.toIntExact(reply.itemPosition(i));
            items[2 * i + 1] = Math.toIntExact(reply.itemLength(i));
        }
        return new RecordedReply(reply.toByteArray(), items);
    }

    /** The answer to a call that has no other. */
    static XdrWriter systemError(int xid) {
        XdrWriter out = new XdrWriter();
        ReplyHeader.of(xid, AcceptStatus.SYSTEM_ERR).encode(out);
        return out;
    }

    /** Bytes of the unreduced message. */
    int length() {
        return message.length;
    }

    /** Writes it as it was written before. The items stay in the record's memory. */
    void writeTo(XdrWriter out) {
        MemorySegment all = MemorySegment.ofArray(message);
        int from = 0;
        for (int i = 0; i < items.length; i += 2) {
            // The count word is written with the item.
            out.writeBytes(all.asSlice(from, items[i] - Integer.BYTES - from));
            out.writeItem(all.asSlice(items[i], items[i + 1]));
            from = items[i] + (int) XdrReader.padded(items[i + 1]);
        }
        out.writeBytes(all.asSlice(from));
    }
}
