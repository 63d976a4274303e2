// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.ChangeResults;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.Link;
import org.rpcrdma4j.nfs.protocol.Remove;
import org.rpcrdma4j.nfs.protocol.Rename;
import org.rpcrdma4j.nfs.protocol.RmDir;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.nfs.protocol.WeakCacheData;

/** REMOVE, RMDIR, RENAME and LINK (RFC 1813, Sections 3.3.12 to 3.3.15). */
final class EntryChanges {

    /** Renames that may get in between before the client is asked to come again. */
    private static final int MAX_ATTEMPTS = 16;

    private final Tree tree;
    private final OpenFiles files;

    EntryChanges(Tree tree, OpenFiles files) {
        this.tree = tree;
        this.files = files;
    }

    ChangeResults remove(Identity who, Remove.Arguments call) {
        return takeAway(who, call.directory(), call.name(), false);
    }

    ChangeResults rmDir(Identity who, RmDir.Arguments call) {
        return takeAway(who, call.directory(), call.name(), true);
    }

    private ChangeResults takeAway(Identity who, FileHandle handle, FileName name, boolean isDirectory) {
        try (Directory directory = tree.resolver().directory(handle);
                DirectoryLocks.Held _ = tree.locks().alone(directory.node())) {
            FileStatus before = null;
            Status status = Status.OK;
            try {
                before = directory.status();
                tree.permissions().requireWritable();
                takeAway(who, directory, before, name, isDirectory);
            } catch (IOException | Refusal e) {
                status = Failures.statusOf(e);
            }
            return new ChangeResults(status, tree.changeOf(directory, before));
        } catch (IOException | Refusal e) {
            return new ChangeResults(Failures.statusOf(e), WeakCacheData.NONE);
        }
    }

    private void takeAway(Identity who, Directory directory, FileStatus status, FileName name, boolean isDirectory)
            throws IOException, Refusal {
        Names.check(name);
        if (name.isDots()) {
            // RFC 1813, Section 3.3.13: "." is an invalid name to remove, ".." is never empty; to REMOVE both are
            // directories.
            throw new Refusal(!isDirectory ? Status.ISDIR : name.length() == 1 ? Status.INVAL : Status.NOTEMPTY);
        }
        tree.permissions().requireSearch(who, status);
        FileStatus entry = tree.entry(directory, name);
        if (entry.isDirectory() != isDirectory) {
            throw new Refusal(isDirectory ? Status.NOTDIR : Status.ISDIR);
        }
        tree.permissions().requireDelete(who, status, entry);
        Files.delete(directory.child(name));
        isTaken(directory, name, entry);
    }

    private void isTaken(Directory directory, FileName name, FileStatus entry) {
        tree.forgetEntry(directory, name, entry);
        if (entry.links() == 1) {
            files.drop(entry.inode(), tree.directories().birthOf(entry));
        }
    }

    Rename.Results rename(Identity who, Rename.Arguments call) {
        try (Directory from = tree.resolver().directory(call.fromDirectory());
                Directory to = tree.resolver().directory(call.toDirectory());
                DirectoryLocks.Held _ = tree.locks().alone(from.node(), to.node())) {
            FileStatus fromBefore = null;
            FileStatus toBefore = null;
            Status status = Status.OK;
            try {
                fromBefore = from.status();
                toBefore = to.status();
                tree.permissions().requireWritable();
                rename(who, new Side(from, fromBefore, call.fromName()), new Side(to, toBefore, call.toName()));
            } catch (IOException | Refusal e) {
                status = Failures.statusOf(e);
            }
            return new Rename.Results(status, tree.changeOf(from, fromBefore), tree.changeOf(to, toBefore));
        } catch (IOException | Refusal e) {
            return new Rename.Results(Failures.statusOf(e), WeakCacheData.NONE, WeakCacheData.NONE);
        }
    }

    /** One end of a rename. */
    private record Side(Directory directory, FileStatus status, FileName name) {}

    private void rename(Identity who, Side from, Side to) throws IOException, Refusal {
        checkPlain(from.name);
        checkPlain(to.name);
        Permissions permissions = tree.permissions();
        permissions.requireSearch(who, from.status);
        FileStatus source = tree.entry(from.directory, from.name);
        permissions.requireDelete(who, from.status, source);
        permissions.requireAdd(who, to.status);
        FileStatus target = tree.entryIfAny(to.directory, to.name);
        boolean isMoved = from.status.inode() != to.status.inode();
        if (source.isDirectory() && isMoved) {
            // Its ".." changes.
            permissions.require(who, source, Permissions.WRITE);
        }
        if (target != null) {
            if (target.inode() == source.inode()) {
                // RFC 1813, Section 3.3.14: two names of one file: nothing is done.
                return;
            }
            permissions.requireDelete(who, to.status, target);
            if (source.isDirectory() != target.isDirectory()) {
                throw new Refusal(target.isDirectory() ? Status.ISDIR : Status.NOTDIR);
            }
        }
        Files.move(from.directory.child(from.name), to.directory.child(to.name), StandardCopyOption.ATOMIC_MOVE);
        // ORDER: the table is told before the locks are given back.
        if (target != null) {
            isTaken(to.directory, to.name, target);
        }
        Node node = tree.remember(to.directory, to.name, source);
        tree.table().displace(node, from.directory.node(), from.name);
    }

    /** RFC 1813, Section 3.3.14: neither name may be {@code .} or {@code ..}. */
    private static void checkPlain(FileName name) throws Refusal {
        Names.check(name);
        if (name.isDots()) {
            throw new Refusal(Status.INVAL);
        }
    }

    Link.Results link(Identity who, Link.Arguments call) {
        try {
            for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
                Link.Results results = tryLink(who, call);
                if (results != null) {
                    return results;
                }
            }
            return new Link.Results(Status.JUKEBOX, null, WeakCacheData.NONE);
        } catch (IOException | Refusal e) {
            return new Link.Results(Failures.statusOf(e), null, WeakCacheData.NONE);
        }
    }

    /** Links it; null if it was renamed before the locks were had. */
    private Link.@Nullable Results tryLink(Identity who, Link.Arguments call) throws IOException, Refusal {
        try (Located file = tree.resolver().locate(call.file());
                Directory directory = tree.resolver().directory(call.directory());
                DirectoryLocks.Held _ = tree.locks()
                        .aloneAndShare(
                                directory.node(), List.of(file.directory().node()))) {
            FileStatus source = statusIfThere(file);
            if (source == null) {
                return null;
            }
            FileStatus before = null;
            Status status = Status.OK;
            try {
                before = directory.status();
                tree.permissions().requireWritable();
                link(who, file, source, new Side(directory, before, call.name()));
            } catch (IOException | Refusal e) {
                status = Failures.statusOf(e);
            }
            return new Link.Results(status, tree.attributesOf(file), tree.changeOf(directory, before));
        }
    }

    private @Nullable FileStatus statusIfThere(Located file) throws IOException, Refusal {
        try {
            FileStatus status = file.statusNow();
            return tree.directories().isFile(file.node(), status) ? status : null;
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    private void link(Identity who, Located file, FileStatus source, Side to) throws IOException, Refusal {
        Names.check(to.name);
        if (source.isDirectory()) {
            throw new Refusal(Status.ISDIR);
        }
        if (to.name.isDots()) {
            throw new Refusal(Status.EXIST);
        }
        tree.permissions().requireAdd(who, to.status);
        if (tree.entryIfAny(to.directory, to.name) != null) {
            throw new Refusal(Status.EXIST);
        }
        tree.permissions().requireLink(who, source);
        Files.createLink(to.directory.child(to.name), file.path());
        tree.remember(to.directory, to.name, source);
    }
}
