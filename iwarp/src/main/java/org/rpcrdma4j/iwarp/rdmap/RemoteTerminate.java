// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

/** The peer has ended the stream with a Terminate. Nothing answers it. The stack is not recorded. */
public final class RemoteTerminate extends Exception {
    private static final long serialVersionUID = 1L;

    private final transient TerminateMessage message;

    RemoteTerminate(TerminateMessage message) {
        super(message.toString(), null, false, false);
        this.message = message;
    }

    /** What the peer said. */
    public TerminateMessage message() {
        return message;
    }
}
