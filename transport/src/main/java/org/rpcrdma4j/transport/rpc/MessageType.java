// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;

/** RFC 5531, Section 9: the direction word. */
public enum MessageType {
    /** A call. */
    CALL(0),
    /** A reply. */
    REPLY(1);

    private static final MessageType[] BY_VALUE = values();

    private final int value;

    MessageType(int value) {
        this.value = value;
    }

    /** The value on the wire. */
    public int value() {
        return value;
    }

    /** Reads one (they are declared in the order of their values, from 0); a value that isn't declared is refused. */
    static MessageType read(XdrReader in) throws XdrException {
        return BY_VALUE[in.readEnum(0, BY_VALUE.length - 1)];
    }
}
