// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;

/** RFC 5531, Section 9: what became of a call that was taken. */
public enum AcceptStatus {
    /** Executed; the results follow. */
    SUCCESS(0),
    /** The program is not exported. */
    PROG_UNAVAIL(1),
    /** The version is not exported; the lowest and highest that are follow. */
    PROG_MISMATCH(2),
    /** The program has no such procedure. */
    PROC_UNAVAIL(3),
    /** The arguments can't be decoded. */
    GARBAGE_ARGS(4),
    /** The server failed on its own account. */
    SYSTEM_ERR(5);

    private static final AcceptStatus[] BY_VALUE = values();

    private final int value;

    AcceptStatus(int value) {
        this.value = value;
    }

    /** The value on the wire. */
    public int value() {
        return value;
    }

    /** Reads one (they are declared in the order of their values, from 0); a value that isn't declared is refused. */
    static AcceptStatus read(XdrReader in) throws XdrException {
        return BY_VALUE[in.readEnum(0, BY_VALUE.length - 1)];
    }
}
