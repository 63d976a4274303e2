// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.rpcrdma4j.cli.copy.Copier;

/** Ends a copy when the process is told to end (SIGINT, SIGTERM, SIGHUP): it stops, removes temporary files, and says what is not whole. */
final class CopyInterruption implements AutoCloseable {
    /** How long removing temporary files may take. */
    static final Duration LIMIT = Duration.ofSeconds(6);

    private final Copier copier;
    private final CopyProgress progress;
    private final String target;
    private final Thread hook = new Thread(this::happen, "interrupted copy");
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile boolean happened;

    CopyInterruption(Copier copier, CopyProgress progress, String target) {
        this.copier = copier;
        this.progress = progress;
        this.target = target;
        Runtime.getRuntime().addShutdownHook(hook);
    }

    private void happen() {
        happened = true;
        try {
            Set<String> left = copier.stop(LIMIT);
            int files = progress.copiedFiles();
            progress.tell(
                    "interrupted: " + target + " is not complete, " + files + (files == 1 ? " file is" : " files are")
                            + " copied" + (left.isEmpty() ? "" : "; could not remove " + String.join(", ", left)));
        } finally {
            ended.countDown();
        }
    }

    /** Whether it has begun; then this waits until it is at its end. */
    boolean hasHappened() {
        if (!happened) {
            return false;
        }
        // ORDER: the volumes are closed when the temporary files are gone. The interrupt that ended the copy must not
        // end this.
        boolean interrupted = false;
        long begin = System.nanoTime();
        long left = 2 * LIMIT.toNanos();
        boolean isOver = false;
        while (!isOver && left > 0) {
            try {
                isOver = ended.await(left, TimeUnit.NANOSECONDS);
            } catch (InterruptedException _) {
                interrupted = true;
            }
            left = 2 * LIMIT.toNanos() - (System.nanoTime() - begin);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return true;
    }

    @Override
    public void close() {
        try {
            var _ = Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException _) {
            // The process is about to end.
            var _ = hasHappened();
        }
    }
}
