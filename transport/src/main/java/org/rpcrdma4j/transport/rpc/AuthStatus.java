// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;

/** RFC 5531, Section 9: why an identity was refused. */
public enum AuthStatus {
    /** No failure. */
    AUTH_OK(0),
    /** The credential is broken. */
    AUTH_BADCRED(1),
    /** The client must begin a new session, or may not come with this flavour. */
    AUTH_REJECTEDCRED(2),
    /** The verifier is broken. */
    AUTH_BADVERF(3),
    /** The verifier is expired or was replayed. */
    AUTH_REJECTEDVERF(4),
    /** Refused for reasons of security. */
    AUTH_TOOWEAK(5),
    /** The response's verifier is bogus (found by the client). */
    AUTH_INVALIDRESP(6),
    /** Reason unknown. */
    AUTH_FAILED(7),
    /** Kerberos: generic error. */
    AUTH_KERB_GENERIC(8),
    /** Kerberos: the time of the credential expired. */
    AUTH_TIMEEXPIRE(9),
    /** Kerberos: problem with the ticket file. */
    AUTH_TKT_FILE(10),
    /** Kerberos: can't decode the authenticator. */
    AUTH_DECODE(11),
    /** Kerberos: wrong network address in the ticket. */
    AUTH_NET_ADDR(12),
    /** GSS: no credential for the user. */
    RPCSEC_GSS_CREDPROBLEM(13),
    /** GSS: problem with the context. */
    RPCSEC_GSS_CTXPROBLEM(14);

    private static final AuthStatus[] BY_VALUE = values();

    private final int value;

    AuthStatus(int value) {
        this.value = value;
    }

    /** The value on the wire. */
    public int value() {
        return value;
    }

    /** Reads one (they are declared in the order of their values, from 0); a value that isn't declared is refused. */
    static AuthStatus read(XdrReader in) throws XdrException {
        return BY_VALUE[in.readEnum(0, BY_VALUE.length - 1)];
    }
}
