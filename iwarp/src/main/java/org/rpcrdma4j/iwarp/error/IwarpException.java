// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.error;

/**
 * The peer broke a rule of MPA, DDP or RDMAP; the stream cannot go on.
 *
 * <p>The stack is not recorded: these exceptions describe bytes of the peer, not a place in this program, and a
 * hostile peer should not be able to make them expensive. The message tells what was expected and what was found.
 */
public abstract sealed class IwarpException extends Exception permits MpaException, ProtocolViolation {
    private static final long serialVersionUID = 1L;

    private final TerminateError terminateError;

    IwarpException(TerminateError terminateError, String message) {
        super(message, null, false, false);
        this.terminateError = terminateError;
    }

    /**
     * The triple of layer, type and code which names this fault. It goes to the peer in a Terminate message if {@link
     * TerminateError#isReported()}; otherwise the connection is only closed.
     */
    public final TerminateError terminateError() {
        return terminateError;
    }
}
