// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import java.io.IOException;
import java.io.Serial;

/** The server answered a call with a status other than NFS3_OK. Its message is one line for people. */
public final class NfsException extends IOException {

    @Serial
    private static final long serialVersionUID = 1L;

    private final Status status;
    private final String action;
    private final String subject;

    /**
     * A failure, such as "cannot read nfs://host/file: permission denied".
     *
     * @param status why
     * @param action what was tried, as a verb: "read"
     * @param subject on what
     */
    public NfsException(Status status, String action, String subject) {
        this(status, action, subject, status.text());
    }

    /** A failure that the client found out itself, which this status comes nearest to, with an explanation of its own. */
    public NfsException(Status status, String action, String subject, String reason) {
        super("cannot " + action + " " + subject + ": " + reason);
        this.status = status.requireFailure();
        this.action = action;
        this.subject = subject;
    }

    /** Why. */
    public Status status() {
        return status;
    }

    /** What was tried, as a verb. */
    public String action() {
        return action;
    }

    /** On what. */
    public String subject() {
        return subject;
    }
}
