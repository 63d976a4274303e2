// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.copy;

import java.io.IOException;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.rpcrdma4j.nfs.client.NfsPath;

/** The temporary files of a copy. Any thread may call. */
final class Temporaries {
    /** With its prefix a name is shorter than any file system's limit. */
    static final String PREFIX = ".rpcrdma-";

    private static final int RANDOM_BYTES = 12;

    private final SecureRandom random = new SecureRandom();
    private final Set<Temporary> inUse = ConcurrentHashMap.newKeySet();

    /** A temporary file. */
    record Temporary(Side side, NfsPath path) {
        private String display() {
            return side.display(path);
        }
    }

    /** A new name in a directory, which nobody else uses because nobody can guess it. */
    Temporary in(Side side, NfsPath directory) {
        byte[] bytes = new byte[RANDOM_BYTES];
        random.nextBytes(bytes);
        Temporary temporary =
                new Temporary(side, directory.resolve(PREFIX + HexFormat.of().formatHex(bytes)));
        // ORDER: known before it is made, so that it is not left behind.
        inUse.add(temporary);
        return temporary;
    }

    /** It has its own name now, or was removed. */
    void forget(Temporary temporary) {
        inUse.remove(temporary);
    }

    /** Removes one. */
    void remove(Temporary temporary) throws IOException {
        temporary.side.remove(temporary.path);
        inUse.remove(temporary);
    }

    /** Removes all, as far as that can be done in that time; returns those that may still be there. */
    Set<String> removeAll(long nanos) {
        try (ExecutorService removers = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Temporary temporary : inUse) {
                removers.execute(() -> {
                    try {
                        remove(temporary);
                    } catch (IOException _) {
                        // It stays in use, and so is named.
                    }
                });
            }
            removers.shutdown();
            if (!removers.awaitTermination(nanos, TimeUnit.NANOSECONDS)) {
                removers.shutdownNow();
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        Set<String> left = new TreeSet<>();
        for (Temporary temporary : inUse) {
            left.add(temporary.display());
        }
        return left;
    }
}
