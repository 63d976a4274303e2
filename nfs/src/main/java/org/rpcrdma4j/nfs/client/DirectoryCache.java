// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.FileHandle;

/**
 * Handles of directories by their paths, for a few seconds, so that a walk down a path does not ask for each name. Paths hold no symbolic
 * link. Bounded; the one that was not used for longest goes. Used by any number of threads.
 */
final class DirectoryCache {

    private static final int CAPACITY = 4096;
    private static final long LIFE_NANOS = 3_000_000_000L;

    private record Known(FileHandle handle, long since) {}

    private final LinkedHashMap<NfsPath, Known> known = new LinkedHashMap<>(64, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<NfsPath, Known> eldest) {
            return size() > CAPACITY;
        }
    };

    synchronized @Nullable FileHandle get(NfsPath path) {
        Known found = known.get(path);
        if (found == null) {
            return null;
        }
        if (System.nanoTime() - found.since > LIFE_NANOS) {
            known.remove(path);
            return null;
        }
        return found.handle;
    }

    synchronized void put(NfsPath path, FileHandle handle) {
        known.put(path, new Known(handle, System.nanoTime()));
    }

    /** The path means something else now, and so does all below it. */
    synchronized void forget(NfsPath path) {
        known.keySet().removeIf(other -> other.startsWith(path));
    }

    synchronized void clear() {
        known.clear();
    }

    synchronized int size() {
        return known.size();
    }
}
