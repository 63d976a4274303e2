// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import org.rpcrdma4j.nfs.protocol.NfsResults;

/**
 * What came of a call.
 *
 * @param results the procedure's results, good or bad
 * @param transmissions how often it was sent; if more than once, the server may have done it more than once, so that it answers, for
 *     example, that what is to be removed is not there
 */
public record NfsReply<R extends NfsResults>(R results, int transmissions) {

    /** Whether an earlier transmission may have been done already. */
    public boolean mayBeRepeated() {
        return transmissions > 1;
    }
}
