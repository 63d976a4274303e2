// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Regular files that are held open, so that calls which follow each other don't open them each time. Bounded: beyond {@code capacity} the longest
 * unused ones are closed; those in use are bounded by the calls in progress. What nobody uses for a while is closed too, and what was removed, as
 * soon as nobody uses it.
 *
 * <p>Any thread. The lock is never held for a system call.
 */
final class OpenFiles implements AutoCloseable {

    /** A file and what it is open for. */
    record Key(long inode, long birth, OpenMode mode) {}

    /** One open file. The cache's lock guards what changes. */
    static final class Entry {

        final FileChannel channel;

        /** In {@code /proc/self/fd}. */
        final Path path;

        private final Key key;
        private int users;
        private int changing;
        private long generation;
        private boolean dropped;
        private long lastUseNanos;

        Entry(Key key, FileChannel channel, Path path) {
            this.key = key;
            this.channel = channel;
            this.path = path;
        }

        boolean isForWriting() {
            return key.mode == OpenMode.WRITE;
        }

        FileStatus status() throws IOException {
            return FileStatus.ofOpen(path);
        }
    }

    private final int capacity;
    private final Duration idleTime;
    private final Map<Key, Entry> entries = new LinkedHashMap<>(64, 0.75f, true);
    private @Nullable Thread sweeper;
    private boolean closed;

    OpenFiles(int capacity, Duration idleTime) {
        this.capacity = capacity;
        this.idleTime = idleTime;
    }

    /** An open file for one more user; null if it isn't open. */
    synchronized @Nullable Entry use(Key key) {
        Entry entry = entries.get(key);
        if (entry == null) {
            return null;
        }
        if (!entry.channel.isOpen()) {
            entries.remove(key);
            entry.dropped = true;
            return null;
        }
        entry.users++;
        return entry;
    }

    /** Keeps a file that was opened now, for one user; another thread may have been faster, then it is that one's. */
    Entry keep(Entry opened) {
        List<Entry> unused = new ArrayList<>();
        Entry kept = opened;
        synchronized (this) {
            Entry other = entries.get(opened.key);
            if (other != null && other.channel.isOpen()) {
                kept = other;
                unused.add(opened);
            } else if (closed) {
                opened.dropped = true;
            } else {
                entries.put(opened.key, opened);
                startSweeper();
            }
            kept.users++;
            trim(unused);
        }
        closeAll(unused);
        return kept;
    }

    private void trim(List<Entry> unused) {
        Iterator<Entry> oldest = entries.values().iterator();
        for (int over = entries.size() - capacity; over > 0 && oldest.hasNext(); ) {
            Entry entry = oldest.next();
            if (entry.users == 0) {
                oldest.remove();
                unused.add(entry);
                over--;
            }
        }
    }

    void release(Entry entry) {
        boolean last;
        synchronized (this) {
            entry.users--;
            entry.lastUseNanos = System.nanoTime();
            last = entry.users == 0 && entry.dropped;
        }
        if (last) {
            closeAll(List.of(entry));
        }
    }

    /** Closes a file that does not exist any more, when nobody uses it. */
    void drop(long inode, long birth) {
        List<Entry> unused = new ArrayList<>();
        synchronized (this) {
            for (OpenMode mode : OpenMode.values()) {
                Entry entry = entries.remove(new Key(inode, birth, mode));
                if (entry != null) {
                    entry.dropped = true;
                    if (entry.users == 0) {
                        unused.add(entry);
                    }
                }
            }
        }
        closeAll(unused);
    }

    /** A call that may change the file begins; what it gives is for {@link #isAlone}. */
    synchronized long beginChange(Entry entry) {
        entry.changing++;
        return ++entry.generation;
    }

    /** Whether nobody else has changed the file, or may have, since the change began. */
    synchronized boolean isAlone(Entry entry, long generation) {
        return entry.changing == 1 && entry.generation == generation;
    }

    synchronized void endChange(Entry entry) {
        entry.changing--;
        entry.generation++;
    }

    /** The file was changed by something else than writing. */
    synchronized void isChanged(long inode, long birth) {
        Entry entry = entries.get(new Key(inode, birth, OpenMode.WRITE));
        if (entry != null) {
            entry.generation++;
        }
    }

    /** How many are open and not dropped. */
    synchronized int size() {
        return entries.size();
    }

    private void startSweeper() {
        if (sweeper == null) {
            sweeper = Thread.ofPlatform().name("nfs-export-idle").daemon().start(this::sweep);
        }
    }

    private void sweep() {
        while (true) {
            List<Entry> unused = new ArrayList<>();
            synchronized (this) {
                long now = System.nanoTime();
                entries.values().removeIf(entry -> {
                    boolean idle = entry.users == 0 && now - entry.lastUseNanos >= idleTime.toNanos();
                    if (idle) {
                        entry.dropped = true;
                        unused.add(entry);
                    }
                    return idle;
                });
                if (closed || entries.isEmpty()) {
                    sweeper = null;
                }
            }
            closeAll(unused);
            synchronized (this) {
                if (sweeper != Thread.currentThread()) {
                    return;
                }
                try {
                    wait(Math.max(1, idleTime.toMillis() / 2));
                } catch (InterruptedException e) {
                    sweeper = null;
                    return;
                }
            }
        }
    }

    private static void closeAll(List<Entry> unused) {
        for (Entry entry : unused) {
            try {
                entry.channel.close();
            } catch (IOException e) {
                // What was written and not committed is the client's to write again; COMMIT would have told.
            }
        }
    }

    /** Closes what nobody uses now, and the rest when its users are done. */
    @Override
    public void close() {
        List<Entry> unused = new ArrayList<>();
        synchronized (this) {
            closed = true;
            for (Entry entry : entries.values()) {
                entry.dropped = true;
                if (entry.users == 0) {
                    unused.add(entry);
                }
            }
            entries.clear();
            notifyAll();
        }
        closeAll(unused);
    }
}
