// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.io.PrintStream;

/** One line that is written over again and again, on a terminal only. */
final class ProgressLine implements AutoCloseable {
    private static final long INTERVAL_NANOS = 100_000_000;

    private final PrintStream terminal = System.err;
    private final boolean shown = isTerminal();
    private long last = System.nanoTime() - INTERVAL_NANOS;
    private int width;

    ProgressLine() {}

    @SuppressWarnings("SystemConsoleNull") // since JDK 25 it is null again without a terminal
    private static boolean isTerminal() {
        return System.console() != null && System.console().isTerminal();
    }

    /** Shows a text, not more often than the eye can follow. */
    synchronized void show(String text) {
        long now = System.nanoTime();
        if (shown && now - last >= INTERVAL_NANOS) {
            last = now;
            terminal.print("\r" + text + " ".repeat(Math.max(0, width - text.length())));
            terminal.flush();
            width = text.length();
        }
    }

    /** Takes the line away. */
    @Override
    public synchronized void close() {
        if (width > 0) {
            terminal.print("\r" + " ".repeat(width) + "\r");
            terminal.flush();
            width = 0;
        }
    }
}
