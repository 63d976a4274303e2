// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs.cm;

import org.jspecify.annotations.Nullable;

/**
 * How a connection ended.
 *
 * @param cause who ended it and how
 * @param detail in words
 * @param report the error report that we sent or got; null if there was none
 */
public record Disconnect(
        Cause cause, String detail, @Nullable ErrorReport report) {

    /** Who ended it. */
    public enum Cause {
        /** We did, in order. */
        LOCAL_CLOSE,
        /** The peer did, in order. */
        REMOTE_CLOSE,
        /** We found an error, of the peer or our own. */
        LOCAL_ERROR,
        /** The peer found an error and said so. */
        REMOTE_ERROR,
        /** The connection broke without a word. */
        CONNECTION_LOST
    }
}
