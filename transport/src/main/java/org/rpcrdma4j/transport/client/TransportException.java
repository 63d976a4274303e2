// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import java.io.IOException;
import java.io.Serial;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A call that ended without an RPC reply. By the time it is thrown, the call's memory is shut to the server. */
public final class TransportException extends IOException {

    @Serial
    private static final long serialVersionUID = 1L;

    /** What ended the call. */
    public enum Kind {
        /** No valid reply came before the call's deadline. */
        TIMED_OUT,
        /** The caller gave it up. */
        CANCELLED,
        /** The connection was lost too often, or could not be made. */
        CONNECTION_LOST,
        /** The server answered ERR_CHUNK (RFC 8166, Section 4.5.2); the same call would be refused again. */
        PEER_ERROR_CHUNK,
        /** The server answered ERR_VERS (RFC 8166, Section 4.5.1). */
        PEER_ERROR_VERSION,
        /** The reply does not fit what the call offered. */
        BAD_REPLY,
        /** The call's memory could not be registered. */
        REGISTRATION_FAILED,
        /** The call, or its largest reply, is above what client or peer can carry. */
        MESSAGE_TOO_LONG,
        /** More calls wait than the client may queue. */
        TOO_MANY_CALLS,
        /** The client is closed. */
        CLOSED
    }

    private final Kind kind;
    private final boolean undecided;

    /** An end of the given kind. */
    public TransportException(Kind kind, boolean undecided, String message) {
        this(kind, undecided, message, null);
    }

    /** An end of the given kind, with its cause. */
    public TransportException(Kind kind, boolean undecided, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.kind = Objects.requireNonNull(kind, "kind");
        this.undecided = undecided;
    }

    /** What ended the call. */
    public Kind kind() {
        return kind;
    }

    /**
     * Whether the server may have executed the call, or may yet, and may have changed the memory offered for results. RFC 8267, Section
     * 4: an error of the transport does not tell.
     */
    public boolean undecided() {
        return undecided;
    }
}
