// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.Status;

/**
 * Directories that are held open. Bounded: beyond {@code capacity} the longest unused ones are closed, but none while a call uses it.
 *
 * <p>Any thread. The lock is held for looking and counting only, never for a system call but the closing of what nobody uses.
 */
final class OpenDirectories implements AutoCloseable {

    /** A bound for the walk from the nearest directory above that is open. */
    private static final int MAX_DEPTH = 4096;

    /** A path of that many ".." can still be given to the kernel. */
    private static final int MAX_CLIMB = 1200;

    /** One open directory. The cache's lock guards what changes. */
    static final class Entry {

        final Node node;
        final Anchor anchor;
        private int users;
        private boolean dropped;

        Entry(Node node, Anchor anchor) {
            this.node = node;
            this.anchor = anchor;
        }
    }

    private final Entry root;
    private final long device;
    private final boolean birthsTold;
    private final int capacity;
    private final Map<Long, Entry> entries = new LinkedHashMap<>(64, 0.75f, true);
    private volatile Path rootLocation;
    private boolean closed;

    OpenDirectories(Anchor rootAnchor, Node rootNode, long device, boolean birthsTold, int capacity)
            throws IOException {
        root = new Entry(rootNode, rootAnchor);
        this.device = device;
        this.birthsTold = birthsTold;
        this.capacity = capacity;
        rootLocation = Files.readSymbolicLink(rootAnchor.entry());
    }

    /** What a handle says of the birth of a file. */
    long birthOf(FileStatus status) {
        return birthsTold ? status.birth() : 0;
    }

    /** Whether this is the file that the node stands for. */
    boolean isFile(Node node, FileStatus status) {
        return status.inode() == node.inode
                && status.device() == device
                && birthOf(status) == node.birth
                && status.isDirectory() == node.isDirectory;
    }

    /** Whether a file is on the file system of the root; others are not exported. */
    boolean isOnDevice(FileStatus status) {
        return status.device() == device;
    }

    /**
     * Opens a directory for a call, if it is where the table says or open already.
     *
     * @return null if it isn't found
     * @throws Refusal STALE if it was removed
     * @throws IOException if it cannot be opened, such as for lack of permission
     */
    @Nullable
    Directory open(Node node) throws IOException, Refusal {
        Directory found = use(node);
        if (found == null) {
            found = walk(node);
        }
        if (found == null) {
            return null;
        }
        boolean isGood = false;
        try {
            isGood = isGood(found);
        } finally {
            if (!isGood) {
                found.close();
            }
        }
        return isGood ? found : null;
    }

    /** A directory may have been removed, or moved out of the root by another process, while it was held open. */
    private boolean isGood(Directory directory) throws IOException, Refusal {
        if (directory.node() == root.node) {
            return true;
        }
        directory.status();
        if (isBelowRoot(directory)) {
            return true;
        }
        drop(directory.node());
        return false;
    }

    private boolean isBelowRoot(Directory directory) throws IOException {
        try {
            return isBelowRoot(directory.anchor().entry());
        } catch (FileSystemException e) {
            // The kernel does not tell paths longer than a page: then up by "..", as far as a path of these can be.
            Path up = directory.anchor().entry();
            for (int i = 0; i < MAX_CLIMB; i++) {
                up = up.resolve("..");
                FileStatus status = FileStatus.read(up.resolve("."));
                if (status.inode() == root.node.inode && status.device() == device) {
                    return true;
                }
            }
            return false;
        }
    }

    /** Whether an open file, by its entry in {@code /proc/self/fd}, is below the root where the kernel says that it is now. */
    boolean isBelowRoot(Path entry) throws IOException {
        if (Files.readSymbolicLink(entry).startsWith(rootLocation)) {
            return true;
        }
        // The root itself may have been renamed.
        rootLocation = Files.readSymbolicLink(root.anchor.entry());
        return Files.readSymbolicLink(entry).startsWith(rootLocation);
    }

    private @Nullable Directory walk(Node node) throws IOException, Refusal {
        Deque<Node.Place> steps = new ArrayDeque<>();
        Deque<Node> targets = new ArrayDeque<>();
        Directory at = null;
        for (Node up = node; at == null; ) {
            List<Node.Place> places = up.places();
            if (places.isEmpty()) {
                return null;
            }
            if (steps.size() == MAX_DEPTH) {
                throw new Refusal(Status.SERVERFAULT);
            }
            steps.push(places.getFirst());
            targets.push(up);
            up = places.getFirst().parent();
            at = use(up);
        }
        while (!steps.isEmpty()) {
            Directory next;
            try {
                next = step(at, targets.pop(), steps.pop());
            } finally {
                at.close();
            }
            if (next == null) {
                return null;
            }
            at = next;
        }
        return at;
    }

    private @Nullable Directory step(Directory parent, Node node, Node.Place place) throws IOException, Refusal {
        Path path = parent.child(place.name());
        // ORDER: looked at before it is opened, for opening waits for ever if it is a pipe; and again after, for it may
        // be another one by then.
        FileStatus before;
        try {
            before = FileStatus.read(path);
        } catch (NoSuchFileException e) {
            return null;
        }
        if (!isFile(node, before)) {
            return null;
        }
        Anchor anchor;
        try {
            anchor = Anchor.open(path);
        } catch (NoSuchFileException e) {
            return null;
        }
        boolean kept = false;
        try {
            if (!isFile(node, anchor.status())) {
                return null;
            }
            kept = true;
            return keep(new Entry(node, anchor));
        } finally {
            if (!kept) {
                anchor.close();
            }
        }
    }

    private synchronized @Nullable Directory use(Node node) {
        Entry entry = node == root.node ? root : entries.get(node.inode);
        if (entry == null || entry.node.birth != node.birth || closed) {
            return null;
        }
        entry.users++;
        return new Directory(this, entry, node);
    }

    private Directory keep(Entry opened) throws Refusal {
        List<Entry> unused = new ArrayList<>();
        Entry kept = opened;
        synchronized (this) {
            if (closed) {
                opened.users++;
                opened.dropped = true;
                return new Directory(this, opened, opened.node);
            }
            Entry other = entries.get(opened.node.inode);
            if (other != null && other.node.birth == opened.node.birth) {
                // Another thread was faster.
                unused.add(opened);
                kept = other;
            } else {
                if (other != null) {
                    dropLocked(other, unused);
                }
                entries.put(opened.node.inode, opened);
            }
            kept.users++;
            trim(unused);
        }
        closeAll(unused);
        return new Directory(this, kept, opened.node);
    }

    private void trim(List<Entry> unused) {
        Iterator<Entry> oldest = entries.values().iterator();
        for (int over = entries.size() - capacity; over > 0 && oldest.hasNext(); ) {
            Entry entry = oldest.next();
            if (entry.users == 0) {
                oldest.remove();
                entry.dropped = true;
                unused.add(entry);
                over--;
            }
        }
    }

    /** Closes a directory that does not exist any more, when nobody uses it. */
    void drop(Node node) {
        List<Entry> unused = new ArrayList<>();
        synchronized (this) {
            Entry entry = entries.get(node.inode);
            if (entry != null && entry.node.birth == node.birth) {
                dropLocked(entry, unused);
            }
        }
        closeAll(unused);
    }

    private void dropLocked(Entry entry, List<Entry> unused) {
        entries.remove(entry.node.inode);
        entry.dropped = true;
        if (entry.users == 0) {
            unused.add(entry);
        }
    }

    /** One more user of a directory that is in use. */
    synchronized Directory again(Entry entry, Node node) {
        entry.users++;
        return new Directory(this, entry, node);
    }

    void release(Entry entry) {
        boolean last;
        synchronized (this) {
            entry.users--;
            last = entry.users == 0 && entry.dropped;
        }
        if (last) {
            closeAll(List.of(entry));
        }
    }

    /** How many are open, without the root. */
    synchronized int size() {
        return entries.size();
    }

    private static void closeAll(List<Entry> unused) {
        for (Entry entry : unused) {
            closeQuietly(entry);
        }
    }

    private static void closeQuietly(Entry entry) {
        try {
            entry.anchor.close();
        } catch (IOException e) {
            // Nothing was written through it; the descriptor is gone all the same.
        }
    }

    /** Closes what nobody uses now, and the rest when its users are done. */
    @Override
    public void close() {
        List<Entry> unused = new ArrayList<>();
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            entries.put(root.node.inode, root);
            for (Entry entry : List.copyOf(entries.values())) {
                dropLocked(entry, unused);
            }
        }
        closeAll(unused);
    }
}
