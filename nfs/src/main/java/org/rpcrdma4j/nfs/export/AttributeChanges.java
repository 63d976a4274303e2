// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.ChangeResults;
import org.rpcrdma4j.nfs.protocol.SetAttr;
import org.rpcrdma4j.nfs.protocol.SetAttributes;
import org.rpcrdma4j.nfs.protocol.SetTime;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.nfs.protocol.WeakCacheData;

/** SETATTR (RFC 1813, Section 3.3.2). */
final class AttributeChanges {

    /** Renames that may get in between before the client is asked to come again. */
    private static final int MAX_ATTEMPTS = 16;

    private final Tree tree;
    private final OpenFiles files;
    private final FileOpening opening;

    AttributeChanges(Tree tree, OpenFiles files, FileOpening opening) {
        this.tree = tree;
        this.files = files;
        this.opening = opening;
    }

    ChangeResults set(Identity who, SetAttr.Arguments call) {
        try {
            for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
                try (Located file = tree.resolver().locate(call.file());
                        DirectoryLocks.Held _ = tree.locks()
                                .aloneAndShare(
                                        file.node(), List.of(file.directory().node()))) {
                    FileStatus before = statusIfThere(file);
                    if (before != null) {
                        return set(who, call, file, before);
                    }
                }
            }
            return new ChangeResults(Status.JUKEBOX, WeakCacheData.NONE);
        } catch (IOException | Refusal e) {
            return new ChangeResults(Failures.statusOf(e), WeakCacheData.NONE);
        }
    }

    /** The status of the file, with the lock held; null if it was renamed before the lock was had. */
    private @Nullable FileStatus statusIfThere(Located file) throws Refusal, IOException {
        try {
            FileStatus status = file.statusNow();
            return tree.directories().isFile(file.node(), status) ? status : null;
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    private ChangeResults set(Identity who, SetAttr.Arguments call, Located file, FileStatus before) {
        Status status = Status.OK;
        try {
            // RFC 1813, Section 3.3.2: with a guard, nothing is set if the file changed since the client looked.
            if (call.guard() != null
                    && !call.guard().equals(tree.attributes(before).changeTime())) {
                throw new Refusal(Status.NOT_SYNC);
            }
            // ORDER: everything is checked before anything is set.
            check(who, call.attributes(), before);
            apply(who, call.attributes(), file, before);
        } catch (IOException | Refusal e) {
            status = Failures.statusOf(e);
        }
        files.isChanged(file.node().inode, file.node().birth);
        return new ChangeResults(status, WeakCacheData.of(tree.attributes(before), tree.attributesOf(file)));
    }

    private void check(Identity who, SetAttributes wanted, FileStatus file) throws Refusal {
        Permissions permissions = tree.permissions();
        Settings.check(wanted.accessTime());
        Settings.check(wanted.modifyTime());
        if (!wanted.equals(SetAttributes.NONE)) {
            permissions.requireWritable();
        }
        Long size = wanted.size();
        if (size != null) {
            FileOpening.requireRegular(file);
            permissions.requireWrite(who, file);
            if (size < 0) {
                throw new Refusal(Status.FBIG);
            }
        }
        if (wanted.mode() != null) {
            permissions.requireOwner(who, file);
        }
        checkOwner(who, wanted, file);
        checkTimes(who, wanted, file);
        boolean isSpecial = !file.isRegular() && !file.isDirectory() && !file.isSymbolicLink();
        boolean setsTime = setsTime(wanted.accessTime()) || setsTime(wanted.modifyTime());
        if (isSpecial && (wanted.mode() != null || setsTime)) {
            // Java would open the pipe or device for that.
            throw new Refusal(Status.INVAL);
        }
    }

    private void checkOwner(Identity who, SetAttributes wanted, FileStatus file) throws Refusal {
        Permissions permissions = tree.permissions();
        Integer uid = wanted.uid();
        Integer gid = wanted.gid();
        if ((uid != null && uid == -1) || (gid != null && gid == -1)) {
            // To system calls it means that it stays.
            throw new Refusal(Status.INVAL);
        }
        if (!permissions.isPrivileged()) {
            // The kernel checks.
            return;
        }
        if (uid != null && !who.isRoot() && (uid != file.uid() || who.uid() != file.uid())) {
            throw new Refusal(Status.PERM);
        }
        if (gid != null && !who.isRoot() && (who.uid() != file.uid() || (gid != file.gid() && !who.isIn(gid)))) {
            throw new Refusal(Status.PERM);
        }
    }

    private void checkTimes(Identity who, SetAttributes wanted, FileStatus file) throws Refusal {
        boolean setsOther = wanted.accessTime() instanceof SetTime.To || wanted.modifyTime() instanceof SetTime.To;
        if (setsOther) {
            tree.permissions().requireOwner(who, file);
        } else if (setsTime(wanted.accessTime()) || setsTime(wanted.modifyTime())) {
            // Who may write may also say that it was written now.
            if (!tree.permissions().isOwner(who, file)) {
                tree.permissions().require(who, file, Permissions.WRITE);
            }
        }
    }

    private static boolean setsTime(SetTime time) {
        return !(time instanceof SetTime.Keep);
    }

    private void apply(Identity who, SetAttributes wanted, Located file, FileStatus before)
            throws IOException, Refusal {
        Permissions permissions = tree.permissions();
        Long size = wanted.size();
        int clear = 0;
        if (size != null) {
            resize(file, size);
            clear = permissions.bitsToClear(who, before);
        }
        int uid = wanted.uid() == null ? before.uid() : wanted.uid();
        int gid = wanted.gid() == null ? before.gid() : wanted.gid();
        Settings.setOwner(file.path(), before, uid, gid);
        // ORDER: after the owner, for setting that takes away the set-user-ID and set-group-ID bits.
        Integer mode = wanted.mode();
        if (mode != null && !before.isSymbolicLink()) {
            Settings.setMode(file.path(), permissions.permitted(who, mode, gid), permissions.isPrivileged());
        } else if (clear != 0) {
            Settings.setMode(file.path(), before.mode() & FileStatus.MODE_BITS & ~clear, permissions.isPrivileged());
        }
        // ORDER: last, for everything before changes times.
        Settings.setTimes(file.path(), wanted.accessTime(), wanted.modifyTime());
    }

    /** Cuts or extends the file, and makes its time of modification now even if it has that size already. */
    void resize(Located file, long size) throws IOException, Refusal {
        OpenFiles.Entry entry = opening.entryOf(file, OpenMode.WRITE);
        try {
            Settings.setSize(entry, size);
        } finally {
            files.release(entry);
        }
    }
}
