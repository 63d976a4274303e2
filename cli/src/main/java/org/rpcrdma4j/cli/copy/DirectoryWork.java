// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.copy;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A directory that is being copied: it gets its mode and times when all that is in it is there, since a directory may be read-only, and every
 * change in it sets its time. Any thread may call.
 */
final class DirectoryWork {
    private final @Nullable DirectoryWork parent;
    private final Completion completion;
    private final Consumer<IOException> failures;
    /** Entries under way, subdirectories included, and the listing itself. */
    private final AtomicInteger open = new AtomicInteger(1);

    /** What is to be done at the end. */
    @FunctionalInterface
    interface Completion {
        void run() throws IOException;
    }

    DirectoryWork(@Nullable DirectoryWork parent, Consumer<IOException> failures, Completion completion) {
        this.parent = parent;
        this.failures = failures;
        this.completion = completion;
        if (parent != null) {
            parent.begin();
        }
    }

    /** One more entry is under way. */
    void begin() {
        open.incrementAndGet();
    }

    /** An entry, or the listing, is done. */
    void end() {
        DirectoryWork work = this;
        while (work != null && work.open.decrementAndGet() == 0) {
            try {
                work.completion.run();
            } catch (IOException e) {
                failures.accept(e);
            }
            work = work.parent;
        }
    }
}
