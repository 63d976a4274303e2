// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/**
 * Results of SETATTR, REMOVE and RMDIR: a status and, whatever it is, attributes of what was changed.
 *
 * @param status whether it succeeded
 * @param change of the file (SETATTR) or the directory before and after, as far as known
 */
public record ChangeResults(Status status, WeakCacheData change) implements NfsResults {

    /** Reads them. */
    public static ChangeResults read(XdrReader in) throws XdrException {
        return new ChangeResults(Status.read(in), WeakCacheData.read(in));
    }

    @Override
    public void write(XdrWriter out) {
        status.write(out);
        change.write(out);
    }
}
