// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

/**
 * How far a transfer is: on a terminal a bar with percentage, rate and remaining time on one line that is written over, and at the end one line
 * that stands; elsewhere nothing.
 *
 * <pre>
 *   big.iso  45% [=========>           ] 1.2 GiB of 2.7 GiB  350 MiB/s  0:04 left
 *   big.iso 2.7 GiB in 0:08, 345 MiB/s
 * </pre>
 *
 * <p>Any thread may call any method. Those that move data call {@link #advance} only, which never waits for the terminal.
 */
public final class ProgressBar implements AutoCloseable {
    /** Weight of the past in the rate falls to 1/e in this time. */
    private static final double MEMORY_SECONDS = 3;

    private static final int LEAST_BAR = 8;
    private static final int MOST_BAR = 40;

    private final StandardStreams streams;
    private final ProgressLine line;
    private final ReentrantLock drawing = new ReentrantLock();
    private final LongAdder done = new LongAdder();
    private final AtomicLong total = new AtomicLong();
    private final long began;
    private volatile String label;
    private long sampledNanos;
    private long sampledBytes;
    private double rate;
    private int columns;

    /** A bar that begins now, for something that is called so, of as yet unknown size. */
    public ProgressBar(StandardStreams streams, String label) {
        this.streams = streams;
        this.label = label;
        line = new ProgressLine(streams);
        began = streams.nanoTime().getAsLong();
        sampledNanos = began;
    }

    /** What is moved now, such as the file's name. */
    public void label(String text) {
        label = text;
        redraw();
    }

    /** So many bytes more are to be moved than was known before. */
    public void expect(long bytes) {
        total.addAndGet(bytes);
    }

    /** So many bytes more have been moved. */
    public void advance(long bytes) {
        done.add(bytes);
        redraw();
    }

    /** Prints a line on standard error, terminal or not, without disturbing the bar. */
    public void message(String text) {
        drawing.lock();
        try {
            line.clear();
            streams.err().println(text);
            streams.err().flush();
        } finally {
            drawing.unlock();
        }
    }

    private void redraw() {
        // ORDER: due before lock; nearly all calls end at the first.
        if (!line.isDue() || !drawing.tryLock()) {
            return;
        }
        try {
            if (columns == 0) {
                columns = streams.columns().getAsInt();
            }
            long moved = done.sum();
            line.show(text(moved, sample(moved)));
        } finally {
            drawing.unlock();
        }
    }

    /** Bytes for each second lately. */
    private double sample(long moved) {
        long now = streams.nanoTime().getAsLong();
        double seconds = (now - sampledNanos) / 1e9;
        if (seconds > 0) {
            double latest = (moved - sampledBytes) / seconds;
            double past = sampledNanos == began ? 0 : Math.exp(-seconds / MEMORY_SECONDS);
            rate = past * rate + (1 - past) * latest;
            sampledNanos = now;
            sampledBytes = moved;
        }
        return rate;
    }

    private String text(long moved, double bytesPerSecond) {
        long all = total.get();
        String speed = ByteSize.approximate(Math.round(bytesPerSecond)) + "/s";
        // Nothing in the last column: some terminals wrap there.
        int room = columns - 1;
        if (all <= 0 || moved > all) {
            return fitted(ByteSize.approximate(moved) + "  " + speed, room);
        }
        String numbers = ByteSize.approximate(moved) + " of " + ByteSize.approximate(all) + "  " + speed + "  "
                + remaining(all - moved, bytesPerSecond);
        String percent = String.format(Locale.ROOT, "%3d%%", percent(moved, all));
        int bar =
                Math.clamp(room - numbers.length() - percent.length() - 6L - TextWidth.of(label), LEAST_BAR, MOST_BAR);
        if (room < numbers.length() + percent.length() + bar + 6) {
            return fitted(percent + "  " + speed, room);
        }
        return fitted(percent + " " + bar(moved, all, bar) + " " + numbers, room);
    }

    /** The label as far as there is room before the rest. */
    private String fitted(String rest, int room) {
        int left = room - rest.length() - 1;
        return left < 4
                ? rest.substring(0, Math.clamp(room, 0, rest.length()))
                : TextWidth.end(label, left) + " " + rest;
    }

    private static long percent(long moved, long all) {
        return (long) (100.0 * moved / all);
    }

    private static String bar(long moved, long all, int width) {
        int filled = (int) ((double) width * moved / all);
        String head = filled < width ? ">" : "";
        return "[" + "=".repeat(filled) + head + " ".repeat(width - filled - head.length()) + "]";
    }

    private static String remaining(long bytes, double bytesPerSecond) {
        double seconds = bytes / bytesPerSecond;
        // A day and more tells nothing.
        return seconds < TimeUnit.DAYS.toSeconds(1) ? time(Math.round(seconds)) + " left" : "--:-- left";
    }

    private static String time(long seconds) {
        long minutes = seconds / 60;
        return minutes < 60
                ? String.format(Locale.ROOT, "%d:%02d", minutes, seconds % 60)
                : String.format(Locale.ROOT, "%d:%02d:%02d", minutes / 60, minutes % 60, seconds % 60);
    }

    /** Puts the one line in place of the bar that tells what was moved in what time. */
    public void finish(String what) {
        drawing.lock();
        try {
            double seconds = (streams.nanoTime().getAsLong() - began) / 1e9;
            long moved = done.sum();
            String took = seconds < 10 ? String.format(Locale.ROOT, "%.1f s", seconds) : time(Math.round(seconds));
            line.keep(what + " " + ByteSize.approximate(moved) + " in " + took
                    + (seconds > 0 ? ", " + ByteSize.approximate(Math.round(moved / seconds)) + "/s" : ""));
        } finally {
            drawing.unlock();
        }
    }

    /** Takes the bar away, unless {@link #finish} did. */
    @Override
    public void close() {
        line.close();
    }
}
