// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.io.PrintStream;

/** One line that is written over again and again, on a terminal only. Any thread may call. */
final class ProgressLine implements AutoCloseable {
    private static final long INTERVAL_NANOS = 100_000_000;

    private final StandardStreams streams;
    private final PrintStream terminal;
    private long last;
    private int width;

    ProgressLine(StandardStreams streams) {
        this.streams = streams;
        terminal = streams.err();
        last = streams.nanoTime().getAsLong() - INTERVAL_NANOS;
    }

    /** Whether the eye could follow a new text, and there is one to see it. */
    synchronized boolean isDue() {
        return streams.errIsTerminal() && streams.nanoTime().getAsLong() - last >= INTERVAL_NANOS;
    }

    /** Shows a text, not more often than the eye can follow. */
    synchronized void show(String text) {
        if (isDue()) {
            last = streams.nanoTime().getAsLong();
            draw(text);
        }
    }

    private void draw(String text) {
        int columns = TextWidth.of(text);
        terminal.print("\r" + text + " ".repeat(Math.max(0, width - columns)));
        terminal.flush();
        width = columns;
    }

    /** Shows a text and lets it stand; the next one begins a new line. */
    synchronized void keep(String text) {
        if (streams.errIsTerminal()) {
            draw(text);
            terminal.println();
            terminal.flush();
            width = 0;
        }
    }

    /** Takes the line away; the next text may come at once. */
    synchronized void clear() {
        if (width > 0) {
            terminal.print("\r" + " ".repeat(width) + "\r");
            terminal.flush();
            width = 0;
            last -= INTERVAL_NANOS;
        }
    }

    /** Takes the line away. */
    @Override
    public void close() {
        clear();
    }
}
