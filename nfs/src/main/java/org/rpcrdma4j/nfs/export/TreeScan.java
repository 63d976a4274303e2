// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.Status;

/**
 * Looks for files of which a handle came but the table does not say where they are: after a restart, after another process moved them, or because
 * they were forgotten. One walk through the whole tree looks for all that are wanted when it begins.
 *
 * <p>States of a handle: <b>wanted</b> (JUKEBOX; a walk is running or will begin), <b>found</b> (in the table), <b>gone</b> (STALE; a walk that began
 * after it was asked for has not met it). What is remembered of wanted and gone ones is bounded; a handle beyond the bound is asked for again.
 *
 * <p>A walk runs on its own thread, while there is something wanted; between two walks it rests at least as long as a walk took, so that handles that
 * somebody made up cannot keep the disk busy for good. It looks only at names and inodes and goes by paths: what it finds is a hint, which is
 * checked at each use, so that a link that got in the way cannot lead anybody out of the root.
 */
final class TreeScan implements AutoCloseable {

    private static final int MAX_WANTED = 65_536;
    private static final int MAX_GONE = 65_536;

    /** Walks that a moving directory may spoil before what was not met counts as gone. */
    private static final int MAX_SPOILED = 3;

    /** Paths longer than this begin at a directory further down, so that they stay far below the bound of system calls. */
    private static final int LONG_PATH = 1024;

    private static final long MIN_REST_NANOS = Duration.ofMillis(20).toNanos();
    private static final Duration PATIENCE_AT_CLOSE = Duration.ofSeconds(5);

    private final NodeTable table;
    private final OpenDirectories directories;
    private final Path root;
    private final int roomInTable;
    private final Map<Long, Wanted> wanted = new HashMap<>();
    private final Map<HandleFormat.Key, Boolean> gone = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<HandleFormat.Key, Boolean> eldest) {
            return size() > MAX_GONE;
        }
    };
    private @Nullable Thread walker;
    private volatile boolean anyGone;
    private volatile boolean closing;

    /** A handle that is looked for, and how many walks were spoiled. */
    private record Wanted(HandleFormat.Key key, int spoiled) {}

    /** A directory on the way: what is still to be visited in it, and how to get there. */
    private static final class Frame {
        final @Nullable Frame parent;
        final FileName name;
        final @Nullable FileStatus status;
        final Deque<FileName> left = new ArrayDeque<>();
        Path path;

        @Nullable
        Anchor anchor;

        @Nullable
        Node node;

        Frame(@Nullable Frame parent, FileName name, @Nullable FileStatus status, Path path) {
            this.parent = parent;
            this.name = name;
            this.status = status;
            this.path = path;
        }
    }

    TreeScan(NodeTable table, OpenDirectories directories, Path root, int maxNodes) {
        this.table = table;
        this.directories = directories;
        this.root = root;
        // Half of the table is for what clients use.
        roomInTable = maxNodes / 2;
    }

    /** What to answer to a call with a handle that the table does not know. */
    synchronized Status ask(HandleFormat.Key key) {
        if (gone.containsKey(key)) {
            return Status.STALE;
        }
        if (closing || wanted.size() >= MAX_WANTED) {
            return Status.JUKEBOX;
        }
        wanted.putIfAbsent(key.inode(), new Wanted(key, 0));
        if (walker == null) {
            walker = Thread.ofPlatform().name("nfs-export-scan").daemon().start(this::run);
        }
        return Status.JUKEBOX;
    }

    /** This file was seen to be removed. */
    synchronized void isGone(HandleFormat.Key key) {
        putGone(key);
        wanted.remove(key.inode());
    }

    private void putGone(HandleFormat.Key key) {
        gone.put(key, true);
        anyGone = true;
    }

    /** This file was seen, whatever was believed before. */
    void isBack(HandleFormat.Key key) {
        if (anyGone) {
            synchronized (this) {
                gone.remove(key);
            }
        }
    }

    private void run() {
        while (true) {
            Map<Long, Wanted> round;
            synchronized (this) {
                if (wanted.isEmpty() || closing) {
                    walker = null;
                    notifyAll();
                    return;
                }
                round = Map.copyOf(wanted);
            }
            long movesBefore = table.directoryMoves();
            long begin = System.nanoTime();
            try {
                walk(round);
            } catch (IOException | RuntimeException e) {
                // Answered like a walk that met nothing, or a broken disk would keep clients waiting for ever.
                System.getLogger(TreeScan.class.getName())
                        .log(System.Logger.Level.WARNING, "looking for files failed", e);
            }
            settle(round, table.directoryMoves() != movesBefore);
            rest(System.nanoTime() - begin);
        }
    }

    private synchronized void settle(Map<Long, Wanted> round, boolean spoiled) {
        if (closing) {
            return;
        }
        round.forEach((inode, asked) -> {
            wanted.remove(inode, asked);
            Node node = table.find(inode);
            if (node != null && table.isConnected(node)) {
                if (node.birth != asked.key.birth()) {
                    putGone(asked.key);
                }
            } else if (spoiled && asked.spoiled < MAX_SPOILED) {
                wanted.put(inode, new Wanted(asked.key, asked.spoiled + 1));
            } else {
                putGone(asked.key);
                if (node != null) {
                    table.forget(node);
                }
            }
        });
    }

    private synchronized void rest(long walkNanos) {
        long end = System.nanoTime() + Math.max(MIN_REST_NANOS, walkNanos);
        try {
            for (long left = end - System.nanoTime(); left > 0 && !closing; left = end - System.nanoTime()) {
                Duration time = Duration.ofNanos(left);
                wait(time.toMillis() + 1);
            }
        } catch (InterruptedException e) {
            closing = true;
        }
    }

    private void walk(Map<Long, Wanted> round) throws IOException {
        Set<Long> visited = new HashSet<>();
        Deque<Frame> stack = new ArrayDeque<>();
        Frame top = new Frame(null, Names.DOT, null, root);
        top.node = table.root();
        visited.add(table.root().inode);
        try {
            stack.push(top);
            list(top, round);
            while (!stack.isEmpty() && !closing) {
                Frame frame = stack.peek();
                FileName name = frame.left.poll();
                if (name == null) {
                    leave(stack.pop());
                    continue;
                }
                Frame next = enter(frame, name, visited);
                if (next != null) {
                    stack.push(next);
                    list(next, round);
                }
            }
        } finally {
            for (Frame frame : stack) {
                leave(frame);
            }
        }
    }

    private @Nullable Frame enter(Frame parent, FileName name, Set<Long> visited) {
        try {
            Path path = parent.path.resolve(Names.toPath(name));
            FileStatus status = FileStatus.read(path);
            // A directory that is mounted at two places is visited once.
            if (!status.isDirectory() || !directories.isOnDevice(status) || !visited.add(status.inode())) {
                return null;
            }
            Frame frame = new Frame(parent, name, status, path);
            if (path.toString().length() > LONG_PATH) {
                Anchor anchor = Anchor.open(path);
                frame.anchor = anchor;
                frame.path = anchor.self();
            }
            return frame;
        } catch (IOException e) {
            // Removed meanwhile, or not ours to read.
            return null;
        }
    }

    private static void leave(Frame frame) throws IOException {
        Anchor anchor = frame.anchor;
        if (anchor != null) {
            anchor.close();
        }
    }

    private void list(Frame frame, Map<Long, Wanted> round) {
        List<FileName> below = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(frame.path)) {
            for (Path entry : entries) {
                if (closing) {
                    return;
                }
                meet(frame, entry, round, below);
            }
        } catch (IOException | DirectoryIteratorException e) {
            // Removed meanwhile, or not ours to read: what was seen of it counts.
        }
        frame.left.addAll(below);
    }

    private void meet(Frame frame, Path entry, Map<Long, Wanted> round, List<FileName> below) {
        try {
            FileStatus status = FileStatus.read(entry);
            if (!directories.isOnDevice(status)) {
                return;
            }
            FileName name = Names.nameOf(entry);
            if (status.isDirectory()) {
                below.add(name);
            }
            if (round.containsKey(status.inode()) || table.size() < roomInTable) {
                table.place(nodeOf(frame), name, status, directories.birthOf(status));
            }
        } catch (IOException e) {
            // Removed meanwhile.
        }
    }

    private Node nodeOf(Frame frame) {
        Node known = frame.node;
        if (known != null && known == table.find(known.inode)) {
            return known;
        }
        Frame parent = frame.parent;
        FileStatus status = frame.status;
        if (parent == null || status == null) {
            return table.root();
        }
        Node node = table.place(nodeOf(parent), frame.name, status, directories.birthOf(status));
        frame.node = node;
        return node;
    }

    /** Ends a walk that is running, and waits for it. */
    @Override
    public void close() {
        Thread running;
        synchronized (this) {
            closing = true;
            running = walker;
            notifyAll();
        }
        if (running != null) {
            try {
                running.join(PATIENCE_AT_CLOSE);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
