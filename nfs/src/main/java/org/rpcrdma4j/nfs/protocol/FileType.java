// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** What a file is (ftype3; RFC 1813, Section 2.6). */
public enum FileType implements XdrValue {
    /** NF3REG. */
    REGULAR(1),
    /** NF3DIR. */
    DIRECTORY(2),
    /** NF3BLK. */
    BLOCK_DEVICE(3),
    /** NF3CHR. */
    CHARACTER_DEVICE(4),
    /** NF3LNK. */
    SYMBOLIC_LINK(5),
    /** NF3SOCK. */
    SOCKET(6),
    /** NF3FIFO. */
    FIFO(7);

    private static final FileType[] BY_ORDINAL = values();

    private final int value;

    FileType(int value) {
        this.value = value;
    }

    /** The number on the wire: they are declared in its order, from 1. */
    public int value() {
        return value;
    }

    /** Reads one. */
    public static FileType read(XdrReader in) throws XdrException {
        return BY_ORDINAL[in.readEnum(1, BY_ORDINAL.length) - 1];
    }

    @Override
    public void write(XdrWriter out) {
        out.writeInt(value);
    }
}
