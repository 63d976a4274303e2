// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.io.IOException;
import java.io.Serial;

/**
 * A call had no answer, or none that makes sense: the cause is a {@link org.rpcrdma4j.transport.client.TransportException}, a {@link
 * org.rpcrdma4j.transport.rpc.RpcException} or a {@link org.rpcrdma4j.transport.xdr.XdrException}. Its message is one line for people.
 */
public final class CallFailedException extends IOException {

    @Serial
    private static final long serialVersionUID = 1L;

    /** A failure of something that was tried on something. */
    CallFailedException(String action, String subject, String reason, Throwable cause) {
        super("cannot " + action + " " + subject + ": " + reason, cause);
    }

    /** A reply that makes no sense, found out above its encoding. */
    CallFailedException(String action, String subject, String reason) {
        super("cannot " + action + " " + subject + ": " + reason);
    }
}
