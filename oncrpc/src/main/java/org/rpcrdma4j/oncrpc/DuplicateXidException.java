// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import java.io.EOFException;
import java.io.Serial;

/**
 * A call was not sent, because another call of the same XID has not ended on its transport. Each {@code RpcCall} counts XIDs for itself, from a
 * random start, so two of them can meet; the call may simply be made again.
 *
 * <p>An {@code EOFException} because nothing else may be thrown where oncrpc4j registers a call.
 */
public final class DuplicateXidException extends EOFException {

    @Serial
    private static final long serialVersionUID = 1L;

    DuplicateXidException(int xid) {
        super("XID 0x" + Integer.toHexString(xid) + " is that of another call that has not ended");
    }
}
