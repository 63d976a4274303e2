// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;

/** RFC 5531, Section 9: why a call was refused. */
public enum RejectStatus {
    /** The RPC version is not 2; lowest and highest supported follow. */
    RPC_MISMATCH(0),
    /** The caller's identity was refused; an {@link AuthStatus} follows. */
    AUTH_ERROR(1);

    private static final RejectStatus[] BY_VALUE = values();

    private final int value;

    RejectStatus(int value) {
        this.value = value;
    }

    /** The value on the wire. */
    public int value() {
        return value;
    }

    /** Reads one (they are declared in the order of their values, from 0); a value that isn't declared is refused. */
    static RejectStatus read(XdrReader in) throws XdrException {
        return BY_VALUE[in.readEnum(0, BY_VALUE.length - 1)];
    }
}
