// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.ReplyReader;
import org.rpcrdma4j.transport.rpc.RpcException;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.ulb.ItemSink;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;

/**
 * Which of the items that the program marked in its reply may really go into Write chunks: RFC 8166, Section 6.1 forbids to reduce any other,
 * whatever the program thinks. An item that the binding does not name stays in the stream.
 *
 * <p>One for each request slot that needs it; used by one thread at a time.
 */
final class EligibleResults implements ItemSink {

    private static final MemorySegment ZEROS =
            MemorySegment.ofArray(new byte[4]).asReadOnly();

    private final Bindings bindings;
    private final XdrReader reader = new XdrReader();
    private final List<MemorySegment> stream = new ArrayList<>();
    /** For each piece: where it begins in the unreduced stream. */
    private long[] positions = new long[4];

    private boolean[] eligible = new boolean[4];
    private ReplyPieces reply = new ReplyPieces();

    EligibleResults(Bindings bindings) {
        this.bindings = bindings;
    }

    /** Looks at a reply; {@link #isEligible} answers for it until the next look. */
    void look(List<MemorySegment> call, ReplyPieces newReply) {
        reply = newReply;
        layOut();
        reader.reset(call);
        try {
            if (CallHeader.decode(reader) instanceof CallHeader header) {
                reader.reset(stream);
                ReplyReader.readHeader(reader, header.xid());
                bindings.find(header).resultItems(header, reader, this);
            }
        } catch (RpcException | XdrException e) {
            // What was found before it stands.
        } finally {
            reader.clear();
            stream.clear();
        }
    }

    private void layOut() {
        int size = reply.size();
        if (positions.length < size) {
            positions = new long[2 * size];
            eligible = new boolean[2 * size];
        }
        Arrays.fill(eligible, 0, size, false);
        long position = 0;
        int next;
        for (int i = 0; i < size; i = next) {
            next = reply.end(i);
            long begin = position;
            for (int part = i; part < next; part++) {
                positions[part] = position;
                stream.add(reply.piece(part));
                position += reply.piece(part).byteSize();
            }
            if (reply.isItem(i)) {
                long pad = XdrReader.padded(position - begin) - (position - begin);
                if (pad > 0) {
                    stream.add(ZEROS.asSlice(0, pad));
                    position += pad;
                }
            }
        }
    }

    @Override
    public boolean item(long position, long length) {
        for (int i = 0; i < reply.size(); i++) {
            if (positions[i] == position && reply.isItem(i) && reply.bytes(i, reply.end(i)) == length) {
                eligible[i] = true;
            }
        }
        return false;
    }

    /** Whether the item that begins with the piece may be reduced. */
    boolean isEligible(int piece) {
        return eligible[piece];
    }
}
