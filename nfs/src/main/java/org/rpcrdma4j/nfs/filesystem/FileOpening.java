// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.filesystem;

import java.io.IOException;
import java.nio.file.FileSystemException;
import org.rpcrdma4j.nfs.client.CreateMode;
import org.rpcrdma4j.nfs.client.NfsFile;
import org.rpcrdma4j.nfs.client.NfsPath;
import org.rpcrdma4j.nfs.client.NfsVolume;
import org.rpcrdma4j.nfs.protocol.Access;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.protocol.SetAttributes;
import org.rpcrdma4j.nfs.protocol.Status;

/** Finds or makes the file that is to be opened. NFS version 3 has no OPEN: permission is asked for, so that it is refused here, not later. */
final class FileOpening {

    private static final int MAX_LINKS = 40;

    private final NfsFilePath path;
    private final NfsVolume volume;
    private final OpenMode mode;
    private final SetAttributes newFile;
    private boolean created;

    private FileOpening(NfsFilePath path, OpenMode mode, int permissions) {
        this.path = path;
        this.mode = mode;
        volume = path.getFileSystem().volume();
        newFile = SetAttributes.NONE.withMode(permissions);
    }

    static NfsFileChannel open(NfsFilePath path, OpenMode mode, int permissions) throws IOException {
        return Failures.about(path, () -> new FileOpening(path, mode, permissions).open());
    }

    private NfsFileChannel open() throws IOException {
        NfsFile file = mode.createNew() ? create(path.location()) : findOrCreate();
        if (file.attributes().isSymbolicLink()) {
            throw new FileSystemException(path.toString(), null, "is a symbolic link, which is not to be followed");
        }
        if (file.attributes().isDirectory()) {
            throw new FileSystemException(path.toString(), null, "is a directory");
        }
        if (!file.attributes().isRegular()) {
            throw new FileSystemException(path.toString(), null, "is not a regular file");
        }
        if (!created) {
            int wanted = (mode.read() ? Access.READ : 0) | (mode.write() ? Access.MODIFY | Access.EXTEND : 0);
            NfsFileSystemProvider.requireAccess(volume, path, file, wanted);
        }
        if (mode.truncate() && file.attributes().size() != 0) {
            file = new NfsFile(file.path(), file.handle(), volume.setAttributes(file, SetAttributes.NONE.withSize(0)));
        }
        return path.getFileSystem().register(new NfsFileChannel(path, volume, file, mode));
    }

    private NfsFile create(NfsPath at) throws IOException {
        NfsFile file = volume.createFile(at, CreateMode.NEW, newFile);
        created = true;
        return file;
    }

    /** What exists keeps its attributes, so it is looked for first. A link that leads nowhere is where the file is made that it leads to. */
    private NfsFile findOrCreate() throws IOException {
        NfsPath at = path.location();
        for (int links = 0; ; ) {
            try {
                return volume.file(at, mode.follow());
            } catch (NfsException e) {
                if (!Failures.is(e, Status.NOENT) || !mode.create()) {
                    throw e;
                }
            }
            try {
                return create(at);
            } catch (NfsException e) {
                if (!Failures.is(e, Status.EXIST) || ++links > MAX_LINKS) {
                    throw e;
                }
            }
            at = whereItLeads(at);
        }
    }

    private NfsPath whereItLeads(NfsPath at) throws IOException {
        NfsPath parent = at.parent();
        try {
            if (parent == null || !volume.attributes(at, false).isSymbolicLink()) {
                return at;
            }
            PathBytes target = volume.readLink(at);
            NfsPath names = NfsPath.parse(target.bytes());
            return target.length() > 0 && target.byteAt(0) == '/' ? names : parent.resolve(names);
        } catch (NfsException e) {
            if (Failures.is(e, Status.NOENT)) {
                return at;
            }
            throw e;
        } catch (IllegalArgumentException e) {
            throw new FileSystemException(path.toString(), null, "a symbolic link makes no sense: " + e.getMessage());
        }
    }
}
