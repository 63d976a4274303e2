// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/**
 * What a server calls a file by (nfs_fh3): up to 64 bytes that mean something to it alone. Immutable; equal if the bytes are.
 *
 * <p>RFC 1813, Section 2.3.3: equal handles are the same file; unequal ones tell nothing.
 */
public final class FileHandle implements XdrValue {

    private final byte[] bytes;
    private final int hash;

    private FileHandle(byte[] bytes) {
        this.bytes = bytes;
        hash = Arrays.hashCode(bytes);
    }

    /**
     * A handle of a copy of the bytes.
     *
     * @throws IllegalArgumentException if it has none or more than 64
     */
    public static FileHandle of(byte... bytes) {
        if (bytes.length == 0 || bytes.length > Nfs3.MAX_HANDLE_BYTES) {
            throw new IllegalArgumentException("a file handle has 1 to 64 bytes, not " + bytes.length);
        }
        return new FileHandle(bytes.clone());
    }

    /**
     * A handle from what {@link #toString} gives.
     *
     * @throws IllegalArgumentException if it is not hexadecimal, or not 1 to 64 bytes
     */
    public static FileHandle parse(String hexadecimal) {
        return of(HexFormat.of().parseHex(hexadecimal));
    }

    /** RFC 1813, Section 2.4: NFS3_FHSIZE is 64. */
    public static FileHandle read(XdrReader in) throws XdrException {
        byte[] bytes = RawBytes.read(in, Nfs3.MAX_HANDLE_BYTES);
        if (bytes.length == 0) {
            throw in.bad("length of a file handle", 0);
        }
        return new FileHandle(bytes);
    }

    @Override
    public void write(XdrWriter out) {
        out.writeOpaque(bytes);
    }

    /** RFC 1813, Section 2.6: post_op_fh3. */
    public static @Nullable FileHandle readOptional(XdrReader in) throws XdrException {
        return in.readBool() ? read(in) : null;
    }

    /** RFC 1813, Section 2.6: post_op_fh3. */
    public static void writeOptional(XdrWriter out, @Nullable FileHandle handle) {
        out.writeBool(handle != null);
        if (handle != null) {
            handle.write(out);
        }
    }

    /** Number of bytes. */
    public int length() {
        return bytes.length;
    }

    /** Bytes on the wire. */
    public int encodedBytes() {
        return 4 + (int) XdrReader.padded(bytes.length);
    }

    /** A copy of the bytes. */
    public byte[] bytes() {
        return bytes.clone();
    }

    /** The bytes, read-only. */
    public MemorySegment segment() {
        return MemorySegment.ofArray(bytes).asReadOnly();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof FileHandle that && hash == that.hash && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return hash;
    }

    /** Hexadecimal. */
    @Override
    public String toString() {
        return HexFormat.of().formatHex(bytes);
    }
}
