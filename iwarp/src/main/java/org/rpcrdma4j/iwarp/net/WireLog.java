// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.rpcrdma4j.iwarp.error.IwarpException;

/**
 * The log of bad input: at most so many lines a second, whatever peers send; the others are counted, and the next line tells
 * their number. Usable from any thread.
 */
public final class WireLog {
    /** Lines a second unless something else is wanted. */
    public static final int DEFAULT_LINES_PER_SECOND = 10;

    private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Logger logger;
    private final Counters counters;
    private final LongSupplier nanoTime;
    private final int linesPerWindow;
    private final Object lock = new Object();
    private long windowBegan;
    private int linesInWindow;
    private long suppressed;

    /** Writes to the logger {@code org.rpcrdma4j.iwarp}, by the system's clock. */
    public WireLog(Counters counters) {
        this(System.getLogger("org.rpcrdma4j.iwarp"), counters, System::nanoTime, DEFAULT_LINES_PER_SECOND);
    }

    /** Writes to any logger by any clock. */
    public WireLog(Logger logger, Counters counters, LongSupplier nanoTime, int linesPerSecond) {
        this.logger = logger;
        this.counters = counters;
        this.nanoTime = nanoTime;
        linesPerWindow = linesPerSecond;
        windowBegan = nanoTime.getAsLong();
    }

    /** A peer sent something else than it should. */
    public void badInput(String where, String expected, String found) {
        badInput(where, "expected " + expected + ", found " + found);
    }

    /** As above, with expectation and finding in one text. */
    public void badInput(String where, String detail) {
        long omitted = admit();
        if (omitted == 0) {
            logger.log(Level.WARNING, "{0}: {1}", where, detail);
        } else if (omitted > 0) {
            logger.log(Level.WARNING, "{0}: {1} (and {2} lines left out before)", where, detail, omitted);
        }
    }

    /** What is wrong, in the words of the layer that found it. */
    static String detail(IwarpException violation) {
        return Objects.requireNonNullElse(violation.getMessage(), "the peer broke the protocol");
    }

    /** -1 if the line is to be left out, else the number of lines left out since the last one. */
    private long admit() {
        long now = nanoTime.getAsLong();
        synchronized (lock) {
            if (now - windowBegan >= WINDOW_NANOS) {
                windowBegan = now;
                linesInWindow = 0;
            }
            if (linesInWindow < linesPerWindow) {
                linesInWindow++;
                long omitted = suppressed;
                suppressed = 0;
                return omitted;
            }
            suppressed++;
        }
        counters.increment(Counter.LOG_SUPPRESSED);
        return -1;
    }
}
