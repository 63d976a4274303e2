// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** How far written data is to be, or is, on stable storage (stable_how; RFC 1813, Section 3.3.7); in the order of their strength. */
public enum StableHow implements XdrValue {
    /** Perhaps not at all, until COMMIT. */
    UNSTABLE(0),
    /** The data, and what is needed to find it again. */
    DATA_SYNC(1),
    /** The data and all attributes. */
    FILE_SYNC(2);

    private static final StableHow[] BY_VALUE = values();

    private final int value;

    StableHow(int value) {
        this.value = value;
    }

    /** The number on the wire. */
    public int value() {
        return value;
    }

    /** Reads one. */
    public static StableHow read(XdrReader in) throws XdrException {
        return BY_VALUE[in.readEnum(0, BY_VALUE.length - 1)];
    }

    /** Whether data is as safe as this asks for, or safer. */
    public boolean isAtLeast(StableHow asked) {
        return value >= asked.value;
    }

    @Override
    public void write(XdrWriter out) {
        out.writeInt(value);
    }
}
