// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.io.IOException;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Directories that were read, for the calls that go on reading. Bounded by the names in them; the longest unused ones go first.
 *
 * <p>Who begins with a directory gets it as it is. Who goes on may get it as it was a minute ago: what was made since may be missing, as POSIX has it
 * of readdir(), and what was removed is seen to be. So whoever removes what they read does not have the directory read again for each call.
 */
final class Snapshots {

    private static final long MAX_AGE_NANOS = Duration.ofSeconds(60).toNanos();

    /** A change may have the same time as one before, if it comes within a tick of the kernel's clock. */
    private static final Duration TICK = Duration.ofMillis(50);

    private record Kept(
            long birth,
            FileTime modifyTime,
            FileTime changeTime,
            boolean isSettled,
            long readNanos,
            Snapshot snapshot) {

        boolean isOf(FileStatus status) {
            return isSettled && modifyTime.equals(status.modifyTime()) && changeTime.equals(status.changeTime());
        }
    }

    private final int capacity;
    private final Map<Long, Kept> all = new LinkedHashMap<>(16, 0.75f, true);
    private long names;

    /**
     * Nothing kept yet.
     *
     * @param capacity most names
     */
    Snapshots(int capacity) {
        this.capacity = capacity;
    }

    /** What follows a cookie in a directory. */
    Snapshot of(Directory directory, FileStatus status, long cookie) throws IOException {
        Node node = directory.node();
        Kept kept = find(node);
        if (kept != null && kept.snapshot.covers(cookie)) {
            boolean goesOn = cookie > Snapshot.DOT_DOT_COOKIE;
            if (kept.isOf(status) || (goesOn && System.nanoTime() - kept.readNanos < MAX_AGE_NANOS)) {
                return kept.snapshot;
            }
        }
        long now = System.nanoTime();
        boolean isSettled = status.changeTime().toInstant().plus(TICK).isBefore(Instant.now());
        long after = cookie <= Snapshot.DOT_DOT_COOKIE ? 0 : cookie;
        Snapshot snapshot = Snapshot.read(directory.self(), after, Math.max(capacity, 1));
        keep(node, new Kept(node.birth, status.modifyTime(), status.changeTime(), isSettled, now, snapshot));
        return snapshot;
    }

    private synchronized @Nullable Kept find(Node node) {
        Kept kept = all.get(node.inode);
        return kept != null && kept.birth == node.birth ? kept : null;
    }

    private synchronized void keep(Node node, Kept kept) {
        Kept old = all.put(node.inode, kept);
        names += kept.snapshot.items().size()
                - (old == null ? 0 : old.snapshot.items().size());
        Iterator<Kept> oldest = all.values().iterator();
        while (names > capacity && oldest.hasNext()) {
            names -= oldest.next().snapshot.items().size();
            oldest.remove();
        }
    }

    /** How many names are kept. */
    synchronized long size() {
        return names;
    }
}
