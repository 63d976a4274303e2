// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

/** What a message invalidated by Send with Invalidate. */
public enum RemoteInvalidation {
    /** A region of the call that it answers: no work request is needed for that one. */
    OWN,
    /** A key under which nothing of ours was open, or only something that is being invalidated anyway. Counted, harmless. */
    UNKNOWN,
    /** An open region of another call. The peer breaks the protocol: that call must not go on, the connection should end. */
    FOREIGN
}
