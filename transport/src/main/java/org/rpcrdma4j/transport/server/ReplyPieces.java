// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/**
 * An RPC reply message as the program gives it: its bytes in order, with the eligible results apart, so that the transport can put
 * those into Write chunks.
 *
 * <p>{@link #data} are bytes of the stream, pads included; each run of them ends on a multiple of four. {@link #item} is an eligible
 * result: the length word belongs to the data before it, its pad is added by the transport where it is needed.
 *
 * <p>A carrier: its owner fills it, replies with it and uses it again. Not for two threads at a time.
 */
public final class ReplyPieces {

    private static final MemorySegment[] NONE = {};
    private static final MemorySegment EMPTY = MemorySegment.ofArray(new byte[0]);

    private static final byte DATA = 0;
    private static final byte ITEM = 1;
    private static final byte MORE = 2;

    private MemorySegment[] pieces = NONE;
    private byte[] kinds = new byte[0];
    private int size;
    private boolean hasItems;
    private final ArrayList<MemorySegment> payload = new ArrayList<>(0);
    private @Nullable Runnable released;

    /** Empty. */
    public ReplyPieces() {}

    /** Appends bytes of the stream. Empty ones are left out. */
    public ReplyPieces data(MemorySegment piece) {
        return piece.byteSize() == 0 ? this : add(piece, DATA);
    }

    /** Appends an eligible result's payload, without its pad. It may be empty: an empty result takes no Write chunk. */
    public ReplyPieces item(MemorySegment payload) {
        hasItems = true;
        return add(payload, ITEM);
    }

    /** Appends more bytes to the item given last, which lies in several pieces. */
    public ReplyPieces more(MemorySegment payload) {
        if (size == 0 || kinds[size - 1] == DATA) {
            throw new IllegalStateException("no item to add to");
        }
        return add(payload, MORE);
    }

    /** Appends a whole message as it was written: the parts as data, the items as items. */
    public ReplyPieces message(XdrWriter message) {
        data(message.part(0));
        for (int i = 0; i < message.items(); i++) {
            message.itemPieces(i, payload);
            item(payload.isEmpty() ? EMPTY : payload.getFirst());
            for (int part = 1; part < payload.size(); part++) {
                more(payload.get(part));
            }
            payload.clear();
            data(message.part(i + 1));
        }
        return this;
    }

    /**
     * Sets what is run once, when none of the memory given is used any more: after the reply is on its way, or has failed. With it,
     * native memory is sent from where it lies; without it, memory that did not come from {@link ServerRequest#allocate} is copied
     * before {@link ServerRequest#reply} returns. It is run on some thread and must not block.
     */
    public ReplyPieces whenReleased(Runnable task) {
        released = task;
        return this;
    }

    /** Empties it. */
    public ReplyPieces clear() {
        Arrays.fill(pieces, 0, size, MemorySegment.NULL);
        size = 0;
        hasItems = false;
        released = null;
        return this;
    }

    private ReplyPieces add(MemorySegment piece, byte kind) {
        if (size == pieces.length) {
            int capacity = Math.max(4, 2 * size);
            MemorySegment[] larger = Arrays.copyOf(pieces, capacity);
            Arrays.fill(larger, size, capacity, MemorySegment.NULL);
            pieces = larger;
            kinds = Arrays.copyOf(kinds, capacity);
        }
        pieces[size] = piece;
        kinds[size] = kind;
        size++;
        return this;
    }

    /** How many pieces. */
    public int size() {
        return size;
    }

    /** The bytes of a piece. */
    public MemorySegment piece(int i) {
        return pieces[i];
    }

    /** Whether a piece begins an eligible result. */
    public boolean isItem(int i) {
        return kinds[i] == ITEM;
    }

    /** Whether any piece begins an eligible result. */
    public boolean hasItems() {
        return hasItems;
    }

    /** Whether a piece goes on with the item before it. */
    public boolean isMore(int i) {
        return kinds[i] == MORE;
    }

    /** Index of the first piece behind the one at {@code i}; for an item, behind all of its pieces. */
    public int end(int i) {
        int next = i + 1;
        while (next < size && kinds[next] == MORE) {
            next++;
        }
        return next;
    }

    /** Bytes of the pieces from {@code from} up to, not including, {@code to}. */
    public long bytes(int from, int to) {
        long bytes = 0;
        for (int i = from; i < to; i++) {
            bytes += pieces[i].byteSize();
        }
        return bytes;
    }

    /** Bytes of the whole, unreduced message, with all pads. */
    public long streamBytes() {
        long bytes = 0;
        int next;
        for (int i = 0; i < size; i = next) {
            next = end(i);
            long length = bytes(i, next);
            bytes += kinds[i] == DATA ? length : XdrReader.padded(length);
        }
        return bytes;
    }

    @Nullable
    Runnable released() {
        return released;
    }
}
