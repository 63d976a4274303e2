// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.dcache.oncrpc4j.grizzly.GrizzlyMemoryManager;
import org.dcache.oncrpc4j.xdr.BadXdrOncRpcException;
import org.glassfish.grizzly.Buffer;

/**
 * A message that came over RDMA: pieces of memory, chunks each in one of their own. Index 0 of its buffer is the XID.
 *
 * <p>{@code xdrDecodeByteBuffer} gives a view of the piece that the bytes lie in, and copies only what lies in several. Nothing is written into
 * the pieces. A piece that is only borrowed, which goes back to its pool when the message has been looked at, is copied from.
 *
 * <p>Used by one thread at a time.
 */
class ReceivedXdr extends CheckedXdr {

    private static final int NONE = -1;

    private final List<ByteBuffer> views;
    private final int[] begins;
    private int borrowed = NONE;
    private int decodedTo;

    ReceivedXdr(List<MemorySegment> pieces) {
        this(viewsOf(pieces), true);
    }

    @SuppressWarnings("unused") // distinguishes the constructors, whose lists erase to the same type
    private ReceivedXdr(List<ByteBuffer> views, boolean areViews) {
        super(MessagePieces.join(GrizzlyMemoryManager.getDefaultMemoryManager(), views));
        this.views = views;
        begins = new int[views.size() + 1];
        for (int i = 0; i < views.size(); i++) {
            begins[i + 1] = begins[i] + views.get(i).remaining();
        }
    }

    private static List<ByteBuffer> viewsOf(List<MemorySegment> pieces) {
        List<ByteBuffer> views = new ArrayList<>(pieces.size());
        for (MemorySegment piece : pieces) {
            if (piece.byteSize() > 0) {
                views.add(piece.asByteBuffer());
            }
        }
        return views;
    }

    /** Says that the piece which begins at the position is only borrowed. */
    final void borrow(int position) {
        borrowed = pieceAt(position);
    }

    /** Whether what was borrowed has been decoded, and so is not needed any more. */
    final boolean isBorrowedDecoded() {
        return borrowed != NONE && Math.max(decodedTo, _buffer.position()) >= begins[borrowed + 1];
    }

    private int pieceAt(int position) {
        int piece = 0;
        while (piece < views.size() - 1 && begins[piece + 1] <= position) {
            piece++;
        }
        return piece;
    }

    @Override
    public void endDecoding() {
        decodedTo = Math.max(decodedTo, _buffer.position());
        super.endDecoding();
    }

    @Override
    public ByteBuffer xdrDecodeByteBuffer() throws BadXdrOncRpcException {
        int length = decodeLength();
        int position = _buffer.position();
        int piece = pieceAt(position);
        ByteBuffer result;
        if (length == 0) {
            result = ByteBuffer.allocate(0);
        } else if (piece != borrowed && position + length <= begins[piece + 1]) {
            result = views.get(piece).slice(position - begins[piece], length);
        } else {
            byte[] copy = new byte[length];
            _buffer.get(copy);
            result = ByteBuffer.wrap(copy);
        }
        _buffer.position(position + padded(length));
        return result;
    }

    /** The buffer under it at this moment. */
    final Buffer currentBuffer() {
        return _buffer;
    }
}
