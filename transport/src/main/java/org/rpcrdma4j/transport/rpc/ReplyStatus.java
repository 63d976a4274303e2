// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;

/** RFC 5531, Section 9: whether the call was taken. */
public enum ReplyStatus {
    /** The call was taken; an {@link AcceptStatus} follows. */
    MSG_ACCEPTED(0),
    /** The call was refused; a {@link RejectStatus} follows. */
    MSG_DENIED(1);

    private static final ReplyStatus[] BY_VALUE = values();

    private final int value;

    ReplyStatus(int value) {
        this.value = value;
    }

    /** The value on the wire. */
    public int value() {
        return value;
    }

    /** Reads one (they are declared in the order of their values, from 0); a value that isn't declared is refused. */
    static ReplyStatus read(XdrReader in) throws XdrException {
        return BY_VALUE[in.readEnum(0, BY_VALUE.length - 1)];
    }
}
