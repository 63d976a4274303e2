// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Errors of handlers, timers and tasks of one loop: counted, the first one logged, each given to the listener. Noted on the
 * loop's thread, read from any.
 */
final class LoopErrors {
    private static final Logger LOG = System.getLogger("org.rpcrdma4j.iwarp");

    private final String loopName;
    private final LongAdder count = new LongAdder();
    private volatile @Nullable Consumer<Throwable> listener;

    LoopErrors(String loopName) {
        this.loopName = loopName;
    }

    void listener(Consumer<Throwable> next) {
        listener = next;
    }

    long count() {
        return count.sum();
    }

    /** Never throws. */
    void note(Throwable error) {
        count.increment();
        try {
            if (count.sum() == 1) {
                LOG.log(Level.ERROR, "event loop " + loopName + ": a task failed; more are only counted", error);
            }
            Consumer<Throwable> told = listener;
            if (told != null) {
                told.accept(error);
            }
        } catch (Throwable e) {
            // Nobody is left to be told; the count says that there was more than one.
            count.increment();
        }
    }
}
