// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.xdr;

/** Bytes that aren't the XDR encoding of what was expected. Thrown by decoders only; carries no stack trace, as the peer can cause it. */
public final class XdrException extends Exception {

    private static final long serialVersionUID = 1L;

    private final Reason reason;

    /** What is wrong with the bytes. */
    public enum Reason {
        /** The stream ends within the item. */
        TOO_SHORT,
        /** A count or length exceeds its declared bound, or what the bytes at hand could hold. */
        OUT_OF_BOUNDS,
        /** A bool, enum or union discriminant has a value that isn't declared. */
        BAD_VALUE,
        /** The stream goes on behind the last item. */
        TRAILING_BYTES
    }

    /** An exception for the bytes at one position, named in the message. */
    public XdrException(Reason reason, String message) {
        super(message, null, false, false);
        this.reason = reason;
    }

    /** What is wrong. */
    public Reason reason() {
        return reason;
    }
}
