// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.CookieVerifier;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.ReadDir;
import org.rpcrdma4j.nfs.protocol.ReadDirPlus;
import org.rpcrdma4j.nfs.protocol.Status;

/**
 * READDIR and READDIRPLUS (RFC 1813, Sections 3.3.16 and 3.3.17). Cookies stay good when the directory changes, so the cookie verifier is always the
 * same and is not looked at.
 */
final class Listing {

    private final Tree tree;
    private final Snapshots snapshots;

    Listing(Tree tree, Snapshots snapshots) {
        this.tree = tree;
        this.snapshots = snapshots;
    }

    /** Takes entries until it is full. */
    private interface Page {

        /** Whether it took it; false if there is no room for it. */
        boolean add(FileName name, long cookie, long fileId, @Nullable FileStatus status);

        boolean isEmpty();
    }

    ReadDir.Results readDir(Identity who, ReadDir.Arguments call) {
        try (Directory directory = tree.resolver().directory(call.directory())) {
            List<ReadDir.Entry> entries = new ArrayList<>();
            try {
                FileStatus status = directory.status();
                tree.permissions().require(who, status, Permissions.READ);
                Page page = pageOf(entries, limit(call.count()));
                boolean isEnd = fill(page, directory, status, call.cookie(), false);
                return new ReadDir.Ok(tree.attributes(status), CookieVerifier.NONE, entries, isEnd);
            } catch (IOException | Refusal e) {
                return new ReadDir.Failed(Failures.statusOf(e), tree.attributesOf(directory));
            }
        } catch (IOException | Refusal e) {
            return new ReadDir.Failed(Failures.statusOf(e), null);
        }
    }

    ReadDirPlus.Results readDirPlus(Identity who, ReadDirPlus.Arguments call) {
        try (Directory directory = tree.resolver().directory(call.directory())) {
            List<ReadDirPlus.Entry> entries = new ArrayList<>();
            try {
                FileStatus status = directory.status();
                tree.permissions().require(who, status, Permissions.READ);
                Page page = pageOf(entries, call.directoryCount(), limit(call.maxCount()));
                // Who may read names but not look them up gets no more than names.
                boolean maySearch = tree.permissions().maySearch(who, status);
                boolean isEnd = fill(page, directory, status, call.cookie(), maySearch);
                return new ReadDirPlus.Ok(tree.attributes(status), CookieVerifier.NONE, entries, isEnd);
            } catch (IOException | Refusal e) {
                return new ReadDirPlus.Failed(Failures.statusOf(e), tree.attributesOf(directory));
            }
        } catch (IOException | Refusal e) {
            return new ReadDirPlus.Failed(Failures.statusOf(e), null);
        }
    }

    private long limit(long count) {
        return Math.min(count, tree.options().maxDirectoryBytes());
    }

    private static Page pageOf(List<ReadDir.Entry> entries, long limit) {
        return new Page() {
            private long bytes = ReadDir.Ok.EMPTY_BYTES + Attributes.ENCODED_BYTES;

            @Override
            public boolean add(FileName name, long cookie, long fileId, @Nullable FileStatus status) {
                ReadDir.Entry entry = new ReadDir.Entry(fileId, name, cookie);
                bytes += entry.encodedBytes();
                return bytes <= limit && entries.add(entry);
            }

            @Override
            public boolean isEmpty() {
                return entries.isEmpty();
            }
        };
    }

    private Page pageOf(List<ReadDirPlus.Entry> entries, long directoryLimit, long limit) {
        return new Page() {
            private long directoryBytes;
            private long bytes = ReadDirPlus.Ok.EMPTY_BYTES + Attributes.ENCODED_BYTES;

            @Override
            public boolean add(FileName name, long cookie, long fileId, @Nullable FileStatus status) {
                Attributes attributes = status == null ? null : tree.attributes(status);
                FileHandle handle = status == null ? null : tree.handleOf(status);
                ReadDirPlus.Entry entry = new ReadDirPlus.Entry(fileId, name, cookie, attributes, handle);
                directoryBytes += entry.directoryBytes();
                bytes += entry.encodedBytes();
                return directoryBytes <= directoryLimit && bytes <= limit && entries.add(entry);
            }

            @Override
            public boolean isEmpty() {
                return entries.isEmpty();
            }
        };
    }

    /** Fills a page with what follows the cookie; true if nothing follows the page. */
    private boolean fill(Page page, Directory directory, FileStatus status, long cookie, boolean remember)
            throws IOException, Refusal {
        if (cookie < 0) {
            throw new Refusal(Status.BAD_COOKIE);
        }
        if (!addDots(page, directory, status, cookie)) {
            return isFull(page);
        }
        long from = cookie;
        while (true) {
            Snapshot snapshot = snapshots.of(directory, status, from);
            List<Snapshot.Item> items = snapshot.items();
            for (int i = snapshot.indexAfter(from); i < items.size(); i++) {
                Snapshot.Item item = items.get(i);
                if (!addEntry(page, directory, item, remember)) {
                    return isFull(page);
                }
                from = item.cookie();
            }
            if (snapshot.isComplete()) {
                return true;
            }
            if (items.isEmpty()) {
                throw new Refusal(Status.SERVERFAULT);
            }
        }
    }

    /** RFC 1813, Section 3.3.16: TOOSMALL if there is no room for one entry. */
    private static boolean isFull(Page page) throws Refusal {
        if (page.isEmpty()) {
            throw new Refusal(Status.TOOSMALL);
        }
        return false;
    }

    private boolean addDots(Page page, Directory directory, FileStatus status, long cookie)
            throws IOException, Refusal {
        if (cookie < Snapshot.DOT_COOKIE && !page.add(Names.DOT, Snapshot.DOT_COOKIE, status.inode(), status)) {
            return false;
        }
        if (cookie >= Snapshot.DOT_DOT_COOKIE) {
            return true;
        }
        // The root is its own parent.
        Node parent = directory.node().parent();
        if (parent == null) {
            return page.add(Names.DOT_DOT, Snapshot.DOT_DOT_COOKIE, status.inode(), status);
        }
        try (Directory above = tree.directories().open(parent)) {
            FileStatus aboveStatus = above == null ? null : above.status();
            return page.add(Names.DOT_DOT, Snapshot.DOT_DOT_COOKIE, parent.inode, aboveStatus);
        }
    }

    private boolean addEntry(Page page, Directory directory, Snapshot.Item item, boolean remember)
            throws IOException, Refusal {
        FileStatus status;
        if (remember) {
            // ORDER: shared from the look to the note, so that a rename in between is not forgotten.
            try (DirectoryLocks.Held _ = tree.locks().share(directory.node())) {
                status = statusOf(directory, item.name());
                if (status != null && tree.directories().isOnDevice(status)) {
                    tree.remember(directory, item.name(), status);
                }
            }
        } else {
            status = statusOf(directory, item.name());
        }
        if (status == null) {
            return true;
        }
        // Of what is mounted here only the name is told.
        FileStatus told = remember && tree.directories().isOnDevice(status) ? status : null;
        return page.add(item.name(), item.cookie(), status.inode(), told);
    }

    /** Null if it was removed meanwhile. */
    private static @Nullable FileStatus statusOf(Directory directory, FileName name) throws IOException {
        try {
            return FileStatus.read(directory.child(name));
        } catch (NoSuchFileException e) {
            return null;
        }
    }
}
