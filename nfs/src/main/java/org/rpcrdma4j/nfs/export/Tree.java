// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.nfs.protocol.WeakCacheData;

/** What the operations of one export have in common. */
record Tree(
        ExportOptions options,
        long fileSystem,
        NodeTable table,
        OpenDirectories directories,
        DirectoryLocks locks,
        TreeScan scan,
        HandleFormat handles,
        Resolver resolver,
        Permissions permissions) {

    Attributes attributes(FileStatus status) {
        return status.attributes(fileSystem);
    }

    /** The directory's attributes now; null if they can't be had. */
    @Nullable
    Attributes attributesOf(Directory directory) {
        try {
            return attributes(directory.status());
        } catch (IOException | Refusal e) {
            return null;
        }
    }

    /** The file's attributes now; null if they can't be had, or if it is another file by now. */
    @Nullable
    Attributes attributesOf(Located file) {
        try {
            FileStatus status = file.statusNow();
            return directories.isFile(file.node(), status) ? attributes(status) : null;
        } catch (IOException | Refusal e) {
            return null;
        }
    }

    /** What became of a directory since {@code before}. */
    WeakCacheData changeOf(Directory directory, @Nullable FileStatus before) {
        return WeakCacheData.of(before == null ? null : attributes(before), attributesOf(directory));
    }

    /** Remembers that the file was seen there; the caller keeps others from changing the directory. */
    Node remember(Directory directory, FileName name, FileStatus status) {
        long birth = directories.birthOf(status);
        Node node = table.place(directory.node(), name, status, birth);
        scan.isBack(new HandleFormat.Key(status.inode(), birth));
        return node;
    }

    FileHandle handleOf(FileStatus status) {
        return handles.encode(status.inode(), directories.birthOf(status));
    }

    /**
     * The status of an entry.
     *
     * @throws Refusal NOENT if there is none; ACCES if something else is mounted there
     */
    FileStatus entry(Directory directory, FileName name) throws IOException, Refusal {
        FileStatus status = entryIfAny(directory, name);
        if (status == null) {
            throw new Refusal(Status.NOENT);
        }
        return status;
    }

    @Nullable
    FileStatus entryIfAny(Directory directory, FileName name) throws IOException, Refusal {
        FileStatus status;
        try {
            status = FileStatus.read(directory.child(name));
        } catch (NoSuchFileException e) {
            return null;
        }
        if (!directories.isOnDevice(status)) {
            throw new Refusal(Status.ACCES);
        }
        return status;
    }

    /** An entry was taken away whose file was this; what the table has for it is put right. */
    void forgetEntry(Directory directory, FileName name, FileStatus status) {
        Node node = table.find(status.inode());
        long birth = directories.birthOf(status);
        if (node != null && node.birth == birth) {
            table.displace(node, directory.node(), name);
        }
        if (status.isDirectory() || status.links() == 1) {
            if (node != null && node.birth == birth) {
                table.forget(node);
                directories.drop(node);
            }
            scan.isGone(new HandleFormat.Key(status.inode(), birth));
        }
    }
}
