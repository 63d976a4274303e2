// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** A path as the protocols carry it: what a symbolic link says (nfspath3), or a directory to be mounted (dirpath): bytes, of no declared encoding. Immutable; equal if the bytes are; in the order of unsigned bytes. */
public final class PathBytes implements XdrValue, Comparable<PathBytes> {

    private final byte[] bytes;
    private final int hash;

    private PathBytes(byte[] bytes) {
        this.bytes = bytes;
        hash = Arrays.hashCode(bytes);
    }

    /** The text in UTF-8. */
    public static PathBytes of(String text) {
        return new PathBytes(text.getBytes(StandardCharsets.UTF_8));
    }

    /** A copy of the bytes. */
    public static PathBytes of(byte[] bytes) {
        return new PathBytes(bytes.clone());
    }

    /** A copy of the bytes. */
    public static PathBytes of(MemorySegment bytes) {
        return new PathBytes(RawBytes.toArray(bytes));
    }

    /** Reads what a symbolic link says. */
    public static PathBytes read(XdrReader in) throws XdrException {
        return read(in, Nfs3.MAX_NAME_BYTES);
    }

    /** Reads one of at most so many bytes. */
    public static PathBytes read(XdrReader in, int most) throws XdrException {
        return new PathBytes(RawBytes.read(in, most));
    }

    @Override
    public void write(XdrWriter out) {
        out.writeOpaque(bytes);
    }

    /** RFC 8267, Section 4: the path of SYMLINK and READLINK is an eligible item. */
    public void writeItem(XdrWriter out) {
        out.writeItem(MemorySegment.ofArray(bytes).asReadOnly());
    }

    /** Number of bytes. */
    public int length() {
        return bytes.length;
    }

    /** The byte at a place. */
    public byte byteAt(int index) {
        return bytes[index];
    }

    /** A copy of the bytes. */
    public byte[] bytes() {
        return bytes.clone();
    }

    /** The bytes as text, if they are UTF-8 that can be printed; other bytes as {@code \xHH}. For people; not reversible. */
    @Override
    public String toString() {
        return RawBytes.escape(bytes);
    }

    @Override
    public int compareTo(PathBytes that) {
        return Arrays.compareUnsigned(bytes, that.bytes);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof PathBytes that && hash == that.hash && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return hash;
    }
}
