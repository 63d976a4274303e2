// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Warnings that a client can cause: the first hundred are written, then only those whose number is a power of two. Any thread. */
final class BoundedLog {

    private static final System.Logger LOG = System.getLogger(RpcRdmaServer.class.getName());
    private static final long WRITTEN_ONE_BY_ONE = 100;

    private final AtomicLong count = new AtomicLong();

    void warn(String message) {
        warn(message, null);
    }

    /** What is nobody's fault: not counted. */
    void debug(String message, Throwable cause) {
        LOG.log(Level.DEBUG, message, cause);
    }

    void warn(String message, @Nullable Throwable cause) {
        long number = count.incrementAndGet();
        if (number <= WRITTEN_ONE_BY_ONE || Long.bitCount(number) == 1) {
            LOG.log(Level.WARNING, message + " (warning " + number + ")", cause);
        }
    }
}
