// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/**
 * Tells a server whether the cookies of a directory that come with it are still good (cookieverf3; RFC 1813, Section 3.3.16).
 *
 * @param value its 8 bytes, the first one highest
 */
public record CookieVerifier(long value) implements XdrValue {

    /** RFC 1813, Section 3.3.16: what goes with cookie 0. */
    public static final CookieVerifier NONE = new CookieVerifier(0);

    /** Reads one. */
    public static CookieVerifier read(XdrReader in) throws XdrException {
        return new CookieVerifier(in.readHyper());
    }

    @Override
    public void write(XdrWriter out) {
        out.writeHyper(value);
    }
}
