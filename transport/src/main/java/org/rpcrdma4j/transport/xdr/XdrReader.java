// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.xdr;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.xdr.XdrException.Reason;

/**
 * Reads XDR (RFC 4506) from a message that lies in several pieces of memory, cut at any byte.
 *
 * <p>Nothing is copied where an item lies in one piece: what is returned then is a slice of the caller's memory and lives as long as
 * that. Every length is checked against its bound and the bytes at hand before anything is allocated or skipped; the only exception for
 * any input is {@link XdrException}. After one the position is undefined.
 *
 * <p>{@link #position} counts in the <em>unreduced</em> stream: bytes that a chunk carries and that the pieces don't hold are passed over
 * with {@link #skipAbsent}.
 *
 * <p>Reused by {@link #reset}; used by one thread at a time. The list of pieces is read, not kept changed or copied: it must stay as it is
 * while the reader is used.
 */
public final class XdrReader {

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong HYPER = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    /** An item that's cut between pieces and larger than this isn't copied together; {@link #readPieces} takes any. */
    private static final long LARGEST_COPY = 1L << 30;
    /** The longest opaque with its pad. */
    private static final long LARGEST_ABSENT = 1L << 32;

    private static final MemorySegment EMPTY = MemorySegment.ofArray(new byte[0]);

    private @Nullable List<MemorySegment> pieces;
    private int nextPiece;
    private MemorySegment piece = EMPTY;
    private long offset;
    private long pieceLength;
    private long remaining;
    private long position;

    /** A reader of nothing. */
    public XdrReader() {}

    /** A reader of the one piece. */
    public XdrReader(MemorySegment message) {
        reset(message);
    }

    /** A reader of the pieces, one after the other. */
    public XdrReader(List<MemorySegment> pieces) {
        reset(pieces);
    }

    /** Begins anew with one piece, at position 0. */
    public void reset(MemorySegment message) {
        pieces = null;
        begin(message, message.byteSize());
    }

    /** Begins anew with the first bytes of one piece, at position 0. */
    public void reset(MemorySegment message, long length) {
        Objects.checkIndex(length, message.byteSize() + 1);
        pieces = null;
        begin(message, length);
        pieceLength = length;
    }

    /** Begins anew with the pieces, at position 0. */
    public void reset(List<MemorySegment> newPieces) {
        long total = 0;
        for (int i = 0; i < newPieces.size(); i++) {
            total = Math.addExact(total, newPieces.get(i).byteSize());
        }
        pieces = newPieces;
        begin(EMPTY, total);
    }

    /** Lets go of the memory. */
    public void clear() {
        pieces = null;
        begin(EMPTY, 0);
    }

    private void begin(MemorySegment first, long total) {
        nextPiece = 0;
        piece = first;
        offset = 0;
        pieceLength = first.byteSize();
        remaining = total;
        position = 0;
    }

    /** Position in the unreduced stream. */
    public long position() {
        return position;
    }

    /** Bytes that are left in the pieces. */
    public long remaining() {
        return remaining;
    }

    /** The item's length with its pad. */
    public static long padded(long length) {
        return (length + 3) & ~3L;
    }

    /** An int, or an unsigned one whose bits are wanted. */
    public int readInt() throws XdrException {
        require(4);
        int value;
        if (pieceLength - offset >= 4) {
            value = piece.get(INT, offset);
            offset += 4;
            advance(4);
        } else {
            value = (nextByte() << 24) | (nextByte() << 16) | (nextByte() << 8) | nextByte();
        }
        return value;
    }

    /** An unsigned int. */
    public long readUnsignedInt() throws XdrException {
        return readInt() & 0xffff_ffffL;
    }

    /** A hyper, signed or unsigned. */
    public long readHyper() throws XdrException {
        require(8);
        if (pieceLength - offset >= 8) {
            long value = piece.get(HYPER, offset);
            offset += 8;
            advance(8);
            return value;
        }
        long high = readUnsignedInt();
        return (high << 32) | readUnsignedInt();
    }

    /** RFC 4506, Section 4.4: a bool is 0 or 1 and nothing else. */
    public boolean readBool() throws XdrException {
        int value = readInt();
        if ((value & ~1) != 0) {
            throw bad("bool", value);
        }
        return value == 1;
    }

    /** RFC 4506, Section 4.3: an enum whose declared values are {@code low}, {@code low + 1} … {@code high}. */
    public int readEnum(int low, int high) throws XdrException {
        int value = readInt();
        if (value < low || value > high) {
            throw bad("enum", value);
        }
        return value;
    }

    /**
     * The count word of an array.
     *
     * <p>RFC 4506, Section 4.13: the count is bounded; and so many elements of the smallest size must be there.
     */
    public int readCount(long most, int smallestElement) throws XdrException {
        long count = readUnsignedInt();
        if (count > most || count > Integer.MAX_VALUE) {
            throw beyond("count", count, Math.min(most, Integer.MAX_VALUE));
        }
        if (count * smallestElement > remaining) {
            throw tooShort(count * smallestElement);
        }
        return (int) count;
    }

    /**
     * The count word of an opaque or string of at most so many bytes; the bytes and their pad are there and still to be read.
     *
     * <p>RFC 4506, Section 4.10.
     */
    public long readLength(long most) throws XdrException {
        long length = readDeclaredLength(most);
        require(padded(length));
        return length;
    }

    /** The count word of an opaque or string of at most so many bytes; a chunk may carry the bytes, so they need not be here. */
    public long readDeclaredLength(long most) throws XdrException {
        long length = readUnsignedInt();
        if (length > most) {
            throw beyond("length", length, most);
        }
        return length;
    }

    /** An opaque of at most so many bytes: a slice if it lies in one piece, a copy otherwise. */
    public MemorySegment readOpaque(long most) throws XdrException {
        return readFixedOpaque(readLength(most));
    }

    /** RFC 4506, Section 4.9: an opaque of exactly that many bytes; there is no count word. */
    public MemorySegment readFixedOpaque(long length) throws XdrException {
        require(padded(length));
        MemorySegment value = take(length);
        // RFC 4506, Section 3: pad bytes are zero, but RFC 8166, Section 8.2.2.3 allows others: they are never looked
        // at.
        pass(padded(length) - length);
        return value;
    }

    /** A string of at most so many bytes, read as UTF-8; what isn't UTF-8 becomes U+FFFD. */
    public String readString(int most) throws XdrException {
        long length = readLength(most);
        byte[] bytes = new byte[(int) length];
        copy(bytes, bytes.length);
        pass(padded(length) - length);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** Takes that many bytes as they lie, without copying: adds their slices to the list. */
    public void readPieces(long length, List<MemorySegment> into) throws XdrException {
        require(length);
        long left = length;
        while (left > 0) {
            settle();
            long n = Math.min(left, pieceLength - offset);
            into.add(piece.asSlice(offset, n));
            offset += n;
            advance(n);
            left -= n;
        }
    }

    /** Copies the bytes that come next, as many as there are and the array holds, and stays where it is. Returns their number. */
    public int peek(byte[] into) {
        int wanted = (int) Math.min(into.length, remaining);
        List<MemorySegment> all = pieces;
        MemorySegment from = piece;
        long at = offset;
        long end = pieceLength;
        int next = nextPiece;
        int done = 0;
        while (done < wanted) {
            while (at == end && all != null) {
                from = all.get(next++);
                at = 0;
                end = from.byteSize();
            }
            int n = (int) Math.min(wanted - done, end - at);
            MemorySegment.copy(from, ValueLayout.JAVA_BYTE, at, into, done, n);
            at += n;
            done += n;
        }
        return wanted;
    }

    /** Passes over that many bytes. */
    public void skip(long length) throws XdrException {
        require(length);
        pass(length);
    }

    /** Passes over an opaque of at most so many bytes; returns its length. */
    public long skipOpaque(long most) throws XdrException {
        long length = readLength(most);
        pass(padded(length));
        return length;
    }

    /** Moves the position on by bytes of the unreduced stream that the pieces don't hold. */
    public void skipAbsent(long length) throws XdrException {
        if (length < 0 || length > LARGEST_ABSENT) {
            throw beyond("absent length", length, LARGEST_ABSENT);
        }
        position += length;
    }

    /** The message must end here. */
    public void requireEnd() throws XdrException {
        if (remaining != 0) {
            throw new XdrException(Reason.TRAILING_BYTES, remaining + " bytes behind the last item, at " + position);
        }
    }

    /** An exception for a value that isn't declared, which was read just now. */
    public XdrException bad(String what, int value) {
        return new XdrException(
                Reason.BAD_VALUE,
                what + " " + Integer.toUnsignedString(value) + " before position " + position + " is not declared");
    }

    private XdrException beyond(String what, long value, long most) {
        return new XdrException(
                Reason.OUT_OF_BOUNDS,
                what + " " + Long.toUnsignedString(value) + " before position " + position + " exceeds " + most);
    }

    private XdrException tooShort(long wanted) {
        return new XdrException(
                Reason.TOO_SHORT, wanted + " bytes wanted at position " + position + ", " + remaining + " are left");
    }

    private void require(long length) throws XdrException {
        if (length > remaining || length < 0) {
            throw tooShort(length);
        }
    }

    private void advance(long length) {
        position += length;
        remaining -= length;
    }

    /** Makes {@link #piece} one with bytes left; there are some. */
    private void settle() {
        List<MemorySegment> all = pieces;
        while (offset == pieceLength && all != null) {
            piece = all.get(nextPiece++);
            offset = 0;
            pieceLength = piece.byteSize();
        }
    }

    private int nextByte() {
        settle();
        advance(1);
        return piece.get(ValueLayout.JAVA_BYTE, offset++) & 0xff;
    }

    private void pass(long length) {
        long left = length;
        while (left > 0) {
            settle();
            long n = Math.min(left, pieceLength - offset);
            offset += n;
            left -= n;
        }
        advance(length);
    }

    private MemorySegment take(long length) throws XdrException {
        if (length == 0) {
            return EMPTY;
        }
        settle();
        if (pieceLength - offset >= length) {
            MemorySegment slice = piece.asSlice(offset, length);
            offset += length;
            advance(length);
            return slice;
        }
        if (length > LARGEST_COPY) {
            throw beyond("length of a cut item", length, LARGEST_COPY);
        }
        byte[] bytes = new byte[(int) length];
        copy(bytes, bytes.length);
        return MemorySegment.ofArray(bytes);
    }

    private void copy(byte[] into, int length) {
        int done = 0;
        while (done < length) {
            settle();
            int n = (int) Math.min(length - done, pieceLength - offset);
            MemorySegment.copy(piece, ValueLayout.JAVA_BYTE, offset, into, done, n);
            offset += n;
            done += n;
        }
        advance(length);
    }
}
