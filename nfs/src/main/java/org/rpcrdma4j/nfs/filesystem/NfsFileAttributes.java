// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.filesystem;

import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.UserPrincipal;
import java.util.Set;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.Time;

/**
 * A file's attributes as the server told them. NFS version 3 knows no time of creation: it is told to be that of the last modification.
 *
 * @param raw what the server told
 */
record NfsFileAttributes(Attributes raw) implements PosixFileAttributes {

    /** A file in its file system; equal for all hard links. */
    record Key(long fileSystem, long fileId) {}

    @Override
    public FileTime lastModifiedTime() {
        return time(raw.modifyTime());
    }

    @Override
    public FileTime lastAccessTime() {
        return time(raw.accessTime());
    }

    @Override
    public FileTime creationTime() {
        return lastModifiedTime();
    }

    FileTime changeTime() {
        return time(raw.changeTime());
    }

    private static FileTime time(Time time) {
        return FileTime.from(time.toInstant());
    }

    @Override
    public boolean isRegularFile() {
        return raw.isRegular();
    }

    @Override
    public boolean isDirectory() {
        return raw.isDirectory();
    }

    @Override
    public boolean isSymbolicLink() {
        return raw.isSymbolicLink();
    }

    @Override
    public boolean isOther() {
        return !isRegularFile() && !isDirectory() && !isSymbolicLink();
    }

    @Override
    public long size() {
        return raw.size();
    }

    @Override
    public Key fileKey() {
        return new Key(raw.fileSystem(), raw.fileId());
    }

    @Override
    public UserPrincipal owner() {
        return NfsPrincipal.user(raw.uid());
    }

    @Override
    public GroupPrincipal group() {
        return NfsPrincipal.group(raw.gid());
    }

    @Override
    public Set<PosixFilePermission> permissions() {
        return FileMode.permissions(raw.mode());
    }
}
