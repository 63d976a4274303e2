// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import java.nio.charset.StandardCharsets;
import org.dcache.oncrpc4j.grizzly.GrizzlyMemoryManager;
import org.dcache.oncrpc4j.xdr.BadXdrOncRpcException;
import org.dcache.oncrpc4j.xdr.Xdr;
import org.glassfish.grizzly.Buffer;

/**
 * An {@code Xdr} that holds each length of the peer's against the bytes at hand before anything is allocated for it; oncrpc4j's own allocates
 * first. Used by one thread at a time.
 */
class CheckedXdr extends Xdr {

    private static final byte[] NOTHING = {};

    CheckedXdr(Buffer message) {
        super(message, GrizzlyMemoryManager.getDefaultMemoryManager());
    }

    /** So many elements of at least so many bytes are there. */
    private void require(int count, int elementBytes) throws BadXdrOncRpcException {
        if (count < 0 || (long) count * elementBytes > _buffer.remaining()) {
            // The exception cannot be made out here. Reading at the end of the stream has oncrpc4j make it.
            _buffer.position(_buffer.limit());
            xdrDecodeInt();
        }
    }

    /** The count word of an opaque whose bytes and pad are all there. */
    final int decodeLength() throws BadXdrOncRpcException {
        int length = xdrDecodeInt();
        requireOpaque(length);
        return length;
    }

    private void requireOpaque(int length) throws BadXdrOncRpcException {
        require(length, 1);
        require(padded(length), 1);
    }

    /** With its pad. */
    static int padded(int length) {
        return length > Integer.MAX_VALUE - 3 ? Integer.MAX_VALUE : (length + 3) & ~3;
    }

    @Override
    public byte[] xdrDecodeOpaque(int length) throws BadXdrOncRpcException {
        requireOpaque(length);
        return super.xdrDecodeOpaque(length);
    }

    @Override
    public byte[] xdrDecodeDynamicOpaque() throws BadXdrOncRpcException {
        int length = decodeLength();
        if (length == 0) {
            return NOTHING;
        }
        byte[] bytes = new byte[length];
        xdrDecodeOpaque(bytes, 0, length);
        return bytes;
    }

    @Override
    public String xdrDecodeString() throws BadXdrOncRpcException {
        return new String(xdrDecodeDynamicOpaque(), StandardCharsets.UTF_8);
    }

    @Override
    public int[] xdrDecodeIntVector() throws BadXdrOncRpcException {
        return xdrDecodeIntFixedVector(xdrDecodeInt());
    }

    @Override
    public int[] xdrDecodeIntFixedVector(int length) throws BadXdrOncRpcException {
        require(length, Integer.BYTES);
        return super.xdrDecodeIntFixedVector(length);
    }

    @Override
    public long[] xdrDecodeLongVector() throws BadXdrOncRpcException {
        return xdrDecodeLongFixedVector(xdrDecodeInt());
    }

    @Override
    public long[] xdrDecodeLongFixedVector(int length) throws BadXdrOncRpcException {
        require(length, Long.BYTES);
        return super.xdrDecodeLongFixedVector(length);
    }

    @Override
    public double[] xdrDecodeDoubleVector() throws BadXdrOncRpcException {
        return xdrDecodeDoubleFixedVector(xdrDecodeInt());
    }

    @Override
    public double[] xdrDecodeDoubleFixedVector(int length) throws BadXdrOncRpcException {
        require(length, Double.BYTES);
        return super.xdrDecodeDoubleFixedVector(length);
    }

    @Override
    public float[] xdrDecodeFloatVector() throws BadXdrOncRpcException {
        return xdrDecodeFloatFixedVector(xdrDecodeInt());
    }

    @Override
    public float[] xdrDecodeFloatFixedVector(int length) throws BadXdrOncRpcException {
        require(length, Float.BYTES);
        return super.xdrDecodeFloatFixedVector(length);
    }

    @Override
    public byte[] xdrDecodeByteVector() throws BadXdrOncRpcException {
        return xdrDecodeByteFixedVector(xdrDecodeInt());
    }

    @Override
    public byte[] xdrDecodeByteFixedVector(int length) throws BadXdrOncRpcException {
        require(length, Integer.BYTES);
        return super.xdrDecodeByteFixedVector(length);
    }

    @Override
    public short[] xdrDecodeShortVector() throws BadXdrOncRpcException {
        return xdrDecodeShortFixedVector(xdrDecodeInt());
    }

    @Override
    public short[] xdrDecodeShortFixedVector(int length) throws BadXdrOncRpcException {
        require(length, Integer.BYTES);
        return super.xdrDecodeShortFixedVector(length);
    }
}
