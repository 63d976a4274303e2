// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

/** What a service of oncrpc4j programs counts, beside what the transport under it counts. */
public enum ServiceCounter {
    /** Calls that came. */
    CALLS,
    /** Calls that were answered, in whatever way. Those that are missing are being worked on, or were forgotten by their program. */
    ANSWERED,
    /** Calls that could not be read as such, or whose caller was refused. */
    REFUSED,
    /** Replies that their program could not encode; the client got SYSTEM_ERR, where stock oncrpc4j leaves it waiting. */
    ENCODING_FAILURES,
    /** Replies that could not be given any more: the call was answered already. */
    SECOND_REPLIES,
    /** Programs that ended with an unchecked exception or an error. */
    PROGRAM_FAILURES
}
