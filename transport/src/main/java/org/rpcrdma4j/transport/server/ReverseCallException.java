// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.io.IOException;

/** Why a call to a client did not get its reply. */
public final class ReverseCallException extends IOException {

    private static final long serialVersionUID = 1L;

    /** The kinds. */
    public enum Kind {
        /** The client has not said that it takes calls, or the server is set not to make any. */
        NOT_ENABLED,
        /** The message does not fit inline; chunks are not used in this direction. */
        TOO_LONG,
        /** Too many calls wait already. */
        BUSY,
        /** No reply in time. */
        TIMED_OUT,
        /** The client answered with RDMA_ERROR. */
        REFUSED,
        /** The connection ended first. Whether the client has seen the call is not known. */
        CONNECTION_LOST
    }

    private final Kind kind;

    ReverseCallException(Kind kind, String message) {
        super(message);
        this.kind = kind;
    }

    /** The kind. */
    public Kind kind() {
        return kind;
    }
}
