// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.wire;

/** What an RDMA_ERROR complains of (RFC 8166, Section 4.5). Other codes cannot be decoded. */
public enum ErrorCode {
    /** The header's version is not one of those that the error names. */
    ERR_VERS(1),
    /** The header, or one of its chunks, cannot be used. */
    ERR_CHUNK(2);

    private final int word;

    ErrorCode(int word) {
        this.word = word;
    }

    /** Its number on the wire. */
    public int word() {
        return word;
    }
}
