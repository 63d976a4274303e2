// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/**
 * Changes whenever the server may have lost data that was not committed (writeverf3; RFC 1813, Section 3.3.7).
 *
 * @param value its 8 bytes, the first one highest
 */
public record WriteVerifier(long value) implements XdrValue {

    /** Reads one. */
    public static WriteVerifier read(XdrReader in) throws XdrException {
        return new WriteVerifier(in.readHyper());
    }

    @Override
    public void write(XdrWriter out) {
        out.writeHyper(value);
    }
}
