// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import org.jspecify.annotations.Nullable;

/**
 * Why one end of a {@link StreamPair} has ended.
 *
 * @param answer the Terminate to send
 * @param received the Terminate of the peer
 */
record StreamEnding(
        Cause cause,
        @Nullable String detail,
        @Nullable TerminateMessage answer,
        @Nullable TerminateMessage received) {
    enum Cause {
        /** The pipe was dropped. */
        LOST,
        /** The sending direction could not go on. */
        FAULT,
        /** The peer broke a rule. */
        VIOLATION,
        /** The peer sent a Terminate. */
        PEER
    }
}
