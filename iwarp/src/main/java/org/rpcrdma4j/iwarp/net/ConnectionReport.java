// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.error.TerminateError;
import org.rpcrdma4j.iwarp.rdmap.TerminateMessage;

/** What a connection counts and logs. Safe for all threads. */
public final class ConnectionReport {
    private static final Logger LOG = System.getLogger("org.rpcrdma4j.iwarp");

    private final String name;
    private final boolean initiator;
    private final Counters counters;
    private final WireLog wireLog;

    /** @param name of the connection, for log lines */
    public ConnectionReport(String name, boolean initiator, Counters counters, WireLog wireLog) {
        this.name = name;
        this.initiator = initiator;
        this.counters = counters;
        this.wireLog = wireLog;
    }

    /** Whether this side asked for the connection. */
    public boolean isInitiator() {
        return initiator;
    }

    /** @param detail in words, the error among them */
    void violation(String detail, @Nullable TerminateError error) {
        counters.increment(Counter.STREAM_VIOLATIONS);
        if (error == TerminateError.MPA_CRC) {
            counters.increment(Counter.STREAM_CRC_ERRORS);
        } else if (error == TerminateError.DDP_UNTAGGED_NO_BUFFER) {
            counters.increment(Counter.STREAM_NO_RECEIVE);
        }
        wireLog.badInput(name, detail);
    }

    void emptySegments(long count) {
        counters.add(Counter.STREAM_EMPTY_SEGMENTS, count);
    }

    void terminateReceived(TerminateMessage message) {
        counters.increment(Counter.TERMINATES_RECEIVED);
        wireLog.badInput(name, "the peer sent " + message);
    }

    void terminateSent(TerminateMessage message) {
        counters.increment(Counter.TERMINATES_SENT);
        LOG.log(Level.DEBUG, "{0}: sends {1}", name, message);
    }

    void kicked() {
        counters.increment(Counter.KICKS);
        LOG.log(Level.DEBUG, "{0}: no answer yet, sends an empty Write", name);
    }

    void bug(Throwable e) {
        counters.increment(Counter.TASK_ERRORS);
        LOG.log(Level.ERROR, name + ": connection ends by an internal error", e);
    }
}
