// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import java.lang.foreign.MemorySegment;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/**
 * A credential or verifier as it travels (RFC 5531, Section 8.2): a flavour and a body that only that flavour understands.
 *
 * @param body a slice of the message if it was read from one, and valid as long as that
 */
public record OpaqueAuth(int flavor, MemorySegment body) {

    /** RFC 5531, Section 8.2: the longest body. */
    public static final int MAX_BODY = 400;

    /** Bytes of the longest one on the wire. */
    public static final int MAX_LENGTH = 8 + MAX_BODY;

    /** RFC 5531, Section 10.1: no identity, and a body that is sent empty. */
    public static final OpaqueAuth NONE =
            new OpaqueAuth(AuthFlavor.AUTH_NONE.value(), MemorySegment.ofArray(new byte[0]));

    /** Checks the length of the body. */
    public OpaqueAuth {
        if (body.byteSize() > MAX_BODY) {
            throw new IllegalArgumentException("body of " + body.byteSize() + " bytes exceeds " + MAX_BODY);
        }
    }

    /** Reads one; its body is a slice of the message where that is in one piece. */
    static OpaqueAuth read(XdrReader in) throws XdrException {
        int flavor = in.readInt();
        MemorySegment body = in.readOpaque(MAX_BODY);
        return flavor == 0 && body.byteSize() == 0 ? NONE : new OpaqueAuth(flavor, body);
    }

    void write(XdrWriter out) {
        out.writeInt(flavor);
        out.writeOpaque(body);
    }

    /** Bytes on the wire. */
    public int length() {
        return 8 + (int) XdrReader.padded(body.byteSize());
    }
}
