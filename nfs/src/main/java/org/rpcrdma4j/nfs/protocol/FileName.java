// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** What a directory calls a file by (filename3): bytes, of no declared encoding. Immutable; equal if the bytes are; in the order of unsigned bytes. */
public final class FileName implements XdrValue, Comparable<FileName> {

    private final byte[] bytes;
    private final int hash;

    private FileName(byte[] bytes) {
        this.bytes = bytes;
        hash = Arrays.hashCode(bytes);
    }

    /** The text in UTF-8. */
    public static FileName of(String text) {
        return new FileName(text.getBytes(StandardCharsets.UTF_8));
    }

    /** A copy of the bytes. */
    public static FileName of(byte[] bytes) {
        return new FileName(bytes.clone());
    }

    /** A copy of the bytes. */
    public static FileName of(MemorySegment bytes) {
        return new FileName(RawBytes.toArray(bytes));
    }

    /** Reads one. What a server does not take as a name, such as an empty one, is for it to say by a status. */
    public static FileName read(XdrReader in) throws XdrException {
        return new FileName(RawBytes.read(in, Nfs3.MAX_NAME_BYTES));
    }

    @Override
    public void write(XdrWriter out) {
        out.writeOpaque(bytes);
    }

    /** Bytes on the wire. */
    public int encodedBytes() {
        return 4 + (int) XdrReader.padded(bytes.length);
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

    /** Whether it is {@code .} or {@code ..} (RFC 1813, Section 3.2). */
    public boolean isDots() {
        return (bytes.length == 1 || (bytes.length == 2 && bytes[1] == '.')) && bytes[0] == '.';
    }

    /** Whether it can name an entry that a client makes: not empty, no slash, no zero byte, not {@code .} and not {@code ..}. */
    public boolean isPlain() {
        if (bytes.length == 0 || isDots()) {
            return false;
        }
        for (byte b : bytes) {
            if (b == '/' || b == 0) {
                return false;
            }
        }
        return true;
    }

    /** The bytes as text, if they are UTF-8 that can be printed; other bytes as {@code \xHH}. For people; not reversible. */
    @Override
    public String toString() {
        return RawBytes.escape(bytes);
    }

    @Override
    public int compareTo(FileName that) {
        return Arrays.compareUnsigned(bytes, that.bytes);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof FileName that && hash == that.hash && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return hash;
    }
}
