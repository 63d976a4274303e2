// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FileType;
import org.rpcrdma4j.nfs.protocol.Status;

/** Opens regular files for READ, WRITE and COMMIT, and for changes of their size. */
final class FileOpening {

    private final Tree tree;
    private final OpenFiles files;

    FileOpening(Tree tree, OpenFiles files) {
        this.tree = tree;
        this.files = files;
    }

    OpenFile open(Identity who, FileHandle handle, OpenMode mode) throws IOException, Refusal {
        HandleFormat.Key key = tree.handles().decode(handle);
        if (mode == OpenMode.WRITE) {
            tree.permissions().requireWritable();
        }
        OpenFiles.Entry entry = files.use(new OpenFiles.Key(key.inode(), key.birth(), mode));
        if (entry != null) {
            OpenFile open = openAgain(who, entry, mode, key);
            if (open != null) {
                return open;
            }
        }
        try (Located file = tree.resolver().locate(handle)) {
            requirePermission(who, file.status(), mode);
            OpenFiles.Entry opened = entryOf(file, mode);
            boolean lent = false;
            try {
                OpenFile open = lend(who, opened, mode, opened.status());
                lent = true;
                return open;
            } finally {
                if (!lent) {
                    files.release(opened);
                }
            }
        }
    }

    /** Gives out a file that is open already, if it is still one of the export. */
    private @Nullable OpenFile openAgain(Identity who, OpenFiles.Entry entry, OpenMode mode, HandleFormat.Key key)
            throws IOException, Refusal {
        boolean lent = false;
        try {
            FileStatus status = entry.status();
            if (status.links() == 0 || !isBelowRoot(entry)) {
                files.drop(key.inode(), key.birth());
                return null;
            }
            requirePermission(who, status, mode);
            OpenFile open = lend(who, entry, mode, status);
            lent = true;
            return open;
        } finally {
            if (!lent) {
                files.release(entry);
            }
        }
    }

    private boolean isBelowRoot(OpenFiles.Entry entry) {
        try {
            return tree.directories().isBelowRoot(entry.path);
        } catch (IOException e) {
            // The kernel does not tell paths longer than a page: the file has to be found again each time.
            return false;
        }
    }

    private OpenFile lend(Identity who, OpenFiles.Entry entry, OpenMode mode, FileStatus status) throws IOException {
        if (mode == OpenMode.WRITE) {
            int clear = tree.permissions().bitsToClear(who, status);
            if (clear != 0) {
                // ORDER: the rights go before the data comes.
                Settings.setModeOfOpen(entry.path, status.mode() & FileStatus.MODE_BITS & ~clear);
            }
        }
        return new OpenFile(tree, files, entry, status);
    }

    private void requirePermission(Identity who, FileStatus status, OpenMode mode) throws Refusal {
        requireRegular(status);
        if (mode == OpenMode.READ) {
            tree.permissions().requireRead(who, status);
        } else {
            tree.permissions().requireWrite(who, status);
        }
    }

    static void requireRegular(FileStatus status) throws Refusal {
        if (status.isRegular()) {
            return;
        }
        // RFC 1813, Sections 3.3.6 and 3.3.7: INVAL for what isn't a regular file; ISDIR is what clients take for a
        // directory.
        throw new Refusal(status.type() == FileType.DIRECTORY ? Status.ISDIR : Status.INVAL);
    }

    /** The open file, one more user of which the caller is. */
    OpenFiles.Entry entryOf(Located file, OpenMode mode) throws IOException, Refusal {
        OpenFiles.Key key = new OpenFiles.Key(file.node().inode, file.node().birth, mode);
        OpenFiles.Entry entry = files.use(key);
        if (entry != null) {
            return entry;
        }
        FileChannel channel = openChannel(file, mode);
        boolean kept = false;
        try {
            Path path = Descriptors.entryOf(channel);
            // ORDER: what was opened is looked at after it was opened, by its descriptor: another file may have been
            // put there meanwhile.
            if (!tree.directories().isFile(file.node(), FileStatus.ofOpen(path))) {
                throw new Refusal(Status.JUKEBOX);
            }
            OpenFiles.Entry opened = files.keep(new OpenFiles.Entry(key, channel, path));
            kept = true;
            return opened;
        } finally {
            if (!kept) {
                channel.close();
            }
        }
    }

    private FileChannel openChannel(Located file, OpenMode mode) throws IOException {
        StandardOpenOption option = mode == OpenMode.READ ? StandardOpenOption.READ : StandardOpenOption.WRITE;
        Path path = file.path();
        try {
            return FileChannel.open(path, option, LinkOption.NOFOLLOW_LINKS);
        } catch (AccessDeniedException e) {
            if (tree.permissions().isPrivileged()) {
                throw e;
            }
            // RFC 1813, Section 4.4: the owner of a file may read and write it, whatever its mode has become since the
            // client opened it. The kernel would
            // not let a user without privileges, so the mode is changed for the moment.
            int mine = mode == OpenMode.READ ? 0400 : 0200;
            int bits = file.status().mode() & FileStatus.MODE_BITS;
            Settings.setMode(path, bits | mine, false);
            try {
                return FileChannel.open(path, option, LinkOption.NOFOLLOW_LINKS);
            } finally {
                Settings.setMode(path, bits, false);
            }
        }
    }
}
