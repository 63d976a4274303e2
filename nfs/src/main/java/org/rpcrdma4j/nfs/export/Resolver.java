// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.Status;

/**
 * Finds the file of a handle. A file's place in the table may be out of date for a moment, between a rename and the table's being told: then it is
 * looked for again with the directory's lock shared, which whoever renames has alone.
 */
final class Resolver {

    /** Renames that may get in between before the client is asked to come again. */
    private static final int MAX_ATTEMPTS = 16;

    private final NodeTable table;
    private final OpenDirectories directories;
    private final DirectoryLocks locks;
    private final TreeScan scan;
    private final HandleFormat handles;

    Resolver(NodeTable table, OpenDirectories directories, DirectoryLocks locks, TreeScan scan, HandleFormat handles) {
        this.table = table;
        this.directories = directories;
        this.locks = locks;
        this.scan = scan;
        this.handles = handles;
    }

    /** The directory of a handle; NOTDIR if it is something else. */
    Directory directory(FileHandle handle) throws IOException, Refusal {
        Node node = node(handle);
        if (!node.isDirectory) {
            throw new Refusal(Status.NOTDIR);
        }
        return directory(node);
    }

    Directory directory(Node node) throws IOException, Refusal {
        Directory directory = directories.open(node);
        if (directory != null) {
            return directory;
        }
        return retried(node);
    }

    /**
     * A rename may have got in between: from the nearest directory above that can be opened, looks for the next one on the way with its entries kept from
     * changing.
     */
    private Directory retried(Node node) throws IOException, Refusal {
        for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
            Node child = node;
            while (!isConfirmed(child, node)) {
                child = parentOf(child, node);
            }
            Directory directory = directories.open(node);
            if (directory != null) {
                return directory;
            }
        }
        throw new Refusal(Status.JUKEBOX);
    }

    private Node parentOf(Node child, Node wanted) throws Refusal {
        Node parent = child.parent();
        if (parent == null) {
            throw lost(wanted);
        }
        return parent;
    }

    /** Whether the directory above could be opened; refuses if this one is not in it, as the table says. */
    private boolean isConfirmed(Node child, Node wanted) throws IOException, Refusal {
        Node parent = parentOf(child, wanted);
        try (Directory above = directories.open(parent)) {
            if (above == null) {
                return false;
            }
            try (DirectoryLocks.Held _ = locks.share(parent)) {
                confirm(parent, child, wanted);
            }
            return true;
        }
    }

    private void confirm(Node parent, Node child, Node wanted) throws IOException, Refusal {
        List<Node.Place> places = child.places();
        if (places.isEmpty() || places.getFirst().parent() != parent) {
            return;
        }
        try (Directory directory = directories.open(child)) {
            if (directory == null) {
                table.displace(child, parent, places.getFirst().name());
                throw lost(wanted);
            }
        }
    }

    /** The file of a handle. */
    Located locate(FileHandle handle) throws IOException, Refusal {
        return locate(node(handle));
    }

    Located locate(Node node) throws IOException, Refusal {
        if (node.isDirectory) {
            return locateDirectory(node);
        }
        for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
            for (Node.Place place : node.places()) {
                Located found = look(node, place, attempt > 0);
                if (found != null) {
                    return found;
                }
            }
            if (node.places().isEmpty()) {
                throw lost(node);
            }
        }
        throw new Refusal(Status.JUKEBOX);
    }

    private Located locateDirectory(Node node) throws IOException, Refusal {
        Directory directory = directory(node);
        boolean done = false;
        try {
            Located located = new Located(node, directory, null, directory.status());
            done = true;
            return located;
        } finally {
            if (!done) {
                directory.close();
            }
        }
    }

    private @Nullable Located look(Node node, Node.Place place, boolean locked) throws IOException, Refusal {
        Directory directory;
        try {
            directory = directory(place.parent());
        } catch (Refusal e) {
            // Its directory is gone or lost; the file may have another name elsewhere.
            if (e.status() == Status.STALE) {
                table.displace(node, place.parent(), place.name());
                return null;
            }
            if (e.status() == Status.JUKEBOX) {
                scan.ask(keyOf(node));
            }
            throw e;
        }
        Located found = null;
        try {
            found = locked ? lookLocked(node, directory, place) : look(node, directory, place);
            return found;
        } finally {
            if (found == null) {
                directory.close();
            }
        }
    }

    private @Nullable Located lookLocked(Node node, Directory directory, Node.Place place) throws IOException {
        try (DirectoryLocks.Held _ = locks.share(directory.node())) {
            Located found = look(node, directory, place);
            if (found == null) {
                // ORDER: while nobody renames here; what the table says now is wrong for good.
                table.displace(node, place.parent(), place.name());
            }
            return found;
        }
    }

    private @Nullable Located look(Node node, Directory directory, Node.Place place) throws IOException {
        FileStatus status = read(directory, place);
        return status != null && directories.isFile(node, status)
                ? new Located(node, directory, place.name(), status)
                : null;
    }

    private static @Nullable FileStatus read(Directory directory, Node.Place place) throws IOException {
        try {
            return FileStatus.read(directory.child(place.name()));
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    /** What the table has for a handle. */
    private Node node(FileHandle handle) throws Refusal {
        HandleFormat.Key key = handles.decode(handle);
        Node node = table.find(key.inode());
        if (node == null) {
            throw new Refusal(scan.ask(key));
        }
        if (key.birth() != node.birth) {
            // The inode is another file's by now.
            throw new Refusal(Status.STALE);
        }
        return node;
    }

    private Refusal lost(Node node) {
        return new Refusal(scan.ask(keyOf(node)));
    }

    private static HandleFormat.Key keyOf(Node node) {
        return new HandleFormat.Key(node.inode, node.birth);
    }
}
